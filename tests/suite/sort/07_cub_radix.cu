// A segmented sort in blocks with cub::BlockRadixSort, blocked to striped, and cub::BlockReduce for a check sum.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <algorithm>
#include <cstdio>
#include <vector>

template <int Threads, int Items>
__global__ void __launch_bounds__(Threads) sort_segments(const int* in, int* out, long long* sums) {
  using Sort = cub::BlockRadixSort<int, Threads, Items>;
  using Reduce = cub::BlockReduce<long long, Threads>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
  } temp;
  int keys[Items];
  const int base = blockIdx.x * Threads * Items;
  for (int i = 0; i < Items; i++) keys[i] = in[base + threadIdx.x * Items + i];
  long long part = 0;
  for (int key : keys) part += key;
  Sort(temp.sort).SortBlockedToStriped(keys);
  for (int i = 0; i < Items; i++) out[base + i * Threads + threadIdx.x] = keys[i];
  __syncthreads();
  long long sum = Reduce(temp.reduce).Sum(part);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int main() {
  constexpr int threads = 64, items = 6, blocks = 2, n = threads * items * blocks;
  std::vector<int> h(n), got(n);
  for (int i = 0; i < n; i++) h[i] = int(i * 2654435761u);
  int *in, *out;
  long long *sums, total[blocks];
  cudaMalloc(&in, n * sizeof(int)), cudaMalloc(&out, n * sizeof(int)), cudaMalloc(&sums, sizeof total);
  cudaMemcpy(in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sort_segments<threads, items><<<blocks, threads>>>(in, out, sums);
  if (cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost)) return 2;
  cudaMemcpy(total, sums, sizeof total, cudaMemcpyDeviceToHost);
  for (int b = 0; b < blocks; b++) {
    const int from = b * threads * items, to = from + threads * items;
    long long sum = 0;
    for (int i = from; i < to; i++) sum += h[i];
    std::sort(h.begin() + from, h.begin() + to);
    for (int i = from; i < to; i++)
      if (got[i] != h[i]) return printf("position %d: %d, expected %d\n", i, got[i], h[i]), 1;
    if (total[b] != sum) return printf("block %d: sum %lld, expected %lld\n", b, total[b], sum), 1;
  }
  printf("cub radix sort of %d blocks: in order\n", blocks);
}
