// Options: the closed formula with normcdff and with the polynomial of the old SDK sample, and a Monte Carlo price with
// normals by Box and Muller. Bounds: the formula's terms are at most S, so 20 roundings of 2^-24 * S; Monte Carlo to five
// standard errors.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct Option { float S, X, T, call, put; };
const float R = 0.02f, V = 0.30f;

__device__ inline float cndGPU(float d)
{
    const float K = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float cnd = 0.39894228040143267794f * __expf(-0.5f * d * d) *
        (K * (0.31938153f + K * (-0.356563782f + K * (1.781477937f + K * (-1.821255978f + K * 1.330274429f)))));
    return d > 0 ? 1.0f - cnd : cnd;
}

__global__ void BlackScholesGPU(Option *o, int n, int exact)
{
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float sqrtT = __frsqrt_rn(1.0f / o[i].T);
        float d1 = (logf(o[i].S / o[i].X) + (R + 0.5f * V * V) * o[i].T) / (V * sqrtT);
        float d2 = d1 - V * sqrtT;
        float c1 = exact ? normcdff(d1) : cndGPU(d1), c2 = exact ? normcdff(d2) : cndGPU(d2);
        float e = expf(-R * o[i].T);
        o[i].call = o[i].S * c1 - o[i].X * e * c2;
        o[i].put = o[i].X * e * (1.0f - c2) - o[i].S * (1.0f - c1);
    }
}

__global__ void monte_carlo(float S, float X, float T, int paths, double *sums)
{
    unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
    double sum = 0, squares = 0;
    for (int i = 0; i < paths; i++) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        float u1 = ((s >> 8) + 1) * 0x1p-24f;
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        float sine, cosine;
        sincospif(2 * ((s >> 8) * 0x1p-24f), &sine, &cosine);
        float radius = sqrtf(-2 * logf(u1));
        for (int j = 0; j < 2; j++) {
            float z = radius * (j ? sine : cosine);
            float end = S * expf((R - 0.5f * V * V) * T + V * sqrtf(T) * z);
            float pay = fmaxf(end - X, 0.f) * expf(-R * T);
            sum += pay;
            squares += (double)pay * pay;
        }
    }
    atomicAdd(sums, sum);
    atomicAdd(sums + 1, squares);
}

static double cnd(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

int main()
{
    const int n = 600;
    Option *o;
    double *sums;
    cudaMallocManaged(&o, n * sizeof(Option));
    cudaMallocManaged(&sums, 16);
    srand(5347);
    for (int exact = 0; exact < 2; exact++) {
        for (int i = 0; i < n; i++) {
            o[i].S = 5 + 25.f * rand() / RAND_MAX; o[i].X = 1 + 99.f * rand() / RAND_MAX; o[i].T = 0.25f + 9.75f * rand() / RAND_MAX;
        }
        BlackScholesGPU<<<3, 128>>>(o, n, exact);
        if (cudaDeviceSynchronize() != cudaSuccess) return 2;
        for (int i = 0; i < n; i++) {
            double S = o[i].S, X = o[i].X, T = o[i].T, d1 = (log(S / X) + (R + 0.5 * V * V) * T) / (V * sqrt(T)), d2 = d1 - V * sqrt(T);
            double call = S * cnd(d1) - X * exp(-R * T) * cnd(d2), put = X * exp(-R * T) * cnd(-d2) - S * cnd(-d1);
            double bound = (exact ? 40 * 0x1p-24 : 1e-6) * (S + X);      /* the polynomial is good to 7.5e-8 of each term */
            if (!(fabs(o[i].call - call) < bound) || !(fabs(o[i].put - put) < bound)) {
                printf("option %d: call %g, put %g, expected %g, %g\n", i, o[i].call, o[i].put, call, put);
                return 1;
            }
        }
    }
    sums[0] = sums[1] = 0;
    const int blocks = 8, threads = 64, paths = 16, total = blocks * threads * paths * 2;
    monte_carlo<<<blocks, threads>>>(20, 21, 1, paths, sums);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    double mean = sums[0] / total, error = sqrt((sums[1] / total - mean * mean) / total);
    double d1 = (log(20 / 21.) + (R + 0.5 * V * V)) / V, want = 20 * cnd(d1) - 21 * exp(-R) * cnd(d1 - V);
    if (!(fabs(mean - want) < 5 * error)) { printf("Monte Carlo %g +- %g, expected %g\n", mean, error, want); return 1; }
    printf("options: formula within rounding, Monte Carlo %.3f for %.3f\n", mean, want);
    return 0;
}
