// Producer and consumer warps meet at named barriers: bar.arrive by those who need not wait, bar.sync by those who do.
// Two buffers, so barriers 1 and 2 mean "full" and 3 and 4 mean "empty".
#include <cstdio>
#include <vector>

#define SYNC(id, n) asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(n) : "memory")
#define ARRIVE(id, n) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(n) : "memory")

const int PRODUCERS = 32, CONSUMERS = 64, ALL = PRODUCERS + CONSUMERS, SIZE = 128;

__global__ void specialised(const int *in, int *out, int chunks)
{
    __shared__ int buf[2][SIZE];
    if (threadIdx.x < PRODUCERS) {
        for (int c = 0; c < chunks; c++) {
            SYNC(3 + c % 2, ALL);                       // wait until the buffer is empty
            for (int i = threadIdx.x; i < SIZE; i += PRODUCERS) buf[c % 2][i] = in[c * SIZE + i];
            __threadfence_block();
            ARRIVE(1 + c % 2, ALL);
        }
    } else {
        int t = threadIdx.x - PRODUCERS;
        ARRIVE(3, ALL);                                 // both are empty at first
        ARRIVE(4, ALL);
        for (int c = 0; c < chunks; c++) {
            SYNC(1 + c % 2, ALL);
            for (int i = t; i < SIZE; i += CONSUMERS) out[c * SIZE + i] = buf[c % 2][SIZE - 1 - i] + c;
            if (c + 2 < chunks) ARRIVE(3 + c % 2, ALL);
        }
    }
}

int main()
{
    const int chunks = 9, n = chunks * SIZE;
    std::vector<int> h(n), r(n);
    for (int i = 0; i < n; i++) h[i] = i ^ (i << 3);
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    specialised<<<1, ALL>>>(in, out, chunks);
    cudaError_t e = cudaMemcpy(r.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return 2; }
    for (int i = 0; i < n; i++) {
        int want = h[i / SIZE * SIZE + SIZE - 1 - i % SIZE] + i / SIZE;
        if (r[i] != want) { printf("element %d: %d, expected %d\n", i, r[i], want); return 1; }
    }
    printf("producer and consumer warps at named barriers: exact\n");
    return 0;
}
