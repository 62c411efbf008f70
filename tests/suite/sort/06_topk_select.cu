// The k largest of each row by radix select: from the top digit down, count, choose the digit in which the k-th lies.
// Then the chosen are written in any order and ties are cut off by an atomic ticket.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

__device__ __host__ inline uint32_t ordered(float f) {
  union { float f; uint32_t u; } x{f};
  return x.u ^ (-(x.u >> 31) | 0x80000000u);
}

__global__ void topk(const float* rows, int n, int k, float* out) {
  __shared__ int counts[256];
  __shared__ uint32_t prefix, above, taken, ties;
  const float* row = rows + blockIdx.x * n;
  if (threadIdx.x == 0) prefix = 0, above = 0, taken = 0, ties = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t p = prefix;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      uint32_t u = ordered(row[i]);
      if (shift == 24 || u >> (shift + 8) == p >> (shift + 8)) atomicAdd(&counts[u >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = 255;
      uint32_t sum = above;
      while (sum + counts[digit] < k) sum += counts[digit--];
      above = sum;
      prefix = p | uint32_t(digit) << shift;
    }
    __syncthreads();
  }
  float* mine = out + blockIdx.x * k;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    uint32_t u = ordered(row[i]);
    if (u > prefix) mine[atomicAdd(&taken, 1)] = row[i];
    else if (u == prefix) {
      uint32_t t = atomicAdd(&ties, 1);
      if (above + t < k) mine[above + t] = row[i];
    }
  }
}

int main() {
  const int rows = 4, n = 1500, k = 37;
  std::vector<float> h(rows * n), out(rows * k);
  for (int i = 0; i < rows * n; i++) {
    int r = i / n;
    uint32_t x = i * 2654435761u;
    h[i] = r == 0 ? float(int(x)) : r == 1 ? float(x >> 29) : r == 2 ? -float(x >> 10) : 1.5f;
  }
  float *d, *o;
  cudaMalloc(&d, h.size() * 4), cudaMalloc(&o, out.size() * 4);
  cudaMemcpy(d, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
  topk<<<rows, 256>>>(d, n, k, o);
  if (cudaMemcpy(out.data(), o, out.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int r = 0; r < rows; r++) {
    std::sort(h.begin() + r * n, h.begin() + (r + 1) * n, std::greater<float>());
    std::sort(out.begin() + r * k, out.begin() + (r + 1) * k, std::greater<float>());
    for (int i = 0; i < k; i++)
      if (out[r * k + i] != h[r * n + i]) return printf("row %d, rank %d: %g, expected %g\n", r, i, out[r * k + i], h[r * n + i]), 1;
  }
  printf("the %d largest of %d in %d rows\n", k, n, rows);
}
