// Two kernels of a language model: RMSNorm in half with 128-bit loads, and rotary embeddings applied in place.
#include <cuda_fp16.h>
#include <cmath>
#include <cstdio>
#include <vector>

template <int DIM>
__global__ void rmsnorm(const uint4* x, const uint4* weight, uint4* out, float eps) {
  static_assert(DIM % 256 == 0);
  constexpr int PER = DIM / 256;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  uint4 raw[PER];
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < PER; i++) {
    raw[i] = x[row * (DIM / 8) + i * 32 + threadIdx.x];
    const __half2* h = reinterpret_cast<const __half2*>(&raw[i]);
    for (int j = 0; j < 4; j++) {
      float2 f = __half22float2(h[j]);
      sum = fmaf(f.x, f.x, fmaf(f.y, f.y, sum));
    }
  }
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  const float scale = rsqrtf(sum / DIM + eps);
  for (int i = 0; i < PER; i++) {
    uint4 w = weight[i * 32 + threadIdx.x];
    __half2* h = reinterpret_cast<__half2*>(&raw[i]);
    const __half2* g = reinterpret_cast<const __half2*>(&w);
    for (int j = 0; j < 4; j++) {
      float2 f = __half22float2(h[j]);
      h[j] = __hmul2(__floats2half2_rn(f.x * scale, f.y * scale), g[j]);
    }
    out[row * (DIM / 8) + i * 32 + threadIdx.x] = raw[i];
  }
}

__global__ void rope(__half* q, int dim, int start, float base) {
  const int position = start + blockIdx.x, half = dim / 2;
  __half* row = q + (blockIdx.x * gridDim.y + blockIdx.y) * dim;
  for (int i = threadIdx.x; i < half; i += blockDim.x) {
    float angle = position * powf(base, -2.f * i / dim), s, c;
    sincosf(angle, &s, &c);
    float a = __half2float(row[i]), b = __half2float(row[i + half]);
    row[i] = __float2half_rn(a * c - b * s);
    row[i + half] = __float2half_rn(b * c + a * s);
  }
}

int main() {
  constexpr int DIM = 512, ROWS = 8, HEAD = 64;
  std::vector<__half> x(ROWS * DIM), w(DIM), y(ROWS * DIM), z(ROWS * DIM);
  for (int i = 0; i < ROWS * DIM; i++) x[i] = __float2half(std::cos(i * 0.7f) * (1 + i / DIM));
  for (int i = 0; i < DIM; i++) w[i] = __float2half(0.5f + i % 8 * 0.125f);
  uint4 *dx, *dw, *dy;
  cudaMalloc(&dx, ROWS * DIM * 2), cudaMalloc(&dw, DIM * 2), cudaMalloc(&dy, ROWS * DIM * 2);
  cudaMemcpy(dx, x.data(), ROWS * DIM * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(dw, w.data(), DIM * 2, cudaMemcpyHostToDevice);
  rmsnorm<DIM><<<ROWS / 2, dim3(32, 2)>>>(dx, dw, dy, 1e-6f);
  cudaMemcpy(y.data(), dy, ROWS * DIM * 2, cudaMemcpyDeviceToHost);
  rope<<<dim3(ROWS, DIM / HEAD), 32>>>(reinterpret_cast<__half*>(dy), HEAD, 1000, 10000.f);
  if (cudaMemcpy(z.data(), dy, ROWS * DIM * 2, cudaMemcpyDeviceToHost)) return 2;
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (int i = 0; i < DIM; i++) sum += std::pow(__half2float(x[r * DIM + i]), 2);
    for (int i = 0; i < DIM; i++) {
      double want = __half2float(x[r * DIM + i]) / std::sqrt(sum / DIM + 1e-6) * __half2float(w[i]);
      // rounded to half twice
      if (!(std::fabs(__half2float(y[r * DIM + i]) - want) <= std::fabs(want) * 0x1.04p-10 + 0x1p-24))
        return printf("norm (%d, %d): %g, expected %g\n", r, i, __half2float(y[r * DIM + i]), want), 1;
    }
    for (int i = 0; i < DIM; i++) {
      int head = i / HEAD, at = i % HEAD, pair = at % (HEAD / 2);
      double angle = (1000 + r) * std::pow(10000.0, -2.0 * pair / HEAD);
      double a = __half2float(y[r * DIM + head * HEAD + pair]), b = __half2float(y[r * DIM + head * HEAD + pair + HEAD / 2]);
      double want = at < HEAD / 2 ? a * std::cos(angle) - b * std::sin(angle) : b * std::cos(angle) + a * std::sin(angle);
      // powf is good to 4 ulp and the angle is up to 1007 radians: 1007 * 2^-21 in the angle
      if (!(std::fabs(__half2float(z[r * DIM + i]) - want) <= (std::fabs(a) + std::fabs(b)) * 0x1p-9))
        return printf("rope (%d, %d): %g, expected %g\n", r, i, __half2float(z[r * DIM + i]), want), 1;
    }
  }
  puts("rmsnorm and rope in half: within rounding");
}
