// FFT of a power of two in shared memory (Stockham, radix 2), forwards against the sum by definition in double, and back
// to where it began. Error of an FFT in float: about 2^-24 * log2(n) * |x|, here bounded by 1e-6 of the largest.
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

__device__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__global__ void fft(float2* data, int n, float sign) {
  extern __shared__ float2 buf[];
  float2 *a = buf, *b = buf + n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = data[blockIdx.x * n + i];
  __syncthreads();
  for (int half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
      int p = t / stride, q = t % stride;
      float2 w;
      sincospif(sign * p / half, &w.y, &w.x);
      float2 u = a[q + stride * p], v = a[q + stride * (p + half)];
      b[q + stride * 2 * p] = make_float2(u.x + v.x, u.y + v.y);
      b[q + stride * (2 * p + 1)] = cmul(make_float2(u.x - v.x, u.y - v.y), w);
    }
    __syncthreads();
    float2* s = a;
    a = b;
    b = s;
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[blockIdx.x * n + i] = a[i];
}

int main() {
  for (int n : {2, 8, 64, 512}) {
    const int batch = 2;
    std::vector<float2> x(n * batch), y(n * batch);
    for (int i = 0; i < n * batch; i++) x[i] = make_float2(std::sin(i * 1.3f) + i % 3, std::cos(i * 0.4f));
    float2* d;
    cudaMalloc(&d, x.size() * sizeof(float2));
    cudaMemcpy(d, x.data(), x.size() * sizeof(float2), cudaMemcpyHostToDevice);
    fft<<<batch, n < 128 ? (n < 2 ? 1 : n / 2) : 64, 2 * n * sizeof(float2)>>>(d, n, -1.f);
    if (cudaMemcpy(y.data(), d, y.size() * sizeof(float2), cudaMemcpyDeviceToHost)) return 2;
    for (int b = 0; b < batch; b++)
      for (int k = 0; k < n; k += n > 100 ? 7 : 1) {
        std::complex<double> want = 0;
        for (int i = 0; i < n; i++)
          want += std::complex<double>(x[b * n + i].x, x[b * n + i].y) * std::polar(1.0, -2 * M_PI * (long(i) * k % n) / n);
        if (!(std::abs(std::complex<double>(y[b * n + k].x, y[b * n + k].y) - want) < 4e-6 * n))
          return printf("n = %d, frequency %d: (%g, %g), expected (%g, %g)\n", n, k, y[b * n + k].x, y[b * n + k].y, want.real(), want.imag()), 1;
      }
    fft<<<batch, 32, 2 * n * sizeof(float2)>>>(d, n, 1.f);
    if (cudaMemcpy(y.data(), d, y.size() * sizeof(float2), cudaMemcpyDeviceToHost)) return 2;
    for (int i = 0; i < n * batch; i++)
      if (!(std::fabs(y[i].x / n - x[i].x) < 1e-5 && std::fabs(y[i].y / n - x[i].y) < 1e-5)) return printf("n = %d, element %d does not come back\n", n, i), 1;
    cudaFree(d);
  }
  puts("Fourier transforms of 2 to 512 points, there and back: within rounding");
}
