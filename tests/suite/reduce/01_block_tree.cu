// idiom: warp-synchronous code with __syncwarp
// The reduction of Harris's slides, in its last version: templates for the block size, two loads per thread, the last
// warp unrolled, with __syncwarp between steps instead of a hope.
#include <cstdio>
#include <cstdlib>

template <unsigned int blockSize>
__device__ void warpReduce(volatile int *sdata, unsigned int tid)
{
    int v = sdata[tid];
    if (blockSize >= 64) { v += sdata[tid + 32]; __syncwarp(); sdata[tid] = v; __syncwarp(); }
    v += sdata[tid + 16]; __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid + 8];  __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid + 4];  __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid + 2];  __syncwarp(); sdata[tid] = v; __syncwarp();
    v += sdata[tid + 1];  __syncwarp(); sdata[tid] = v;
}

template <unsigned int blockSize>
__global__ void reduce6(const int *g_idata, int *g_odata, unsigned int n)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockSize * 2) + tid;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    int sum = 0;
    while (i < n) {
        sum += g_idata[i];
        if (i + blockSize < n) sum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = sum;
    __syncthreads();
    if (blockSize >= 512) { if (tid < 256) sdata[tid] += sdata[tid + 256]; __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) sdata[tid] += sdata[tid + 128]; __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) sdata[tid] += sdata[tid + 64]; __syncthreads(); }
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

int main()
{
    const unsigned n = 50021, maxBlocks = 6;
    int *h = (int *)malloc(n * sizeof(int)), *d, *part, out[maxBlocks];
    int expect = 0;
    for (unsigned i = 0; i < n; i++) expect += h[i] = (int)(i * 1103515245u + 12345u) >> 20;
    cudaMalloc(&d, n * sizeof(int));
    cudaMalloc(&part, maxBlocks * sizeof(int));
    cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
    const int sizes[] = {32, 64, 128, 256, 512};
    for (int threads : sizes) {
        /* a warp reads 32 words past its half */
        size_t smem = (threads + 32) * sizeof(int);
        switch (threads) {
        case 512: reduce6<512><<<maxBlocks, threads, smem>>>(d, part, n); break;
        case 256: reduce6<256><<<maxBlocks, threads, smem>>>(d, part, n); break;
        case 128: reduce6<128><<<maxBlocks, threads, smem>>>(d, part, n); break;
        case 64: reduce6<64><<<maxBlocks, threads, smem>>>(d, part, n); break;
        case 32: reduce6<32><<<maxBlocks, threads, smem>>>(d, part, n); break;
        }
        if (cudaMemcpy(out, part, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
        int got = 0;
        for (int v : out) got += v;
        if (got != expect) {
            printf("block of %d: %d, expected %d\n", threads, got, expect);
            return 1;
        }
    }
    printf("tree reduction with blocks of 32 to 512: sum %d\n", expect);
    cudaFree(d); cudaFree(part); free(h);
    return 0;
}
