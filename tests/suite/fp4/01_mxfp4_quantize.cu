// MXFP4 by the OCP specification: the scale of a block of 32 is 2^(floor(log2(amax)) - 2), codes to nearest even. A
// thread for each block; the host does the same in double, by trying all sixteen codes.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

__device__ uint8_t to_e2m1(float x) {
  float a = fabsf(x);
  // Below two everything is a multiple of a half, below four of one, then of two.
  float step = a < 2.f ? 2.f : a < 4.f ? 1.f : 0.5f;
  float r = rintf(a * step) / step;
  uint8_t code = r >= 6.f ? 7 : r < 2.f ? uint8_t(r * 2.f) : r < 4.f ? uint8_t(r + 2.f) : 6;
  return code | (signbit(x) ? 8 : 0);
}

__global__ void quantize(const float* __restrict__ x, uint8_t* __restrict__ codes, uint8_t* __restrict__ scales, int blocks) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= blocks) return;
  const float4* in = reinterpret_cast<const float4*>(x) + b * 8;
  float v[32], amax = 0.f;
  for (int i = 0; i < 8; i++) {
    float4 f = in[i];
    v[4 * i] = f.x, v[4 * i + 1] = f.y, v[4 * i + 2] = f.z, v[4 * i + 3] = f.w;
  }
  for (float f : v) amax = fmaxf(amax, fabsf(f));
  int e = max(int(__float_as_uint(amax) >> 23) - 2, 0);
  scales[b] = e;
  uint4 out;
  uint32_t* words = &out.x;
  for (int w = 0; w < 4; w++) {
    uint32_t word = 0;
    for (int i = 0; i < 8; i++) word |= uint32_t(to_e2m1(ldexpf(v[w * 8 + i], 127 - e))) << (4 * i);
    words[w] = word;
  }
  reinterpret_cast<uint4*>(codes)[b] = out;
}

int main() {
  const int blocks = 300, n = blocks * 32;
  std::vector<float> x(n);
  uint32_t s = 7;
  for (int i = 0; i < n; i++) {
    s = s * 1664525 + 1013904223;
    int b = i / 32;
    x[i] = b == 0 ? 0.f : b == 1 ? std::ldexp(float(i % 13) / 4 - 1.5f, -3) : std::ldexp(float(int(s)) * 0x1p-31f, b % 40 - 20);
  }
  float* dx;
  uint8_t *dq, *ds;
  cudaMalloc(&dx, n * 4), cudaMalloc(&dq, n / 2), cudaMalloc(&ds, blocks);
  cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
  quantize<<<(blocks + 63) / 64, 64>>>(dx, dq, ds, blocks);
  std::vector<uint8_t> q(n / 2), sc(blocks);
  if (cudaMemcpy(q.data(), dq, n / 2, cudaMemcpyDeviceToHost)) return 2;
  cudaMemcpy(sc.data(), ds, blocks, cudaMemcpyDeviceToHost);
  const double values[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int b = 0; b < blocks; b++) {
    double amax = 0;
    for (int i = 0; i < 32; i++) amax = std::fmax(amax, std::fabs(x[b * 32 + i]));
    int e = amax > 0 ? std::max(std::ilogb(amax) - 2 + 127, 0) : 0;
    if (sc[b] != e) return printf("scale of block %d: %d, expected %d\n", b, sc[b], e), 1;
    for (int i = 0; i < 32; i++) {
      double a = std::fabs(std::ldexp(double(x[b * 32 + i]), 127 - e));
      int best = 0;
      for (int c = 1; c < 8; c++) {
        double d = std::fabs(a - values[c]), old = std::fabs(a - values[best]);
        if (d < old || (d == old && c % 2 == 0)) best = c;
      }
      if (std::signbit(x[b * 32 + i])) best |= 8;
      int got = q[(b * 32 + i) / 2] >> (i % 2 * 4) & 15;
      if (got != best) return printf("block %d, element %d: code %d, expected %d\n", b, i, got, best), 1;
    }
  }
  printf("%d MXFP4 blocks: every code and scale exact\n", blocks);
}
