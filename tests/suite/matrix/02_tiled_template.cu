// Shared-memory tiles of a compile-time size; sizes that no tile divides. The host adds in the same
// order with fma, so the comparison is exact.
#include <cmath>
#include <cstdio>
#include <vector>

template <typename T, int TILE>
__global__ void __launch_bounds__(TILE * TILE) gemm(const T* __restrict__ a, const T* __restrict__ b,
                                                    T* __restrict__ c, int m, int n, int k) {
  __shared__ T as[TILE][TILE];
  __shared__ T bs[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  T acc{};
  for (int k0 = 0; k0 < k; k0 += TILE) {
    as[ty][tx] = (row < m && k0 + tx < k) ? a[row * k + k0 + tx] : T{};
    bs[ty][tx] = (k0 + ty < k && col < n) ? b[(k0 + ty) * n + col] : T{};
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) acc = fma(as[ty][i], bs[i][tx], acc);
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = acc;
}

template <typename T, int TILE>
bool run(int m, int n, int k) {
  std::vector<T> a(m * k), b(k * n), c(m * n, T(-1));
  unsigned state = 12345;
  auto next = [&] { return T(int((state = state * 1664525u + 1013904223u) >> 16) - 32768) / T(4096); };
  for (auto& v : a) v = next();
  for (auto& v : b) v = next();
  T *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(T));
  cudaMalloc(&db, b.size() * sizeof(T));
  cudaMalloc(&dc, c.size() * sizeof(T));
  cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice);
  gemm<T, TILE><<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(da, db, dc, m, n, k);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(da), cudaFree(db), cudaFree(dc);
  for (int i = 0; i < m * n; ++i) {
    T want{};
    for (int j = 0; j < k; ++j) want = std::fma(a[i / n * k + j], b[j * n + i % n], want);
    if (c[i] != want) {
      std::printf("tile %d, %d bytes, element (%d, %d): %.17g, expected %.17g\n", TILE, int(sizeof(T)), i / n, i % n,
                  double(c[i]), double(want));
      return false;
    }
  }
  return true;
}

int main() {
  bool ok = run<float, 16>(50, 37, 41) && run<float, 8>(17, 64, 9) && run<double, 16>(33, 20, 48);
  if (ok && cudaDeviceSynchronize() == cudaSuccess) std::puts("tiled products in float and double: exact");
  return ok ? 0 : 1;
}
