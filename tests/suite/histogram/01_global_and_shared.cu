// Byte histogram: atomics in global memory, atomics in shared memory, and one private table for each warp.
#include <cstdio>
#include <cstring>
#include <string>

#define BINS 256

__global__ void hist_global(const unsigned char *data, int n, unsigned int *hist)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&hist[data[i]], 1u);
}

__global__ void hist_shared(const unsigned char *data, int n, unsigned int *hist)
{
    __shared__ unsigned int s[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) s[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&s[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) if (s[b]) atomicAdd(&hist[b], s[b]);
}

// Four bytes at a time; counts of 16 bits, two in a word.
__global__ void hist_private(const uchar4 *data, int quads, unsigned int *hist)
{
    extern __shared__ unsigned int s[];     // warps * BINS / 2
    const int warps = blockDim.x / 32, words = BINS / 2;
    unsigned int *mine = s + threadIdx.x / 32 * words;
    for (int i = threadIdx.x; i < warps * words; i += blockDim.x) s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += blockDim.x * gridDim.x) {
        uchar4 q = data[i];
        unsigned char bytes[4] = {q.x, q.y, q.z, q.w};
        for (unsigned char b : bytes) atomicAdd(&mine[b >> 1], b & 1 ? 0x10000u : 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        unsigned int sum = 0;
        for (int w = 0; w < warps; w++) sum += s[w * words + b / 2] >> (b % 2 * 16) & 0xffff;
        atomicAdd(&hist[b], sum);
    }
}

int main()
{
    std::string text;
    for (int i = 0; text.size() < 20000; i++) text += "line " + std::to_string(i * i) + "\n" + char(i * 37);
    text.resize(20000);
    const int n = 20000;
    unsigned int want[BINS] = {0}, got[BINS], *d_hist;
    for (unsigned char c : text) want[c]++;
    unsigned char *d;
    cudaMalloc(&d, n);
    cudaMalloc(&d_hist, sizeof want);
    cudaMemcpy(d, text.data(), n, cudaMemcpyHostToDevice);
    for (int v = 0; v < 3; v++) {
        cudaMemset(d_hist, 0, sizeof want);
        if (v == 0) hist_global<<<6, 128>>>(d, n, d_hist);
        if (v == 1) hist_shared<<<6, 128>>>(d, n, d_hist);
        if (v == 2) hist_private<<<4, 128, 4 * BINS / 2 * sizeof(int)>>>((const uchar4 *)d, n / 4, d_hist);
        if (cudaMemcpy(got, d_hist, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
        for (int b = 0; b < BINS; b++)
            if (got[b] != want[b]) { printf("variant %d, byte %d: %u, expected %u\n", v, b, got[b], want[b]); return 1; }
    }
    printf("byte histograms, three ways: exact\n");
    return 0;
}
