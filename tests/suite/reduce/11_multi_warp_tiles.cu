// Tiles of more than a warp: their barrier and their sums go through shared memory that the system keeps for cooperative
// groups. A block's barrier in two halves, and one thread of a group that works for all.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;

const int kThreads = 512;

template <int Size>
__device__ void tile_sums(cg::thread_block block, const int* in, int* out) {
  auto tile = cg::tiled_partition<Size>(block);
  int sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
}

__global__ void sums(const int* in, int* out) {
  __shared__ cg::block_tile_memory<kThreads> scratch;
  cg::thread_block block = cg::this_thread_block(scratch);
  tile_sums<64>(block, in, out);
  tile_sums<128>(block, in, out + 8);
  tile_sums<256>(block, in, out + 12);
  tile_sums<512>(block, in, out + 14);
}

__global__ void rotate(const int* in, int* out) {
  __shared__ int slot[kThreads];
  __shared__ int elected;
  cg::thread_block block = cg::this_thread_block();
  int t = block.thread_rank();
  slot[t] = in[t];
  if (t == 0) elected = 0;
  auto token = block.barrier_arrive();
  int square = in[t] * in[t];  // between the halves, nothing shared
  block.barrier_wait(std::move(token));
  cg::invoke_one(cg::tiled_partition<32>(block), [] { atomicAdd(&elected, 1); });
  block.sync();
  out[t] = slot[(t + 1) % kThreads] + square + elected;
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, kThreads * sizeof(int));
  cudaMallocManaged(&out, kThreads * sizeof(int));
  for (int i = 0; i < kThreads; i++) in[i] = (i * 37) % 101 - 50;
  int failures = 0;
  sums<<<1, kThreads>>>(in, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int at = 0;
  for (int size = 64; size <= kThreads; size *= 2)
    for (int first = 0; first < kThreads; first += size, at++) {
      int want = 0;
      for (int i = first; i < first + size; i++) want += in[i];
      if (out[at] != want && failures++ == 0) printf("tile of %d at %d: %d, expected %d\n", size, first, out[at], want);
    }
  rotate<<<1, kThreads>>>(in, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kThreads; i++) {
    int want = in[(i + 1) % kThreads] + in[i] * in[i] + kThreads / 32;
    if (out[i] != want && failures++ == 0) printf("rotate %d: %d, expected %d\n", i, out[i], want);
  }
  if (!failures) printf("tiles of 64 to %d: all sums equal\n", kThreads);
  return failures != 0;
}
