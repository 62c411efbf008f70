// Warp-aggregated counting: lanes with the same key find each other with __match_any_sync, and one of them adds for all.
#include <cstdio>
#include <map>
#include <vector>

__global__ void aggregate(const long long* keys, int n, const long long* table, int size, int* counts, int* atomics) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned active = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  long long key = keys[i];
  unsigned peers = __match_any_sync(active, key);
  int leader = __ffs(peers) - 1;
  if ((threadIdx.x & 31) == leader) {
    int lo = 0, hi = size - 1;
    while (lo < hi) {
      int mid = (lo + hi) / 2;
      if (table[mid] < key) lo = mid + 1;
      else hi = mid;
    }
    atomicAdd(&counts[lo], __popc(peers));
    atomicAdd(atomics, 1);
  }
  // A whole warp with one key is worth knowing, too.
  int same;
  __match_all_sync(active, key, &same);
  if (same && (threadIdx.x & 31) == 0) atomicAdd(&counts[size], 1);
}

int main() {
  const int n = 5005;
  std::vector<long long> keys(n), table;
  std::map<long long, int> want;
  for (int i = 0; i < n; i++) {
    keys[i] = (i / 64 % 3 == 0 ? 7LL : i * i % 23) * 0x100000001LL - 5;
    want[keys[i]]++;
  }
  for (auto& [key, count] : want) table.push_back(key);
  const int size = int(table.size());
  long long *dk, *dt;
  int *counts, *atomics;
  cudaMalloc(&dk, n * 8), cudaMalloc(&dt, size * 8), cudaMalloc(&counts, (size + 1) * 4), cudaMalloc(&atomics, 4);
  cudaMemcpy(dk, keys.data(), n * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(dt, table.data(), size * 8, cudaMemcpyHostToDevice);
  cudaMemset(counts, 0, (size + 1) * 4), cudaMemset(atomics, 0, 4);
  aggregate<<<(n + 127) / 128, 128>>>(dk, n, dt, size, counts, atomics);
  std::vector<int> got(size + 1);
  int used, expected = 0, uniform = 0;
  if (cudaMemcpy(got.data(), counts, (size + 1) * 4, cudaMemcpyDeviceToHost)) return 2;
  cudaMemcpy(&used, atomics, 4, cudaMemcpyDeviceToHost);
  for (int b = 0; b < n; b += 32) {
    std::map<long long, int> in_warp;
    for (int i = b; i < n && i < b + 32; i++) in_warp[keys[i]]++;
    expected += int(in_warp.size());
    uniform += in_warp.size() == 1;
  }
  for (int i = 0; i < size; i++)
    if (got[i] != want[table[i]]) return printf("key %lld: %d, expected %d\n", table[i], got[i], want[table[i]]), 1;
  if (used != expected) return printf("%d atomics, expected %d\n", used, expected), 1;
  if (got[size] != uniform) return printf("%d uniform warps, expected %d\n", got[size], uniform), 1;
  printf("%d keys counted with %d atomics\n", n, used);
}
