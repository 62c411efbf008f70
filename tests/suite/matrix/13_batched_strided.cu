// Many small products at once: batch in blockIdx.z, one stream for each half of the batch, pointers by stride.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { int rows, cols; long stride; } layout_t;

__global__ void gemm_batched(const double *a, layout_t la, const double *b, layout_t lb, double *c, layout_t lc) {
    const double *ab = a + blockIdx.z * la.stride;
    const double *bb = b + blockIdx.z * lb.stride;
    double *cb = c + blockIdx.z * lc.stride;
    for (int e = threadIdx.x + blockIdx.x * blockDim.x; e < lc.rows * lc.cols; e += blockDim.x * gridDim.x) {
        int i = e / lc.cols, j = e % lc.cols;
        double s = 0.0;
        for (int k = 0; k < la.cols; k++) s = __fma_rn(ab[i * la.cols + k], bb[k * lb.cols + j], s);
        cb[e] = s;
    }
}

int main(int argc, char **argv) {
    int batch = argc > 1 ? atoi(argv[1]) : 24;
    layout_t la = {6, 11, 6 * 11 + 2}, lb = {11, 9, 11 * 9 + 1}, lc = {6, 9, 6 * 9};
    double *a, *b, *c;
    cudaMallocManaged((void **)&a, batch * la.stride * sizeof *a, cudaMemAttachGlobal);
    cudaMallocManaged((void **)&b, batch * lb.stride * sizeof *b, cudaMemAttachGlobal);
    cudaMallocManaged((void **)&c, batch * lc.stride * sizeof *c, cudaMemAttachGlobal);
    for (long i = 0; i < batch * la.stride; i++) a[i] = 1.0 / (1 + i % 97);
    for (long i = 0; i < batch * lb.stride; i++) b[i] = 1.0 / (3 + i % 89);

    cudaStream_t streams[2];
    int half = batch / 2, begin = 0;
    for (int s = 0; s < 2; s++) {
        int count = s ? batch - half : half;
        cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking);
        gemm_batched<<<dim3(2, 1, count), 32, 0, streams[s]>>>(a + begin * la.stride, la, b + begin * lb.stride, lb,
                                                               c + begin * lc.stride, lc);
        begin += count;
    }
    for (int s = 0; s < 2; s++) {
        if (cudaStreamSynchronize(streams[s]) != cudaSuccess) return 2;
        cudaStreamDestroy(streams[s]);
    }
    for (int p = 0; p < batch; p++)
        for (int i = 0; i < lc.rows; i++)
            for (int j = 0; j < lc.cols; j++) {
                double s = 0.0, got = c[p * lc.stride + i * lc.cols + j];
                for (int k = 0; k < la.cols; k++)
                    s = __builtin_fma(a[p * la.stride + i * la.cols + k], b[p * lb.stride + k * lb.cols + j], s);
                if (got != s) {
                    printf("product %d, element %d,%d: %.17g, expected %.17g\n", p, i, j, got, s);
                    return 1;
                }
            }
    printf("%d products of 6x11 by 11x9 in two streams: exact\n", batch);
    return 0;
}
