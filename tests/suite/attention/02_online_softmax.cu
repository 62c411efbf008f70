// Softmax in one pass over the row: each lane keeps (maximum, sum) and pairs are combined, in the warp too. With
// __expf, so the bound allows for ex2.approx: 2 ulp and the rounding of the argument times log2(e).
#include <cuda_runtime.h>
#include <math_constants.h>
#include <cmath>
#include <iostream>
#include <vector>

struct __align__(8) MD { float m, d; };

__device__ __forceinline__ MD combine(MD a, MD b)
{
    bool a_bigger = a.m > b.m;
    MD bigger = a_bigger ? a : b;
    MD smaller = a_bigger ? b : a;
    bigger.d += smaller.d * __expf(smaller.m - bigger.m);
    return bigger;
}

template <int WARPS>
__global__ void online_softmax(const float *x, float *y, int rows, int n)
{
    int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    x += row * n;
    y += row * n;
    MD p = {-CUDART_MAX_NORMAL_F, 0.f};
    for (int i = threadIdx.x; i < n; i += 32) p = combine(p, MD{x[i], 1.f});
    for (int step = 16; step; step /= 2) {
        MD q;
        q.m = __shfl_xor_sync(~0u, p.m, step);
        q.d = __shfl_xor_sync(~0u, p.d, step);
        p = combine(p, q);
    }
    float inverse = __fdividef(1.f, p.d);
    for (int i = threadIdx.x; i < n; i += 32) y[i] = __expf(x[i] - p.m) * inverse;
}

int main()
{
    const int rows = 13, n = 300;
    std::vector<float> x(rows * n), y(rows * n);
    unsigned s = 17;
    for (float &v : x) { s = s * 1664525 + 1013904223; v = float(s >> 8) / (1 << 21) - 4; }
    float *dx, *dy;
    cudaMalloc(&dx, x.size() * sizeof(float));
    cudaMalloc(&dy, x.size() * sizeof(float));
    cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    online_softmax<4><<<(rows + 3) / 4, dim3(32, 4)>>>(dx, dy, rows, n);
    if (cudaMemcpy(y.data(), dy, y.size() * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    for (int r = 0; r < rows; r++) {
        double m = -1e30, d = 0, total = 0;
        for (int i = 0; i < n; i++) m = std::max(m, double(x[r * n + i]));
        for (int i = 0; i < n; i++) d += std::exp(x[r * n + i] - m);
        for (int i = 0; i < n; i++) {
            double want = std::exp(x[r * n + i] - m) / d;
            total += y[r * n + i];
            if (!(std::abs(y[r * n + i] - want) <= want * 1e-5)) {
                std::cout << "y[" << r << "][" << i << "] = " << y[r * n + i] << ", expected " << want << std::endl;
                return 1;
            }
        }
        if (!(std::abs(total - 1) < 1e-5)) { std::cout << "row " << r << " sums to " << total << std::endl; return 1; }
    }
    std::cout << "online softmax: within 1e-5" << std::endl;
    return 0;
}
