// A fused bias + GELU (tanh form, and erf) with vectorised half2 arithmetic, and SwiGLU; activations of a transformer.
#include <cuda_fp16.h>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

enum class Act { GeluTanh, GeluErf, Silu };

template <Act A>
__device__ __forceinline__ float activate(float x) {
  if constexpr (A == Act::GeluTanh) return 0.5f * x * (1.f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  if constexpr (A == Act::GeluErf) return x * 0.5f * (1.f + erff(x * 0.7071067812f));
  if constexpr (A == Act::Silu) return x / (1.f + __expf(-x));
}

template <Act A, bool Gated>
__global__ void activation(const __half2* x, const __half2* bias, __half2* y, int pairs) {
  const int row = blockIdx.x;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 v = __half22float2(__hadd2(x[row * pairs * (Gated ? 2 : 1) + i], bias[i]));
    float2 r = {activate<A>(v.x), activate<A>(v.y)};
    if constexpr (Gated) {
      float2 g = __half22float2(x[row * pairs * 2 + pairs + i]);
      r.x *= g.x, r.y *= g.y;
    }
    y[row * pairs + i] = __float22half2_rn(r);
  }
}

template <Act A, bool Gated>
int check(const char* name, std::function<double(double)> f) {
  const int rows = 5, cols = 130, width = Gated ? 2 * cols : cols;
  std::vector<__half> x(rows * width), b(cols), y(rows * cols);
  for (int i = 0; i < rows * width; i++) x[i] = __float2half(float(i % 257 - 128) / 16);
  for (int i = 0; i < cols; i++) b[i] = __float2half(float(i % 7 - 3) / 8);
  __half2 *dx, *db, *dy;
  cudaMalloc(&dx, x.size() * 2), cudaMalloc(&db, b.size() * 2), cudaMalloc(&dy, y.size() * 2);
  cudaMemcpy(dx, x.data(), x.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  activation<A, Gated><<<rows, 64>>>(dx, db, dy, cols / 2);
  if (cudaMemcpy(y.data(), dy, y.size() * 2, cudaMemcpyDeviceToHost)) return 2;
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) {
      double v = __half2float(x[r * width + c]) + __half2float(b[c]);  // exact in half
      double want = f(v) * (Gated ? __half2float(x[r * width + cols + c]) : 1);
      double got = __half2float(y[r * cols + c]);
      // Half an ulp of half; near zero the f32 functions cancel, to about 2^-21.
      if (!(std::fabs(got - want) <= std::fabs(want) * 0x1.01p-11 + 0x1p-20 * (Gated ? 8 : 1) + 0x1p-25))
        return printf("%s (%d, %d): f(%g) = %g, expected %g\n", name, r, c, v, got, want), 1;
    }
  cudaFree(dx), cudaFree(db), cudaFree(dy);
  return 0;
}

int main() {
  auto tanh_form = [](double x) { return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); };
  auto erf_form = [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); };
  auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  if (int e = check<Act::GeluTanh, false>("gelu tanh", tanh_form)) return e;
  if (int e = check<Act::GeluErf, false>("gelu erf", erf_form)) return e;
  if (int e = check<Act::Silu, true>("swiglu", silu)) return e;
  puts("gelu, both forms, and swiglu in half: within half an ulp");
}
