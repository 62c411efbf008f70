// Work-efficient exclusive scan (Blelloch) of any length: up-sweep, down-sweep, padding against bank conflicts, and
// recursion on the host over the blocks' sums.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <vector>

#define LOG_BANKS 5
#define PAD(i) ((i) + ((i) >> LOG_BANKS))

static const int HALF = 128, CHUNK = 2 * HALF;

__global__ void scan_chunks(uint32_t* out, const uint32_t* in, uint32_t* sums, int n) {
  __shared__ uint32_t t[PAD(CHUNK - 1) + 1];
  const int base = blockIdx.x * CHUNK, a = threadIdx.x, b = threadIdx.x + HALF;
  t[PAD(a)] = base + a < n ? in[base + a] : 0;
  t[PAD(b)] = base + b < n ? in[base + b] : 0;
  int offset = 1;
  for (int d = HALF; d > 0; d >>= 1, offset <<= 1) {
    __syncthreads();
    if (threadIdx.x < d) t[PAD(offset * (2 * a + 2) - 1)] += t[PAD(offset * (2 * a + 1) - 1)];
  }
  if (threadIdx.x == 0) {
    if (sums) sums[blockIdx.x] = t[PAD(CHUNK - 1)];
    t[PAD(CHUNK - 1)] = 0;
  }
  for (int d = 1; d < CHUNK; d <<= 1) {
    offset >>= 1;
    __syncthreads();
    if (threadIdx.x < d) {
      int i = PAD(offset * (2 * a + 1) - 1), j = PAD(offset * (2 * a + 2) - 1);
      uint32_t x = t[i];
      t[i] = t[j];
      t[j] += x;
    }
  }
  __syncthreads();
  if (base + a < n) out[base + a] = t[PAD(a)];
  if (base + b < n) out[base + b] = t[PAD(b)];
}

__global__ void add_sums(uint32_t* out, const uint32_t* sums, int n) {
  int i = blockIdx.x * CHUNK + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
  if (i + HALF < n) out[i + HALF] += sums[blockIdx.x];
}

void exclusive_scan(uint32_t* out, const uint32_t* in, int n) {
  const int blocks = (n + CHUNK - 1) / CHUNK;
  if (blocks == 1) {
    scan_chunks<<<1, HALF>>>(out, in, nullptr, n);
    return;
  }
  uint32_t* sums;
  cudaMalloc(&sums, 2 * blocks * sizeof *sums);
  scan_chunks<<<blocks, HALF>>>(out, in, sums, n);
  exclusive_scan(sums + blocks, sums, blocks);
  add_sums<<<blocks, HALF>>>(out, sums + blocks, n);
  cudaFree(sums);
}

int main() {
  for (int n : {1, 255, 256, 257, 5000, 256 * 256 + 3}) {
    std::vector<uint32_t> h(n), got(n);
    for (int i = 0; i < n; i++) h[i] = i * 2654435761u >> 5;
    uint32_t *in, *out;
    cudaMalloc(&in, n * 4), cudaMalloc(&out, n * 4);
    cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
    exclusive_scan(out, in, n);
    if (cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost)) return 2;
    uint32_t sum = 0;
    for (int i = 0; i < n; sum += h[i++])
      if (got[i] != sum) return printf("n = %d: element %d is %u, expected %u\n", n, i, got[i], sum), 1;
    cudaFree(in), cudaFree(out);
  }
  puts("Blelloch scans of 1 to 65539 elements: exact");
}
