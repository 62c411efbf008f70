// LU with partial pivoting of many small matrices, a block each; the pivot is found by a warp with shuffles. Checked by
// reconstructing P A = L U: the residual of a backward stable method is below n * eps * |A| times the growth factor.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int N = 24;

__global__ void lu(double* matrices, int* pivots) {
  __shared__ double a[N][N + 1];
  __shared__ int pivot;
  double* mine = matrices + blockIdx.x * N * N;
  for (int i = threadIdx.x; i < N * N; i += blockDim.x) a[i / N][i % N] = mine[i];
  __syncthreads();
  for (int k = 0; k < N; k++) {
    if (threadIdx.x < 32) {
      double best = -1;
      int row = k;
      if (threadIdx.x >= k && threadIdx.x < N) best = fabs(a[threadIdx.x][k]), row = threadIdx.x;
      for (int d = 16; d; d >>= 1) {
        double other = __shfl_down_sync(~0u, best, d);
        int its = __shfl_down_sync(~0u, row, d);
        if (other > best) best = other, row = its;
      }
      if (threadIdx.x == 0) pivots[blockIdx.x * N + k] = pivot = row;
    }
    __syncthreads();
    if (pivot != k && threadIdx.x < N) {
      double t = a[k][threadIdx.x];
      a[k][threadIdx.x] = a[pivot][threadIdx.x];
      a[pivot][threadIdx.x] = t;
    }
    __syncthreads();
    if (threadIdx.x > k && threadIdx.x < N) a[threadIdx.x][k] /= a[k][k];
    __syncthreads();
    int m = N - k - 1;
    for (int e = threadIdx.x; e < m * m; e += blockDim.x) {
      int i = k + 1 + e / m, j = k + 1 + e % m;
      a[i][j] -= a[i][k] * a[k][j];
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < N * N; i += blockDim.x) mine[i] = a[i / N][i % N];
}

int main() {
  const int count = 5;
  std::vector<double> h(count * N * N), f(h.size());
  std::vector<int> p(count * N);
  for (size_t i = 0; i < h.size(); i++) h[i] = std::sin(i * 1.1) + (i % 5 == 0 ? 0 : 0.5 * std::cos(i * i * 0.01));
  double* d;
  int* dp;
  cudaMalloc(&d, h.size() * 8), cudaMalloc(&dp, p.size() * 4);
  cudaMemcpy(d, h.data(), h.size() * 8, cudaMemcpyHostToDevice);
  lu<<<count, 96>>>(d, dp);
  if (cudaMemcpy(f.data(), d, h.size() * 8, cudaMemcpyDeviceToHost)) return 2;
  cudaMemcpy(p.data(), dp, p.size() * 4, cudaMemcpyDeviceToHost);
  for (int m = 0; m < count; m++) {
    double* a = &h[m * N * N];
    const double* l = &f[m * N * N];
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) std::swap(a[k * N + j], a[p[m * N + k] * N + j]);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double sum = 0, size = 0;
        for (int k = 0; k <= i && k <= j; k++) {
          double term = (k == i ? 1 : l[i * N + k]) * l[k * N + j];
          sum += term, size += std::fabs(term);
          if (k < i && k == j && std::fabs(l[i * N + k]) > 1) return printf("matrix %d: |L(%d, %d)| > 1\n", m, i, k), 1;
        }
        if (!(std::fabs(sum - a[i * N + j]) <= 2 * N * 0x1p-53 * size))
          return printf("matrix %d, (%d, %d): %g, expected %g\n", m, i, j, sum, a[i * N + j]), 1;
      }
  }
  printf("%d LU factorisations with pivoting: P A = L U\n", count);
}
