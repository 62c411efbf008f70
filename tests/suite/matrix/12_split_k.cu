// C = A * B with a long K and a small C: the blocks of a column of the grid share an output tile and add their parts
// with atomicAdd. Integers in floats, so the order of the additions does not show.
#include <iostream>
#include <numeric>
#include <vector>

constexpr int T = 8;

__global__ void splitK(const float* __restrict__ a, const float* __restrict__ b, float* c, int m, int n, int k,
                       int perSplit) {
  __shared__ float sa[T][T], sb[T][T];
  const int row = blockIdx.y * T + threadIdx.y;
  const int col = blockIdx.x * T + threadIdx.x;
  const int first = blockIdx.z * perSplit;
  const int last = min(k, first + perSplit);
  float part = 0.0f;
  for (int k0 = first; k0 < last; k0 += T) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    sa[threadIdx.y][threadIdx.x] = row < m && ka < last ? a[row * k + ka] : 0.0f;
    sb[threadIdx.y][threadIdx.x] = col < n && kb < last ? b[kb * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; i++) part += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) atomicAdd(&c[row * n + col], part);
}

int main() {
  const int m = 20, n = 12, k = 1000, splits = 7, per = (k + splits - 1) / splits;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (size_t i = 0; i < a.size(); i++) a[i] = float(int(unsigned(i) * 2654435761u >> 28) - 8);
  for (size_t i = 0; i < b.size(); i++) b[i] = float(int(i * 40503u >> 7 & 7) - 3);
  float *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof *da);
  cudaMalloc(&db, b.size() * sizeof *db);
  cudaMalloc(&dc, c.size() * sizeof *dc);
  cudaMemcpy(da, a.data(), a.size() * sizeof *da, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof *db, cudaMemcpyHostToDevice);
  cudaMemset(dc, 0, c.size() * sizeof *dc);
  splitK<<<dim3((n + T - 1) / T, (m + T - 1) / T, splits), dim3(T, T)>>>(da, db, dc, m, n, k, per);
  cudaMemcpy(c.data(), dc, c.size() * sizeof *dc, cudaMemcpyDeviceToHost);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float want = 0;
      for (int l = 0; l < k; l++) want += a[i * k + l] * b[l * n + j];
      if (c[i * n + j] != want) {
        std::cout << "c(" << i << ", " << j << ") = " << c[i * n + j] << ", expected " << want << "\n";
        return 1;
      }
    }
  std::cout << "split-K over " << splits << " blocks: exact" << std::endl;
}
