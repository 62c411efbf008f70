// Recursion as deep as the stack allows: the limit is CUDA's own at first, and a larger one is there when asked for.
#include <cstdio>
#include <vector>

__host__ __device__ unsigned walk(unsigned depth, unsigned x)
{
    unsigned kept[8];
    for (int i = 0; i < 8; i++) kept[i] = x * (2 * i + 1) + depth;
    if (depth == 0) return kept[x % 8];
    unsigned below = walk(depth - 1, x * 1664525u + 1013904223u);
    return below ^ kept[below % 8];
}

__global__ void kernel(unsigned depth, unsigned* out)
{
    out[threadIdx.x] = walk(depth, threadIdx.x);
}

int main()
{
    size_t limit = 0;
    cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    if (limit != 1024) return printf("the limit is %zu at first\n", limit), 1;
    if (cudaDeviceSetLimit(cudaLimitStackSize, 512 << 10) != cudaErrorInvalidValue) return printf("512 KiB are granted\n"), 1;
    cudaGetLastError();
    cudaDeviceSetLimit(cudaLimitStackSize, 1000);
    cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    if (limit != 1008) return printf("1000 bytes are %zu\n", limit), 1;
    const unsigned depth = 1500, threads = 64;
    if (cudaDeviceSetLimit(cudaLimitStackSize, 128 << 10)) return printf("128 KiB are refused\n"), 1;
    cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    if (limit != 128 << 10) return printf("the limit is %zu then\n", limit), 1;
    unsigned* device;
    cudaMalloc(&device, threads * sizeof(unsigned));
    kernel<<<1, threads>>>(depth, device);
    std::vector<unsigned> out(threads);
    cudaError_t error = cudaMemcpy(out.data(), device, threads * sizeof(unsigned), cudaMemcpyDeviceToHost);
    if (error) return printf("%s\n", cudaGetErrorString(error)), 1;
    for (unsigned t = 0; t < threads; t++)
        if (out[t] != walk(depth, t)) return printf("thread %u: %x, not %x\n", t, out[t], walk(depth, t)), 1;
    printf("%u threads were %u calls deep\n", threads, depth);
}
