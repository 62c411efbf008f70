// Dot product in double with compensated (two-product, two-sum) arithmetic in each thread, so that a badly conditioned
// problem comes out right to the last bits. The host evaluates in __float128-like pairs the simple way: long double.
#include <cmath>
#include <cstdio>
#include <vector>

struct dd { double hi, lo; };

__device__ dd two_sum(double a, double b) {
  double s = __dadd_rn(a, b), bb = __dsub_rn(s, a);
  return {s, __dadd_rn(__dsub_rn(a, __dsub_rn(s, bb)), __dsub_rn(b, bb))};
}
__device__ dd add(dd x, dd y) {
  dd s = two_sum(x.hi, y.hi);
  return two_sum(s.hi, s.lo + x.lo + y.lo);
}

__global__ void dot(const double* x, const double* y, int n, double* hi, double* lo) {
  __shared__ dd partial[64];
  dd acc{0, 0};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    double p = __dmul_rn(x[i], y[i]);
    acc = add(acc, dd{p, __fma_rn(x[i], y[i], -p)});
  }
  partial[threadIdx.x] = acc;
  __syncthreads();
  for (int step = 32; step > 0; step >>= 1) {
    if (threadIdx.x < step) partial[threadIdx.x] = add(partial[threadIdx.x], partial[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *hi = partial[0].hi, *lo = partial[0].lo;
}

int main() {
  // Terms of size 2^30 cancel in pairs; what is left is about 1.
  const int n = 2000;
  std::vector<double> x(n), y(n);
  long double want = 0;
  for (int i = 0; i < n; i += 2) {
    double big = std::ldexp(1 + i / 8192.0, 30);
    x[i] = big, y[i] = 1 + i * 0x1p-20;
    x[i + 1] = -big, y[i + 1] = y[i] - 0x1p-40;
    want += (long double)big * 0x1p-40L;
  }
  double *dx, *dy, *out, got[2];
  cudaMalloc(&dx, n * 8), cudaMalloc(&dy, n * 8), cudaMalloc(&out, 16);
  cudaMemcpy(dx, x.data(), n * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), n * 8, cudaMemcpyHostToDevice);
  dot<<<1, 64>>>(dx, dy, n, out, out + 1);
  if (cudaMemcpy(got, out, 16, cudaMemcpyDeviceToHost)) return 2;
  // 106 bits against terms of 2^30: an absolute error far below 2^-60.
  if (std::fabs((double)((long double)got[0] + got[1] - want)) > 0x1p-50) {
    std::printf("%.20g + %g, expected %.20Lg\n", got[0], got[1], want);
    return 1;
  }
  std::printf("compensated dot product: %.17g\n", got[0]);
}
