// One thread for each element of C = A * B, the first program of every course.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t err = (call);                                                           \
    if (err != cudaSuccess) {                                                           \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));      \
      exit(2);                                                                          \
    }                                                                                   \
  } while (0)

__global__ void matMulKernel(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

int main(void)
{
    const int M = 70, N = 45, K = 33;
    float *h_A = (float *)malloc(M * K * sizeof(float));
    float *h_B = (float *)malloc(K * N * sizeof(float));
    float *h_C = (float *)malloc(M * N * sizeof(float));
    /* small integers: every sum is exact, in any order */
    for (int i = 0; i < M * K; ++i) h_A[i] = (float)(i % 7 - 3);
    for (int i = 0; i < K * N; ++i) h_B[i] = (float)(i % 5 - 2);

    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc((void **)&d_A, M * K * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_B, K * N * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_C, M * N * sizeof(float)));
    CHECK(cudaMemcpy(d_A, h_A, M * K * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, h_B, K * N * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(16, 16);
    dim3 grid((N + block.x - 1) / block.x, (M + block.y - 1) / block.y);
    matMulKernel<<<grid, block>>>(d_A, d_B, d_C, M, N, K);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h_C, d_C, M * N * sizeof(float), cudaMemcpyDeviceToHost));

    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            float expect = 0.0f;
            for (int k = 0; k < K; ++k) expect += h_A[i * K + k] * h_B[k * N + j];
            if (h_C[i * N + j] != expect) {
                printf("C[%d][%d] = %g, expected %g\n", i, j, h_C[i * N + j], expect);
                return 1;
            }
        }
    }
    cudaFree(d_A); cudaFree(d_B); cudaFree(d_C);
    free(h_A); free(h_B); free(h_C);
    printf("naive matrix product %dx%dx%d: exact\n", M, N, K);
    return 0;
}
