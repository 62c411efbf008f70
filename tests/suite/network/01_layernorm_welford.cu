// LayerNorm with Welford's method merged across lanes and warps, bf16 in and out, f32 inside. The result is rounded to
// bf16: half an ulp of 2^-8, and a little for the statistics.
#include <cuda_bf16.h>
#include <cmath>
#include <cstdio>
#include <vector>

struct Moments {
  float mean, m2, n;
};

__device__ Moments merge(Moments a, Moments b) {
  float n = a.n + b.n;
  if (n == 0.f) return a;
  float delta = b.mean - a.mean;
  return {a.mean + delta * (b.n / n), a.m2 + b.m2 + delta * delta * (a.n * b.n / n), n};
}

__device__ Moments shuffled(Moments m, int d) {
  return {__shfl_xor_sync(~0u, m.mean, d), __shfl_xor_sync(~0u, m.m2, d), __shfl_xor_sync(~0u, m.n, d)};
}

__global__ void layernorm(const __nv_bfloat162* x, const float2* gamma, const float2* beta, __nv_bfloat162* y, int pairs, float eps) {
  __shared__ Moments warps[8];
  x += blockIdx.x * pairs;
  y += blockIdx.x * pairs;
  Moments m = {0, 0, 0};
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 v = __bfloat1622float2(x[i]);
    for (float f : {v.x, v.y}) {
      m.n += 1;
      float d = f - m.mean;
      m.mean += d / m.n;
      m.m2 += d * (f - m.mean);
    }
  }
  for (int d = 16; d; d >>= 1) m = merge(m, shuffled(m, d));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = m;
  __syncthreads();
  m = warps[0];
  for (int w = 1; w < blockDim.x / 32; w++) m = merge(m, warps[w]);
  float r = rsqrtf(m.m2 / m.n + eps);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 v = __bfloat1622float2(x[i]), g = gamma[i], b = beta[i];
    y[i] = __floats2bfloat162_rn((v.x - m.mean) * r * g.x + b.x, (v.y - m.mean) * r * g.y + b.y);
  }
}

int main() {
  const int rows = 6, cols = 500;
  std::vector<__nv_bfloat16> x(rows * cols), y(rows * cols);
  std::vector<float> gamma(cols), beta(cols);
  for (int i = 0; i < rows * cols; i++) x[i] = __float2bfloat16(std::sin(i * 0.9f) * (1 + i / cols) + 100 * (i / cols == 3));
  for (int i = 0; i < cols; i++) gamma[i] = 1 + i % 3 * 0.5f, beta[i] = i % 4 * 0.25f;
  __nv_bfloat162 *dx, *dy;
  float2 *dg, *db;
  cudaMalloc(&dx, x.size() * 2), cudaMalloc(&dy, x.size() * 2), cudaMalloc(&dg, cols * 4), cudaMalloc(&db, cols * 4);
  cudaMemcpy(dx, x.data(), x.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(dg, gamma.data(), cols * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(db, beta.data(), cols * 4, cudaMemcpyHostToDevice);
  layernorm<<<rows, 96>>>(dx, dg, db, dy, cols / 2, 1e-5f);
  if (cudaMemcpy(y.data(), dy, y.size() * 2, cudaMemcpyDeviceToHost)) return 2;
  for (int r = 0; r < rows; r++) {
    double mean = 0, var = 0;
    for (int c = 0; c < cols; c++) mean += __bfloat162float(x[r * cols + c]) / cols;
    for (int c = 0; c < cols; c++) var += std::pow(__bfloat162float(x[r * cols + c]) - mean, 2) / cols;
    for (int c = 0; c < cols; c++) {
      double want = (__bfloat162float(x[r * cols + c]) - mean) / std::sqrt(var + 1e-5) * gamma[c] + beta[c];
      double got = __bfloat162float(y[r * cols + c]);
      if (!(std::fabs(got - want) <= std::fabs(want) * 0x1.02p-8 + 2e-4)) return printf("(%d, %d): %g, expected %g\n", r, c, got, want), 1;
    }
  }
  puts("layernorm in bf16: within half an ulp");
}
