// Rank-k update in double on the FP64 tensor cores (mma.m8n8k4): the lower triangle of A * A^T. Tiles above the
// diagonal leave at once.
// idiom: early return before a barrier-free tail
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void syrk_lower(const double* a, double* c, int n, int k) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if (bj > bi) return;
  const int lane = threadIdx.x;
  double c0 = 0, c1 = 0;
  for (int k0 = 0; k0 < k; k0 += 4) {
    double x = a[(bi * 8 + lane / 4) * k + k0 + lane % 4];
    double y = a[(bj * 8 + lane / 4) * k + k0 + lane % 4];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c0), "+d"(c1) : "d"(x), "d"(y));
  }
  int row = bi * 8 + lane / 4, col = bj * 8 + lane % 4 * 2;
  if (col <= row) c[row * n + col] = c0;
  if (col + 1 <= row) c[row * n + col + 1] = c1;
}

int main() {
  const int n = 40, k = 52;
  std::vector<double> a(n * k), c(n * n, -7.0);
  for (int i = 0; i < n * k; i++) a[i] = std::sin(i);
  double *da, *dc;
  cudaMalloc(&da, sizeof(double) * n * k);
  cudaMalloc(&dc, sizeof(double) * n * n);
  cudaMemcpy(da, a.data(), sizeof(double) * n * k, cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), sizeof(double) * n * n, cudaMemcpyHostToDevice);
  syrk_lower<<<dim3(n / 8, n / 8), 32>>>(da, dc, n, k);
  if (cudaMemcpy(c.data(), dc, sizeof(double) * n * n, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double want = -7.0;
      if (j <= i) {
        want = 0;
        for (int l = 0; l < k; l++) want += a[i * k + l] * a[j * k + l];
      }
      // 52 terms of at most 1, rounded at each step in an order of the hardware's choice.
      if (!(std::fabs(c[i * n + j] - want) <= 52 * 52 * 0x1p-53)) {
        printf("C(%d, %d) = %.17g, expected %.17g\n", i, j, c[i * n + j], want);
        return 1;
      }
    }
  puts("syrk on f64 tensor cores: lower triangle right, upper untouched");
  return 0;
}
