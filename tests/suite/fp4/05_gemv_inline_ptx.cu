// archs: sm_100a sm_120a
// NVFP4 matrix times vector as competitors write it: 16-byte loads with a cache hint, cvt.rn.f16x2.e2m1x2, products in
// half2 where they are exact, sums in f32, a warp for each row.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>
#include <cstdio>
#include <cmath>
#include <vector>

__device__ __forceinline__ uint4 load_once(const void* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

__device__ __forceinline__ float dot8(uint32_t a, uint32_t b) {
  uint32_t x[4], y[4];
  asm("{\n.reg .b8 a0, a1, a2, a3;\nmov.b32 {a0, a1, a2, a3}, %4;\n"
      "cvt.rn.f16x2.e2m1x2 %0, a0;\ncvt.rn.f16x2.e2m1x2 %1, a1;\ncvt.rn.f16x2.e2m1x2 %2, a2;\ncvt.rn.f16x2.e2m1x2 %3, a3;\n}"
      : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(a));
  asm("{\n.reg .b8 b0, b1, b2, b3;\nmov.b32 {b0, b1, b2, b3}, %4;\n"
      "cvt.rn.f16x2.e2m1x2 %0, b0;\ncvt.rn.f16x2.e2m1x2 %1, b1;\ncvt.rn.f16x2.e2m1x2 %2, b2;\ncvt.rn.f16x2.e2m1x2 %3, b3;\n}"
      : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(b));
  uint32_t sum = 0;  // at most 4 * 36 with quarters: exact in f16
#pragma unroll
  for (int i = 0; i < 4; i++) asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(sum) : "r"(x[i]), "r"(y[i]));
  float2 f = __half22float2(*reinterpret_cast<__half2*>(&sum));
  return f.x + f.y;
}

__global__ void gemv(const uint8_t* A, const uint8_t* sa, const uint8_t* b, const uint8_t* sb, __half* c, int k) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  float acc = 0;
  for (int i = lane * 32; i < k; i += 32 * 32) {
    uint4 av = load_once(A + (row * k + i) / 2), bv = load_once(b + i / 2);
    uint16_t s2 = *reinterpret_cast<const uint16_t*>(sa + (row * k + i) / 16);
    uint16_t t2 = *reinterpret_cast<const uint16_t*>(sb + i / 16);
    uint32_t s, t;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(s) : "h"(s2));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(t) : "h"(t2));
    float2 fs = __half22float2(*reinterpret_cast<__half2*>(&s)), ft = __half22float2(*reinterpret_cast<__half2*>(&t));
    acc = fmaf(fs.x * ft.x, dot8(av.x, bv.x) + dot8(av.y, bv.y), acc);
    acc = fmaf(fs.y * ft.y, dot8(av.z, bv.z) + dot8(av.w, bv.w), acc);
  }
#pragma unroll
  for (int o = 16; o; o >>= 1) acc += __shfl_xor_sync(~0u, acc, o);
  if (lane == 0) c[row] = __float2half(acc);
}

int main() {
  const int m = 48, k = 2048;
  std::vector<uint8_t> A(m * k / 2), sa(m * k / 16), b(k / 2), sb(k / 16);
  uint32_t s = 5;
  auto rnd = [&] { s ^= s << 13; s ^= s >> 17; return s ^= s << 5; };
  for (auto& x : A) x = rnd();
  for (auto& x : b) x = rnd();
  for (auto& x : sa) x = __nv_fp8_e4m3(float(rnd() % 16 + 1) / 16).__x;
  for (auto& x : sb) x = __nv_fp8_e4m3(float(rnd() % 16 + 1) / 16).__x;
  auto up = [](auto& v) {
    uint8_t* d;
    cudaMalloc(&d, v.size());
    cudaMemcpy(d, v.data(), v.size(), cudaMemcpyHostToDevice);
    return d;
  };
  __half* dc;
  cudaMalloc(&dc, m * 2);
  gemv<<<m / 4, dim3(32, 4)>>>(up(A), up(sa), up(b), up(sb), dc, k);
  std::vector<__half> c(m);
  if (cudaMemcpy(c.data(), dc, m * 2, cudaMemcpyDeviceToHost)) return 2;
  const float e2m1[16] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, 0, -.5f, -1, -1.5f, -2, -3, -4, -6};
  auto scale = [](uint8_t x) { __nv_fp8_e4m3 f; f.__x = x; return double(float(f)); };
  for (int r = 0; r < m; r++) {
    double want = 0;
    for (int i = 0; i < k; i++) {
      double x = e2m1[A[(r * k + i) / 2] >> (i % 2 * 4) & 15] * scale(sa[(r * k + i) / 16]);
      want += x * e2m1[b[i / 2] >> (i % 2 * 4) & 15] * scale(sb[i / 16]);
    }
    // Products are multiples of 2^-10 and sums below 2^14: exact in f32, so only the last rounding to f16 counts.
    if (__half2float(c[r]) != __half2float(__double2half(want)))
      return printf("row %d: %g, expected %g\n", r, __half2float(c[r]), want), 1;
  }
  printf("NVFP4 matrix times vector, %d x %d: exact\n", m, k);
}
