// Tridiagonal systems by parallel cyclic reduction in the warp: a lane for each equation, coefficients exchanged by
// shuffles; Thomas's algorithm on the host. Diagonally dominant, so both are accurate to a few ulp of the solution.
#include <cmath>
#include <cstdio>

const int N = 32, SYSTEMS = 40;

__global__ void pcr(const float4 *abcd, float *x)
{
    int lane = threadIdx.x, s = blockIdx.x * blockDim.y + threadIdx.y;
    float4 e = abcd[s * N + lane];
    float a = e.x, b = e.y, c = e.z, d = e.w;
    for (int step = 1; step < N; step *= 2) {
        float ua = __shfl_up_sync(~0u, a, step), ub = __shfl_up_sync(~0u, b, step), uc = __shfl_up_sync(~0u, c, step), ud = __shfl_up_sync(~0u, d, step);
        float la = __shfl_down_sync(~0u, a, step), lb = __shfl_down_sync(~0u, b, step), lc = __shfl_down_sync(~0u, c, step), ld = __shfl_down_sync(~0u, d, step);
        float k1 = lane >= step ? a / ub : 0.f, k2 = lane + step < N ? c / lb : 0.f;
        if (lane < step) ua = uc = ud = 0.f;
        if (lane + step >= N) la = lc = ld = 0.f;
        b = b - uc * k1 - la * k2;
        d = d - ud * k1 - ld * k2;
        a = -ua * k1;
        c = -lc * k2;
    }
    x[s * N + lane] = d / b;
}

int main()
{
    float4 *sys; float *x;
    cudaMallocManaged(&sys, SYSTEMS * N * sizeof(float4));
    cudaMallocManaged(&x, SYSTEMS * N * sizeof(float));
    for (int i = 0; i < SYSTEMS * N; i++) {
        float a = i % N ? sinf(i) : 0.f, c = i % N < N - 1 ? cosf(i) : 0.f;
        sys[i] = make_float4(a, 3.f + (i % 5), c, (float)(i % 23) - 11);
    }
    pcr<<<SYSTEMS / 4, dim3(32, 4)>>>(sys, x);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    for (int s = 0; s < SYSTEMS; s++) {
        double cp[N], dp[N], want[N];
        for (int i = 0; i < N; i++) {
            float4 e = sys[s * N + i];
            double m = i ? e.y - e.x * cp[i - 1] : e.y;
            cp[i] = e.z / m;
            dp[i] = (e.w - (i ? e.x * dp[i - 1] : 0)) / m;
        }
        for (int i = N - 1; i >= 0; i--) want[i] = dp[i] - (i < N - 1 ? cp[i] * want[i + 1] : 0);
        for (int i = 0; i < N; i++)
            if (!(fabs(x[s * N + i] - want[i]) < 2e-5)) { printf("system %d, x[%d] = %g, expected %g\n", s, i, x[s * N + i], want[i]); return 1; }
    }
    printf("%d tridiagonal systems by cyclic reduction: within 2e-5\n", SYSTEMS);
    return 0;
}
