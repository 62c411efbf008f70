// archs: sm_90a
// Mixed types: A is int8 in global memory, made f16 in registers on the way (wgmma takes A from registers), B is f16 in
// shared memory. Eight steps along K are in flight at once, waited for in the end.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>

constexpr int M = 64, N = 16, K = 128;

__device__ uint32_t pair(const int8_t* p) {
  __half2 two = __halves2half2(__int2half_rn(p[0]), __int2half_rn(p[1]));
  return *reinterpret_cast<uint32_t*>(&two);
}

__global__ void mixed(const int8_t* a, const __half* b, float* d) {
  __shared__ __align__(256) __half sb[N * K];
  // Rows of 32 bytes with the 32-byte swizzle, a block of N rows for each 16 of K.
  for (int i = threadIdx.x; i < N * K; i += blockDim.x) {
    int n = i / K, k = i % K, byte = k / 16 * N * 32 + n * 32 + k % 16 * 2;
    sb[(byte ^ (byte >> 7 & 1) << 4) / 2] = b[i];
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
  uint32_t fragment[K / 16][4];
  for (int step = 0; step < K / 16; step++)
    for (int i = 0; i < 4; i++)
      fragment[step][i] = pair(a + (warp * 16 + g + i % 2 * 8) * K + step * 16 + i / 2 * 8 + q * 2);
  float c[8] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int step = 0; step < K / 16; step++) {
    uint64_t address = __cvta_generic_to_shared(sb) + step * N * 32;
    uint64_t desc = (address & 0x3ffff) >> 4 | uint64_t(256 >> 4) << 32 | 3ull << 62;
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, 1, 1, 1, 0;"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
        : "r"(fragment[step][0]), "r"(fragment[step][1]), "r"(fragment[step][2]), "r"(fragment[step][3]), "l"(desc));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 8; i++) d[(warp * 16 + g + i / 2 % 2 * 8) * N + i / 4 * 8 + q * 2 + i % 2] = c[i];
}

int main() {
  static int8_t a[M * K];
  static __half b[N * K];
  static float d[M * N];
  for (int i = 0; i < M * K; i++) a[i] = int8_t(i * 37 + i / 128);
  for (int i = 0; i < N * K; i++) b[i] = float(i * 13 % 33 - 16) / 8;
  int8_t* da;
  __half* db;
  float* dd;
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&dd, sizeof d);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyDefault), cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault);
  mixed<<<1, 128>>>(da, db, dd);
  if (cudaMemcpy(d, dd, sizeof d, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  for (int i = 0; i < M * N; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += a[i / N * K + k] * float(b[i % N * K + k]);
    if (d[i] != sum) return printf("element %d is %g, not %g\n", i, d[i], sum), 1;
  }
  puts("int8 times f16: right");
}
