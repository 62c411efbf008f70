// Inclusive scan of one block in log2(n) steps, ping-pong in shared memory (Hillis and Steele, 1986).
#include <stdio.h>
#include <stdlib.h>

__global__ void scan(int *data, int n) {
    extern __shared__ int temp[];            // two halves of n
    int thid = threadIdx.x, pout = 0, pin = 1;
    temp[thid] = data[blockIdx.x * n + thid];
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    data[blockIdx.x * n + thid] = temp[pout * n + thid];
}

int main() {
    const int sizes[] = {1, 2, 31, 64, 100, 512, 1000};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s], blocks = 3, total = n * blocks;
        int *h = (int *)malloc(total * sizeof(int)), *d;
        for (int i = 0; i < total; i++) h[i] = rand() % 2001 - 1000;
        cudaMalloc((void **)&d, total * sizeof(int));
        cudaMemcpy(d, h, total * sizeof(int), cudaMemcpyHostToDevice);
        scan<<<blocks, n, 2 * n * sizeof(int)>>>(d, n);
        int *r = (int *)malloc(total * sizeof(int));
        if (cudaMemcpy(r, d, total * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
        for (int b = 0; b < blocks; b++)
            for (int i = 0, sum = 0; i < n; i++) {
                sum += h[b * n + i];
                if (r[b * n + i] != sum) {
                    printf("n = %d, block %d, element %d: %d, expected %d\n", n, b, i, r[b * n + i], sum);
                    return 1;
                }
            }
        cudaFree(d);
        free(h);
        free(r);
    }
    printf("Hillis-Steele scans of 1 to 1000 elements: exact\n");
    return 0;
}
