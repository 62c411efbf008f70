// archs: sm_100a sm_120a
// Attention over a cache held in NVFP4: keys and values are decoded by cvt.rn.f16x2.e2m1x2 as they are read. The CPU
// reads the same codes, so what is compared is the arithmetic, not the quantization.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int DIM = 64, KEYS = 80;

__device__ __forceinline__ void decode8(uint32_t codes, float scale, float (&x)[8]) {
  uint32_t h[4];
  asm("{ .reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, %4;\n"
      "cvt.rn.f16x2.e2m1x2 %0, a; cvt.rn.f16x2.e2m1x2 %1, b; cvt.rn.f16x2.e2m1x2 %2, c; cvt.rn.f16x2.e2m1x2 %3, d; }"
      : "=r"(h[0]), "=r"(h[1]), "=r"(h[2]), "=r"(h[3]) : "r"(codes));
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float2 f = __half22float2(*reinterpret_cast<__half2*>(&h[i]));
    x[2 * i] = f.x * scale;
    x[2 * i + 1] = f.y * scale;
  }
}

// Eight lanes hold a row of 64; four rows in a warp.
__global__ void attend(const float* q, const uint32_t* k, const __nv_fp8_e4m3* ks, const uint32_t* v, const __nv_fp8_e4m3* vs, float* out) {
  const int part = threadIdx.x % 8, row = threadIdx.x / 8;
  float query[8], acc[8] = {}, m = -INFINITY, l = 0;
  for (int i = 0; i < 8; i++) query[i] = q[part * 8 + i] * 0.125f;
  for (int j = row; j < KEYS; j += 4) {
    float x[8], s = 0;
    decode8(k[j * 8 + part], float(ks[j * 4 + part / 2]), x);
    for (int i = 0; i < 8; i++) s = fmaf(query[i], x[i], s);
    for (int d = 1; d < 8; d *= 2) s += __shfl_xor_sync(~0u, s, d, 8);
    float top = fmaxf(m, s), c = exp2f((m - top) * 1.44269504f), w = exp2f((s - top) * 1.44269504f);
    decode8(v[j * 8 + part], float(vs[j * 4 + part / 2]), x);
    for (int i = 0; i < 8; i++) acc[i] = acc[i] * c + w * x[i];
    l = l * c + w;
    m = top;
  }
  for (int d = 8; d < 32; d *= 2) {
    float m2 = __shfl_xor_sync(~0u, m, d), l2 = __shfl_xor_sync(~0u, l, d), top = fmaxf(m, m2);
    float a = exp2f((m - top) * 1.44269504f), b = exp2f((m2 - top) * 1.44269504f);
    l = l * a + l2 * b;
    for (float& x : acc) x = x * a + __shfl_xor_sync(~0u, x, d) * b;
    m = top;
  }
  if (row == 0)
    for (int i = 0; i < 8; i++) out[part * 8 + i] = acc[i] / l;
}

int main() {
  std::vector<float> q(DIM), out(DIM);
  std::vector<uint32_t> k(KEYS * 8), v(KEYS * 8);
  std::vector<__nv_fp8_e4m3> ks(KEYS * 4), vs(KEYS * 4);
  uint32_t s = 11;
  auto rnd = [&] { s ^= s << 13; s ^= s >> 17; return s ^= s << 5; };
  for (auto& x : q) x = int(rnd() % 201 - 100) / 64.f;
  for (auto& x : k) x = rnd();
  for (auto& x : v) x = rnd();
  for (auto& x : ks) x = __nv_fp8_e4m3(0.05f + rnd() % 100 / 400.f);
  for (auto& x : vs) x = __nv_fp8_e4m3(0.05f + rnd() % 100 / 400.f);
  float *dq, *dout;
  uint32_t *dk, *dv;
  __nv_fp8_e4m3 *dks, *dvs;
  cudaMalloc(&dq, DIM * 4), cudaMalloc(&dout, DIM * 4), cudaMalloc(&dk, k.size() * 4), cudaMalloc(&dv, v.size() * 4);
  cudaMalloc(&dks, ks.size()), cudaMalloc(&dvs, vs.size());
  cudaMemcpy(dq, q.data(), DIM * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dk, k.data(), k.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dv, v.data(), v.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dks, ks.data(), ks.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(dvs, vs.data(), vs.size(), cudaMemcpyHostToDevice);
  attend<<<1, 32>>>(dq, dk, dks, dv, dvs, dout);
  if (cudaMemcpy(out.data(), dout, DIM * 4, cudaMemcpyDeviceToHost)) return 2;
  const double table[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  auto value = [&](const std::vector<uint32_t>& x, const std::vector<__nv_fp8_e4m3>& sc, int j, int d) {
    int code = x[j * 8 + d / 8] >> (d % 8 * 4) & 15;
    return (code & 8 ? -1 : 1) * table[code & 7] * float(sc[j * 4 + d / 16]);
  };
  double sum = 0;
  std::vector<double> w(KEYS);
  for (int j = 0; j < KEYS; j++) {
    double dot = 0;
    for (int d = 0; d < DIM; d++) dot += q[d] * value(k, ks, j, d);
    sum += w[j] = std::exp(dot / 8);
  }
  for (int d = 0; d < DIM; d++) {
    double want = 0;
    for (int j = 0; j < KEYS; j++) want += w[j] / sum * value(v, vs, j, d);
    if (!(std::fabs(out[d] - want) < 1e-5)) return printf("out[%d] = %g, expected %g\n", d, out[d], want), 1;
  }
  printf("attention over %d keys in NVFP4: within 1e-5\n", KEYS);
}
