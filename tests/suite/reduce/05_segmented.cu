// Sums of segments of uneven length (some empty), a warp for each, then the same by a segmented scan in the warp that
// crosses segment ends.
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void warp_per_segment(const int* values, const int* offsets, int segments, int* sums) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (warp >= segments) return;
  int sum = 0;
  for (int i = offsets[warp] + lane; i < offsets[warp + 1]; i += 32) sum += values[i];
  for (int d = 16; d >= 1; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (!lane) sums[warp] = sum;
}

// A thread for each value. Runs of equal keys are added in the warp; their last lane adds to memory.
__global__ void by_key(const int* values, const int* keys, int n, int* sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  int key = i < n ? keys[i] : -1, v = i < n ? values[i] : 0;
  for (int d = 1; d < 32; d <<= 1) {
    int other = __shfl_up_sync(0xffffffff, v, d), its = __shfl_up_sync(0xffffffff, key, d);
    if (lane >= d && its == key) v += other;
  }
  int next = __shfl_down_sync(0xffffffff, key, 1);
  if (key >= 0 && (lane == 31 || next != key)) atomicAdd(sums + key, v);
}

int main() {
  const int segments = 150;
  std::vector<int> offsets{0}, keys, values;
  for (int s = 0; s < segments; s++) {
    int length = s % 7 == 3 ? 0 : s * s % 61 + (s == 90 ? 400 : 0);
    for (int i = 0; i < length; i++) keys.push_back(s), values.push_back(int(keys.size() * 7919 % 1000) - 500);
    offsets.push_back(int(keys.size()));
  }
  const int n = int(keys.size());
  int *dv, *dk, *doff, *ds;
  cudaMalloc(&dv, n * 4), cudaMalloc(&dk, n * 4), cudaMalloc(&doff, (segments + 1) * 4), cudaMalloc(&ds, segments * 4);
  cudaMemcpy(dv, values.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dk, keys.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(doff, offsets.data(), (segments + 1) * 4, cudaMemcpyHostToDevice);
  for (int way = 0; way < 2; way++) {
    cudaMemset(ds, 0, segments * 4);
    if (way == 0) warp_per_segment<<<(segments + 3) / 4, 128>>>(dv, doff, segments, ds);
    else by_key<<<(n + 191) / 192, 192>>>(dv, dk, n, ds);
    std::vector<int> sums(segments);
    if (cudaMemcpy(sums.data(), ds, segments * 4, cudaMemcpyDeviceToHost)) return 2;
    for (int s = 0; s < segments; s++) {
      int want = std::accumulate(values.begin() + offsets[s], values.begin() + offsets[s + 1], 0);
      if (sums[s] != want) return printf("way %d, segment %d: %d, expected %d\n", way, s, sums[s], want), 1;
    }
  }
  printf("%d values in %d segments, two ways: exact\n", n, segments);
}
