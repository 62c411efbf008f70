// Floats into bins of uneven width: the edges lie in constant memory, each thread searches, f64 moments of each bin are
// added with atomicAdd(double).
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {
constexpr int kEdges = 12;
__constant__ float edges[kEdges];

struct Bin {
  unsigned long long count;
  double sum, squares;
};

__global__ void fill_bins(const float* x, int n, Bin* bins) {
  __shared__ Bin mine[kEdges + 1];
  for (int b = threadIdx.x; b <= kEdges; b += blockDim.x) mine[b] = Bin{};
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i];
    int bin = 0;
#pragma unroll
    for (int e = 0; e < kEdges; ++e) bin += v >= edges[e];
    atomicAdd(&mine[bin].count, 1ull);
    atomicAdd(&mine[bin].sum, double(v));
    atomicAdd(&mine[bin].squares, double(v) * v);
  }
  __syncthreads();
  for (int b = threadIdx.x; b <= kEdges; b += blockDim.x) {
    atomicAdd(&bins[b].count, mine[b].count);
    atomicAdd(&bins[b].sum, mine[b].sum);
    atomicAdd(&bins[b].squares, mine[b].squares);
  }
}
}  // namespace

int main() {
  std::array<float, kEdges> host_edges;
  for (int e = 0; e < kEdges; ++e) host_edges[e] = std::ldexp(1.0f, e - 8);
  cudaMemcpyToSymbol(edges, host_edges.data(), sizeof host_edges);
  const int n = 6000;
  std::vector<float> x(n);
  // Multiples of 2^-11 below 16: sums and sums of squares are exact in double, in any order.
  for (int i = 0; i < n; ++i) x[i] = float((i * 48271LL) % 32768 >> (i % 12)) / 2048;
  std::array<Bin, kEdges + 1> want{}, got;
  for (float v : x) {
    Bin& b = want[std::upper_bound(host_edges.begin(), host_edges.end(), v) - host_edges.begin()];
    ++b.count, b.sum += v, b.squares += double(v) * v;
  }
  float* dx;
  Bin* bins;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&bins, sizeof got);
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof got);
  fill_bins<<<5, 160>>>(dx, n, bins);
  if (cudaMemcpy(got.data(), bins, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  for (int b = 0; b <= kEdges; ++b)
    if (got[b].count != want[b].count || got[b].sum != want[b].sum || got[b].squares != want[b].squares) {
      std::printf("bin %d: %llu, %.17g, %.17g; expected %llu, %.17g, %.17g\n", b, got[b].count, got[b].sum,
                  got[b].squares, want[b].count, want[b].sum, want[b].squares);
      return 1;
    }
  std::printf("%d values in %d bins with moments: exact\n", n, kEdges + 1);
}
