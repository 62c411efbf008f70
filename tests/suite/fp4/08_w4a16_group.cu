// Weights in 4-bit integers with a scale and a zero point for each group of 64 (AWQ's scheme), activations in half2.
// lop3 puts two nibbles at once behind the exponent of 1024, so that one subtraction makes them halves.
#include <cuda_fp16.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int GROUP = 64;

__device__ __forceinline__ void unpack(uint32_t q, __half2 (&out)[4]) {
  // Nibbles lie as 0 2 4 6 1 3 5 7, so a mask of 0x000f000f finds neighbours.
  uint32_t h[4];
  asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(h[0]) : "r"(q));
  asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(h[1]) : "r"(q >> 4));
  asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(h[2]) : "r"(q >> 8));
  asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(h[3]) : "r"(q >> 12));
  const __half2 magic = __float2half2_rn(1024.f);
  for (int i = 0; i < 4; i++) out[i] = __hsub2(*reinterpret_cast<__half2*>(&h[i]), magic);
}

__global__ void linear(const uint32_t* w, const __half2* zs, const __half* x, float* y, int k) {
  // zs: (zero, scale) of each group
  const int row = blockIdx.x, words = k / 8;
  float sum = 0;
  for (int i = threadIdx.x; i < words; i += 32) {
    __half2 h[4];
    unpack(w[row * words + i], h);
    const __half2 g = zs[row * (k / GROUP) + i * 8 / GROUP];
    const __half2 zero = __half2half2(__low2half(g)), scale = __half2half2(__high2half(g));
    const __half2* xs = reinterpret_cast<const __half2*>(x) + i * 4;
    for (int j = 0; j < 4; j++) {
      float2 p = __half22float2(__hmul2(__hsub2(h[j], zero), scale)), q = __half22float2(xs[j]);
      sum += p.x * q.x + p.y * q.y;
    }
  }
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[row] = sum;
}

int main() {
  const int m = 20, k = 512;
  std::vector<uint32_t> w(m * k / 8);
  std::vector<int> codes(m * k);
  std::vector<__half2> zs(m * k / GROUP);
  std::vector<__half> x(k);
  for (int i = 0; i < m * k; i++) {
    codes[i] = (i * 2654435761u) >> 28;
    const int place[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    w[i / 8] |= uint32_t(codes[i]) << (4 * place[i % 8]);
  }
  for (size_t i = 0; i < zs.size(); i++) zs[i] = __floats2half2_rn(float(i % 16), std::exp2(-float(i % 5)));
  for (int i = 0; i < k; i++) x[i] = __float2half(float(i % 31 - 15) / 8);
  uint32_t* dw;
  __half2* dz;
  __half* dx;
  float* dy;
  cudaMalloc(&dw, w.size() * 4), cudaMalloc(&dz, zs.size() * 4), cudaMalloc(&dx, k * 2), cudaMalloc(&dy, m * 4);
  cudaMemcpy(dw, w.data(), w.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dz, zs.data(), zs.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), k * 2, cudaMemcpyHostToDevice);
  linear<<<m, 32>>>(dw, dz, dx, dy, k);
  std::vector<float> y(m);
  if (cudaMemcpy(y.data(), dy, m * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int r = 0; r < m; r++) {
    float want = 0;  // multiples of 2^-7 below 2^16: exact
    for (int i = 0; i < k; i++) {
      __half2 g = zs[(r * k + i) / GROUP];
      want += (codes[r * k + i] - __low2float(g)) * __high2float(g) * __half2float(x[i]);
    }
    if (y[r] != want) return printf("y[%d] = %g, expected %g\n", r, y[r], want), 1;
  }
  printf("4-bit weights, 16-bit activations, %d x %d: exact\n", m, k);
}
