// One-dimensional convolution: the filter in constant memory, a tile with halo in shared memory.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define RADIUS 7
#define TILE 96
__constant__ float c_filter[2 * RADIUS + 1];

__global__ void conv1d(const float *in, float *out, int n)
{
    __shared__ float tile[TILE + 2 * RADIUS];
    int start = blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE + 2 * RADIUS; i += TILE) {
        int g = start + i - RADIUS;
        tile[i] = g >= 0 && g < n ? in[g] : 0.0f;
    }
    __syncthreads();
    int i = start + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++) sum = fmaf(tile[threadIdx.x + k], c_filter[k], sum);
    out[i] = sum;
}

int main(void)
{
    const int n = 5000;
    float filter[2 * RADIUS + 1], *in = (float *)malloc(n * 4), *out = (float *)malloc(n * 4), *d_in, *d_out;
    for (int k = 0; k <= 2 * RADIUS; k++) filter[k] = expf(-0.1f * (k - RADIUS) * (k - RADIUS));
    for (int i = 0; i < n; i++) in[i] = sinf(0.01f * i) + (i % 50 == 0);
    cudaMemcpyToSymbol(c_filter, filter, sizeof filter);
    cudaMalloc((void **)&d_in, n * 4); cudaMalloc((void **)&d_out, n * 4);
    cudaMemcpy(d_in, in, n * 4, cudaMemcpyHostToDevice);
    conv1d<<<(n + TILE - 1) / TILE, TILE>>>(d_in, d_out, n);
    if (cudaMemcpy(out, d_out, n * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k <= 2 * RADIUS; k++) {
            int g = i + k - RADIUS;
            sum = fmaf(g >= 0 && g < n ? in[g] : 0.0f, filter[k], sum);
        }
        if (out[i] != sum) { printf("out[%d] = %.9g, expected %.9g\n", i, out[i], sum); return 1; }
    }
    printf("convolution with %d taps: exact\n", 2 * RADIUS + 1);
    return 0;
}
