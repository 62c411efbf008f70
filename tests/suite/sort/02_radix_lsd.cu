// Radix sort, four bits a pass: histogram, scan, stable scatter by counting equal digits below in the block. Signed
// keys and floats by flipping bits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int BLOCK = 128, DIGITS = 16;

__global__ void histogram(const uint32_t* keys, int n, int shift, int* counts) {
  __shared__ int local[DIGITS];
  if (threadIdx.x < DIGITS) local[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) atomicAdd(&local[keys[i] >> shift & 15], 1);
  __syncthreads();
  // digit-major, so that one scan gives every block its place
  if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

__global__ void exclusive_scan(int* counts, int n) {  // one block is enough here
  __shared__ int part[BLOCK];
  int per = (n + BLOCK - 1) / BLOCK, from = min(n, int(threadIdx.x) * per), to = min(n, from + per), sum = 0;
  for (int i = from; i < to; i++) sum += counts[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  int before = 0;
  for (int t = 0; t < threadIdx.x; t++) before += part[t];
  for (int i = from; i < to; i++) {
    int c = counts[i];
    counts[i] = before;
    before += c;
  }
}

__global__ void scatter(const uint32_t* in, uint32_t* out, int n, int shift, const int* offsets) {
  __shared__ uint8_t digits[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  uint32_t key = i < n ? in[i] : 0, digit = i < n ? key >> shift & 15 : 255;
  digits[threadIdx.x] = digit;
  __syncthreads();
  int rank = 0;
  for (int t = 0; t < threadIdx.x; t++) rank += digits[t] == digit;
  if (i < n) out[offsets[digit * gridDim.x + blockIdx.x] + rank] = key;
}

__global__ void flip(uint32_t* keys, int n, bool back) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t k = keys[i];
  keys[i] = back ? k ^ ((k >> 31) - 1 | 0x80000000u) : k ^ (-(k >> 31) | 0x80000000u);
}

int main() {
  const int n = 2500, blocks = (n + BLOCK - 1) / BLOCK;
  std::vector<float> values(n), got(n);
  for (int i = 0; i < n; i++) values[i] = std::ldexp(std::sin(i * 12.9898), i % 60 - 30);
  uint32_t* keys[2];
  int* counts;
  cudaMalloc(&keys[0], n * 4), cudaMalloc(&keys[1], n * 4), cudaMalloc(&counts, DIGITS * blocks * sizeof(int));
  cudaMemcpy(keys[0], values.data(), n * 4, cudaMemcpyHostToDevice);
  flip<<<blocks, BLOCK>>>(keys[0], n, false);
  for (int shift = 0, from = 0; shift < 32; shift += 4, from ^= 1) {
    histogram<<<blocks, BLOCK>>>(keys[from], n, shift, counts);
    exclusive_scan<<<1, BLOCK>>>(counts, DIGITS * blocks);
    scatter<<<blocks, BLOCK>>>(keys[from], keys[from ^ 1], n, shift, counts);
  }
  flip<<<blocks, BLOCK>>>(keys[0], n, true);
  if (cudaMemcpy(got.data(), keys[0], n * 4, cudaMemcpyDeviceToHost)) return 2;
  std::sort(values.begin(), values.end());
  for (int i = 0; i < n; i++)
    if (memcmp(&got[i], &values[i], 4)) return printf("position %d: %g, expected %g\n", i, got[i], values[i]), 1;
  printf("radix sort of %d floats: in order\n", n);
}
