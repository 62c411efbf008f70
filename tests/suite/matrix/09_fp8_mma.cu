// archs: sm_90a sm_100a sm_120a
// E4M3 activations, E5M2 gradients: mma.m16n8k32 with the conversions of cuda_fp8.h on the host. Small multiples of
// powers of two, so that the sums are exact on every generation of tensor cores.
#include <cuda_fp8.h>
#include <stdint.h>
#include <stdio.h>

enum { M = 32, N = 16, K = 96 };

__global__ void fp8_gemm(const __nv_fp8_e4m3* A, const __nv_fp8_e5m2* B, float* D)
{
    unsigned g = threadIdx.x >> 2, t = threadIdx.x & 3;
    const uint32_t* a = (const uint32_t*)(A + (blockIdx.y * 16 + g) * K) + t;
    const uint32_t* b = (const uint32_t*)(B + (blockIdx.x * 8 + g) * K) + t;
    float d[4] = {0.f, 0.f, 0.f, 0.f};
    for (int k = 0; k < K / 4; k += 8) {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[k]), "r"(a[k + 8 * K / 4]), "r"(a[k + 4]), "r"(a[k + 8 * K / 4 + 4]), "r"(b[k]), "r"(b[k + 4]));
    }
    float* out = D + (blockIdx.y * 16 + g) * N + blockIdx.x * 8 + t * 2;
    out[0] = d[0]; out[1] = d[1]; out[8 * N] = d[2]; out[8 * N + 1] = d[3];
}

int main()
{
    __nv_fp8_e4m3* A; __nv_fp8_e5m2* B; float* D;
    cudaMallocHost((void**)&A, M * K);          /* pinned and mapped: the kernel reads it in place */
    cudaMallocHost((void**)&B, N * K);
    cudaMallocHost((void**)&D, M * N * sizeof(float));
    for (int i = 0; i < M * K; i++) A[i] = __nv_fp8_e4m3((float)(i * 7 % 15 - 7) * 0.5f);
    for (int i = 0; i < N * K; i++) B[i] = __nv_fp8_e5m2((float)(i * 5 % 7 - 3) * 0.25f);
    fp8_gemm<<<dim3(N / 8, M / 16), 32>>>(A, B, D);
    if (cudaDeviceSynchronize() != cudaSuccess) { puts("launch failed"); return 2; }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float want = 0;
            for (int k = 0; k < K; k++) want += (float)A[i * K + k] * (float)B[j * K + k];
            if (D[i * N + j] != want) { printf("D(%d,%d) %g instead of %g\n", i, j, D[i * N + j], want); return 1; }
        }
    printf("fp8 e4m3 x e5m2 product: exact\n");
    cudaFreeHost(A); cudaFreeHost(B); cudaFreeHost(D);
    return 0;
}
