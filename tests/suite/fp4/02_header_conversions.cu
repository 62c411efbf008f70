// Every conversion that cuda_fp4.h, cuda_fp6.h and cuda_fp8.h offer in both directions, on the device against the same
// header on the host. With a GPU that has the instruction the device code is that instruction, elsewhere it is not.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cstdio>
#include <cstring>
#include <vector>

struct Out {
  unsigned char e2m1, e2m1x2, e3m2, e2m3, e4m3, e5m2, e8m0;
  unsigned short e4m3x2;
  __half from_e2m1, from_e4m3, from_e5m2, from_e3m2;
  float round_trip;
};

__host__ __device__ Out convert(float x, float y) {
  Out o;
  memset(&o, 0, sizeof o);
  o.e2m1 = __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest);
  o.e2m1x2 = __nv_cvt_float2_to_fp4x2(make_float2(x, y), __NV_E2M1, cudaRoundNearest);
  o.e3m2 = __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest);
  o.e2m3 = __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest);
  o.e4m3 = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
  o.e5m2 = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
  o.e8m0 = __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
  o.e4m3x2 = __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E4M3);
  o.from_e2m1 = __half(__nv_cvt_fp4_to_halfraw(o.e2m1, __NV_E2M1));
  o.from_e4m3 = __half(__nv_cvt_fp8_to_halfraw(o.e4m3, __NV_E4M3));
  o.from_e5m2 = __half(__nv_cvt_fp8_to_halfraw(o.e5m2, __NV_E5M2));
  o.from_e3m2 = __half(__nv_cvt_fp6_to_halfraw(o.e3m2, __NV_E3M2));
  o.round_trip = float(__nv_fp8_e5m2(__half2float(o.from_e2m1) * 0.75f));
  return o;
}

__global__ void on_device(const float* x, Out* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = convert(x[i], x[n - 1 - i]);
}

int main() {
  std::vector<float> x;
  for (int i = 0; i < 2000; i++) x.push_back(float(i - 1000) / 64);       // ties of every format among them
  for (int e = -40; e < 40; e++) x.push_back(1.37f * std::exp2(float(e))), x.push_back(-std::exp2(float(e)));
  for (float f : {0.f, -0.f, 448.f, 449.f, 464.f, 480.f, 57344.f, 61440.f, 7.f, 28.f, 30.f, 1e30f, 3e38f, 1e-45f, 5.877e-39f}) x.push_back(f), x.push_back(-f);
  const int n = int(x.size());
  float* dx;
  Out* dout;
  cudaMalloc(&dx, n * sizeof(float)), cudaMalloc(&dout, n * sizeof(Out));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  on_device<<<(n + 127) / 128, 128>>>(dx, dout, n);
  std::vector<Out> got(n);
  if (cudaMemcpy(got.data(), dout, n * sizeof(Out), cudaMemcpyDeviceToHost)) return 2;
  for (int i = 0; i < n; i++) {
    Out want = convert(x[i], x[n - 1 - i]);
    if (memcmp(&got[i], &want, sizeof want) == 0) continue;
    for (size_t b = 0; b < sizeof want; b++)
      if (((unsigned char*)&got[i])[b] != ((unsigned char*)&want)[b]) {
        printf("%.9g: byte %zu is %02x, expected %02x\n", x[i], b, ((unsigned char*)&got[i])[b], ((unsigned char*)&want)[b]);
        return 1;
      }
  }
  printf("conversions of %d floats to and from FP4, FP6, FP8: exact\n", n);
}
