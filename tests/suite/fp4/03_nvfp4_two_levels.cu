// NVFP4 with its two levels of scales in two launches: the largest magnitude of the tensor by atomicMax on the bits of
// floats, then blocks of sixteen with E4M3 scales. Four lanes share a block.
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void tensor_amax(const __half* x, int n, unsigned* amax) {
  float m = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) m = fmaxf(m, fabsf(__half2float(x[i])));
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_down_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) atomicMax(amax, __float_as_uint(m));
}

__global__ void quantize(const __half* x, int n, const unsigned* amax, uint16_t* codes, uint8_t* scales) {
  const float global = 448.f * 6.f / __uint_as_float(*amax);
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i >= n) return;
  const unsigned lanes = __activemask();
  uint2 raw = *reinterpret_cast<const uint2*>(x + i);
  float2 a = __half22float2(*reinterpret_cast<__half2*>(&raw.x)), b = __half22float2(*reinterpret_cast<__half2*>(&raw.y));
  float m = fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(b.x), fabsf(b.y)));
  m = fmaxf(m, __shfl_xor_sync(lanes, m, 1, 4));
  m = fmaxf(m, __shfl_xor_sync(lanes, m, 2, 4));
  __nv_fp8_e4m3 scale(global * (m / 6.f));
  const float s = float(scale), r = s == 0.f ? 0.f : global / s;
  uint32_t lo = __nv_cvt_float2_to_fp4x2(make_float2(a.x * r, a.y * r), __NV_E2M1, cudaRoundNearest);
  uint32_t hi = __nv_cvt_float2_to_fp4x2(make_float2(b.x * r, b.y * r), __NV_E2M1, cudaRoundNearest);
  codes[i / 4] = uint16_t(lo | hi << 8);
  if (i % 16 == 0) scales[i / 16] = scale.__x;
}

int main() {
  const int n = 16 * 500;
  std::vector<__half> x(n);
  for (int i = 0; i < n; i++) x[i] = __float2half(std::sin(i * 0.77f) * std::exp2(float(i / 16 % 12) - 8));
  __half* dx;
  unsigned* amax;
  uint16_t* dq;
  uint8_t* ds;
  cudaMalloc(&dx, n * 2), cudaMalloc(&amax, 4), cudaMalloc(&dq, n / 2), cudaMalloc(&ds, n / 16);
  cudaMemcpy(dx, x.data(), n * 2, cudaMemcpyHostToDevice);
  cudaMemset(amax, 0, 4);
  tensor_amax<<<5, 96>>>(dx, n, amax);
  quantize<<<(n / 4 + 127) / 128, 128>>>(dx, n, amax, dq, ds);
  std::vector<uint8_t> q(n / 2), sc(n / 16);
  if (cudaMemcpy(q.data(), dq, n / 2, cudaMemcpyDeviceToHost)) return 2;
  cudaMemcpy(sc.data(), ds, n / 16, cudaMemcpyDeviceToHost);
  float top = 0;
  for (auto h : x) top = std::fmax(top, std::fabs(__half2float(h)));
  const float global = 448.f * 6.f / top;
  double worst = 0;
  for (int b = 0; b < n / 16; b++) {
    float m = 0;
    for (int i = 0; i < 16; i++) m = std::fmax(m, std::fabs(__half2float(x[b * 16 + i])));
    __nv_fp8_e4m3 want(global * (m / 6.f)), got;
    got.__x = sc[b];
    if (want.__x != got.__x) return printf("scale %d: %g, expected %g\n", b, float(got), float(want)), 1;
    const float s = float(got), r = global / s;
    for (int i = 0; i < 16; i++) {
      float v = __half2float(x[b * 16 + i]);
      int code = q[(b * 16 + i) / 2] >> (i % 2 * 4) & 15;
      if (code != __nv_cvt_float_to_fp4(v * r, __NV_E2M1, cudaRoundNearest))
        return printf("element %d: code %d for %g\n", b * 16 + i, code, v * r), 1;
      __nv_fp4_e2m1 f;
      f.__x = code;
      worst = std::fmax(worst, std::fabs(float(f) * s / global - v) / m);
    }
  }
  // Half a step of E2M1 is a sixth of its largest value; the scale adds 2^-4.
  if (!(worst < 1 / 6. + 1 / 16.)) return printf("relative error %g\n", worst), 1;
  printf("%d NVFP4 blocks: exact, worst error %.3f of a block's largest\n", n / 16, worst);
}
