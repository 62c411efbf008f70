// Keep what satisfies a predicate, in order: ballots in the warps, counts in shared memory, offsets from a first pass.
#include <cuda_runtime.h>
#include <iostream>
#include <iterator>
#include <algorithm>
#include <vector>

struct Keep { __host__ __device__ bool operator()(int x) const { return (x & 3) == 1 || x < -900; } };

template <int Block, class P>
__global__ void count(const int* in, int n, int* counts, P keep)
{
    const int i = blockIdx.x * Block + threadIdx.x;
    const int kept = __syncthreads_count(i < n && keep(in[i]));
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

template <int Block, class P>
__global__ void compact(const int* in, int n, const int* offsets, int* out, P keep)
{
    __shared__ int warpCount[Block / 32];
    const int i = blockIdx.x * Block + threadIdx.x;
    const bool mine = i < n && keep(in[i]);
    const unsigned votes = __ballot_sync(0xffffffffu, mine);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) warpCount[warp] = __popc(votes);
    __syncthreads();
    if (!mine) return;                   // no barrier follows
    int at = offsets[blockIdx.x];
    for (int w = 0; w < warp; ++w) at += warpCount[w];
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    out[at + __popc(votes & below)] = in[i];
}

int main()
{
    constexpr int Block = 96;
    const int n = 7777, blocks = (n + Block - 1) / Block;
    std::vector<int> in(n), want, counts(blocks), offsets(blocks);
    for (int i = 0; i < n; ++i) in[i] = int((i * 22695477u + 1) >> 21) - 1024;
    std::copy_if(in.begin(), in.end(), std::back_inserter(want), Keep{});
    int *dIn, *dCounts, *dOut;
    cudaMalloc(&dIn, n * sizeof(int));
    cudaMalloc(&dCounts, blocks * sizeof(int));
    cudaMalloc(&dOut, n * sizeof(int));
    cudaMemcpy(dIn, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    count<Block><<<blocks, Block>>>(dIn, n, dCounts, Keep{});
    cudaMemcpy(counts.data(), dCounts, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    int total = 0;
    for (int b = 0; b < blocks; ++b) { offsets[b] = total; total += counts[b]; }
    if (total != (int)want.size()) { std::cout << "kept " << total << ", expected " << want.size() << '\n'; return 1; }
    cudaMemcpy(dCounts, offsets.data(), blocks * sizeof(int), cudaMemcpyHostToDevice);
    compact<Block><<<blocks, Block>>>(dIn, n, dCounts, dOut, Keep{});
    std::vector<int> got(total);
    if (cudaMemcpy(got.data(), dOut, total * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    auto differ = std::mismatch(got.begin(), got.end(), want.begin());
    if (differ.first != got.end()) {
        std::cout << "element " << differ.first - got.begin() << ": " << *differ.first << ", expected " << *differ.second << '\n';
        return 1;
    }
    std::cout << "kept " << total << " of " << n << ", in order\n";
    return 0;
}
