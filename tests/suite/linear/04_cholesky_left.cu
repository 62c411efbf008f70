// Cholesky factorisation of one matrix by 8 x 8 blocks: factor the diagonal, solve the panel, update the rest; kernels
// follow each other on one stream. sqrt and divisions are correctly rounded, and the host does the same operations in the
// same order, so every bit must agree.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int B = 8;

__global__ void factor(float* a, int n, int k) {
  for (int j = 0; j < B; j++) {
    int c = k + j;
    if (threadIdx.x == j) a[c * n + c] = __fsqrt_rn(a[c * n + c]);
    __syncwarp(0xff);
    if (threadIdx.x > j) a[(k + threadIdx.x) * n + c] = __fdiv_rn(a[(k + threadIdx.x) * n + c], a[c * n + c]);
    __syncwarp(0xff);
    for (int i = j + 1; i <= threadIdx.x; i++) {
      float* e = &a[(k + threadIdx.x) * n + k + i];
      *e = __fmaf_rn(-a[(k + threadIdx.x) * n + c], a[(k + i) * n + c], *e);
    }
    __syncwarp(0xff);
  }
}

__global__ void panel(float* a, int n, int k) {
  int row = k + B + blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  for (int j = 0; j < B; j++) {
    float x = a[row * n + k + j];
    for (int i = 0; i < j; i++) x = __fmaf_rn(-a[row * n + k + i], a[(k + j) * n + k + i], x);
    a[row * n + k + j] = __fdiv_rn(x, a[(k + j) * n + k + j]);
  }
}

__global__ void update(float* a, int n, int k) {
  int row = k + B + blockIdx.y * blockDim.y + threadIdx.y, col = k + B + blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col > row) return;
  float x = a[row * n + col];
  for (int i = 0; i < B; i++) x = __fmaf_rn(-a[row * n + k + i], a[col * n + k + i], x);
  a[row * n + col] = x;
}

int main() {
  const int n = 48;
  std::vector<float> a(n * n), got(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = 1.f / (1 + std::abs(i - j)) + (i == j ? 2.f : 0.f);
  float* d;
  cudaMalloc(&d, n * n * 4);
  cudaMemcpy(d, a.data(), n * n * 4, cudaMemcpyHostToDevice);
  for (int k = 0; k < n; k += B) {
    factor<<<1, B>>>(d, n, k);
    int rest = n - k - B;
    if (rest == 0) break;
    panel<<<(rest + 15) / 16, 16>>>(d, n, k);
    update<<<dim3((rest + 7) / 8, (rest + 7) / 8), dim3(8, 8)>>>(d, n, k);
  }
  if (cudaError_t e = cudaMemcpy(got.data(), d, n * n * 4, cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int c = 0; c < n; c++) {  // right-looking, column by column: the same sums in the same order
    a[c * n + c] = std::sqrt(a[c * n + c]);
    for (int i = c + 1; i < n; i++) a[i * n + c] /= a[c * n + c];
    for (int i = c + 1; i < n; i++)
      for (int j = c + 1; j <= i; j++) a[i * n + j] = std::fma(-a[i * n + c], a[j * n + c], a[i * n + j]);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      if (got[i * n + j] != a[i * n + j]) return printf("L(%d, %d) = %.9g, expected %.9g\n", i, j, got[i * n + j], a[i * n + j]), 1;
  printf("Cholesky of %d x %d: every bit\n", n, n);
}
