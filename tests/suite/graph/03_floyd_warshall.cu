// All shortest paths by blocked Floyd-Warshall: the diagonal tile, its row and column, then the rest; viaddmin-like code
// for DPX (__viaddmin_s32).
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int T = 16, INF = 1 << 28;

__global__ void phase(int* d, int n, int k, int which) {
  __shared__ int a[T][T], b[T][T];
  int bi = blockIdx.y, bj = blockIdx.x;
  if (which == 0) bi = bj = k;
  if (which == 1) {
    if (blockIdx.x == k) return;
    if (blockIdx.y == 0) bi = k;
    else bi = blockIdx.x, bj = k;
  }
  if (which == 2 && (bi == k || bj == k)) return;
  int i = threadIdx.y, j = threadIdx.x;
  int* mine = &d[(bi * T + i) * n + bj * T + j];
  int best = *mine;
  a[i][j] = d[(bi * T + i) * n + k * T + j];
  b[i][j] = d[(k * T + i) * n + bj * T + j];
  __syncthreads();
  for (int m = 0; m < T; m++) {
    best = __viaddmin_s32(a[i][m], b[m][j], best);
    if (which < 2) {
      __syncthreads();
      if (bj == k) a[i][j] = best;
      if (bi == k) b[i][j] = best;
      __syncthreads();
    }
  }
  *mine = best;
}

int main() {
  const int n = 64, tiles = n / T;
  std::vector<int> d(n * n, INF), got(n * n);
  for (int i = 0; i < n; i++) {
    d[i * n + i] = 0;
    for (int e = 0; e < 4; e++) d[i * n + (i * 7 + e * e * 5 + 1) % (n - 3)] = 1 + (i * 13 + e * 29) % 50;
    d[i * n + i] = 0;
  }
  int* dd;
  cudaMalloc(&dd, n * n * 4);
  cudaMemcpy(dd, d.data(), n * n * 4, cudaMemcpyHostToDevice);
  for (int k = 0; k < tiles; k++) {
    phase<<<1, dim3(T, T)>>>(dd, n, k, 0);
    phase<<<dim3(tiles, 2), dim3(T, T)>>>(dd, n, k, 1);
    phase<<<dim3(tiles, tiles), dim3(T, T)>>>(dd, n, k, 2);
  }
  if (cudaMemcpy(got.data(), dd, n * n * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
  for (int i = 0; i < n * n; i++)
    if (got[i] != d[i]) return printf("from %d to %d: %d, expected %d\n", i / n, i % n, got[i], d[i]), 1;
  printf("shortest paths between %d vertices: exact\n", n);
}
