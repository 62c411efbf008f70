// archs: sm_90a
/* Both operands lie the other way: A is K x M, B is K x N, rows along M and N in atoms of 64 bytes. The instruction
 * turns them (imm-trans-a, imm-trans-b); no thread transposes anything. */
#include <cuda_bf16.h>
#include <stdint.h>
#include <stdio.h>

enum { M = 64, N = 32, K = 16 };

/* Element (k, x) of a matrix whose rows of `width` elements are cut into atoms of 32 elements by 8 k. */
static __device__ int place(int k, int x, int width)
{
    int atom = x / 32 * 512 + k / 8 * (width / 32 * 512);
    int byte = atom + k % 8 * 64 + x % 32 * 2;
    return byte ^ (byte >> 7 & 3) << 4;
}

static __device__ uint64_t describe(const void *p, int width)
{
    uint64_t address = (uint64_t)__cvta_generic_to_shared(p) & 0x3ffff;
    uint64_t leading = 512, stride = width / 32 * 512;
    return address >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 2ull << 62;
}

__global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *out)
{
    __shared__ __align__(1024) char sa[K * M * 2];
    __shared__ __align__(1024) char sb[K * N * 2];
    for (int i = threadIdx.x; i < K * M; i += blockDim.x) *(__nv_bfloat16 *)(sa + place(i / M, i % M, M)) = a[i];
    for (int i = threadIdx.x; i < K * N; i += blockDim.x) *(__nv_bfloat16 *)(sb + place(i / N, i % N, N)) = b[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[16];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{ .reg .pred none; setp.ne.u32 none, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, none, 1, -1, 1, 1; }"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]),
                   "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15])
                 : "l"(describe(sa, M)), "l"(describe(sb, N)));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 16; i++) {
        int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
        out[row * N + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
    }
}

int main(void)
{
    static __nv_bfloat16 a[K * M], b[K * N];
    static float d[M * N];
    for (int i = 0; i < K * M; i++) a[i] = (float)(i * 11 % 29 - 14);
    for (int i = 0; i < K * N; i++) b[i] = (float)(i * 3 % 23 - 11);
    __nv_bfloat16 *da, *db;
    float *dd;
    cudaMalloc((void **)&da, sizeof a);
    cudaMalloc((void **)&db, sizeof b);
    cudaMalloc((void **)&dd, sizeof d);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    product<<<1, 128>>>(da, db, dd);
    if (cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum -= (float)a[k * M + i] * (float)b[k * N + j];
            if (d[i * N + j] != sum) {
                printf("(%d, %d) is %g, not %g\n", i, j, d[i * N + j], sum);
                return 1;
            }
        }
    printf("transposed bf16: right\n");
    return 0;
}
