// Cooperative groups at every size: tiles of 1 to 32, coalesced groups after a branch, labeled and binary partitions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;

template <int Size>
__device__ void tile_sums(const int* in, int* out) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  int v = in[threadIdx.x];
  int sum = cg::reduce(tile, v, cg::plus<int>());
  int before = cg::exclusive_scan(tile, v);
  out[threadIdx.x] = sum * 1000 + before;
}

__global__ void tiles(const int* in, int* out) {
  const int n = blockDim.x;
  tile_sums<2>(in, out);
  tile_sums<4>(in, out + n);
  tile_sums<8>(in, out + 2 * n);
  tile_sums<16>(in, out + 3 * n);
  tile_sums<32>(in, out + 4 * n);
}

__global__ void branches(const int* in, int* out) {
  int v = in[threadIdx.x];
  if (v % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    out[threadIdx.x] = active.size() * 100 + active.thread_rank();
  } else {
    out[threadIdx.x] = -1;
  }
  cg::coalesced_group all = cg::coalesced_threads();
  auto same = cg::labeled_partition(all, v % 4);
  out[blockDim.x + threadIdx.x] = cg::reduce(same, v, cg::greater<int>());
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  auto odd = cg::binary_partition(tile, v & 1);
  out[2 * blockDim.x + threadIdx.x] = odd.shfl(v, odd.size() - 1);
}

int main() {
  const int n = 64;
  int *in, *out;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&out, 8 * n * 4);
  for (int i = 0; i < n; i++) in[i] = (i * 29 + 7) % 31 - 4 < 0 ? 50 + i : (i * 29 + 7) % 31;
  tiles<<<1, n>>>(in, out);
  branches<<<1, n>>>(in, out + 5 * n);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int t = 0, size = 2; size <= 32; size *= 2, t++)
    for (int i = 0; i < n; i++) {
      int sum = 0, before = 0;
      for (int j = i / size * size; j < i / size * size + size; j++) sum += in[j], before += j < i ? in[j] : 0;
      if (out[t * n + i] != sum * 1000 + before)
        return printf("tile of %d, thread %d: %d, expected %d\n", size, i, out[t * n + i], sum * 1000 + before), 1;
    }
  for (int i = 0; i < n; i++) {
    int base = i / 32 * 32, threes = 0, rank = 0, best = -1, last = -1;
    for (int j = base; j < base + 32; j++) {
      if (in[j] % 3 == 0) threes++, rank += j < i;
      if (in[j] % 4 == in[i] % 4 && in[j] > best) best = in[j];
      if ((in[j] & 1) == (in[i] & 1)) last = in[j];
    }
    int want[3] = {in[i] % 3 == 0 ? threes * 100 + rank : -1, best, last};
    for (int k = 0; k < 3; k++)
      if (out[(5 + k) * n + i] != want[k])
        return printf("partition %d, thread %d: %d, expected %d\n", k, i, out[(5 + k) * n + i], want[k]), 1;
  }
  puts("cooperative groups of every size: exact");
}
