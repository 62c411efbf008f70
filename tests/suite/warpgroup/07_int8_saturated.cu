// archs: sm_90a
// Quantized layers: u8 activations by s8 weights into s32. The sums begin near the end of their range, so that .satfinite
// clamps some of them; the other kernel lets them wrap.
#include <cstdint>
#include <cstdio>

constexpr int M = 64, N = 24, K = 64;

__device__ uint64_t describe(const void* p, uint32_t leading) {
  uint64_t address = __cvta_generic_to_shared(p);
  return (address & 0x3ffff) >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(128 >> 4) << 32;
}

template <bool CLAMPS>
__global__ void layer(const uint8_t* a, const int8_t* b, const int* bias, int* out) {
  __shared__ __align__(128) uint8_t sa[M * K];
  __shared__ __align__(128) int8_t sb[N * K];
  for (int i = threadIdx.x; i < M * K; i += 128) sa[i % K / 16 * M * 16 + i / K * 16 + i % 16] = a[i];
  for (int i = threadIdx.x; i < N * K; i += 128) sb[i % K / 16 * N * 16 + i / K * 16 + i % 16] = b[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  int d[12];
  for (int i = 0; i < 12; i++) d[i] = bias[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + column + i % 2];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define STEP(FORM, K0)                                                                                                   \
  asm volatile("wgmma.mma_async.sync.aligned.m64n24k32" FORM                                                             \
               " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}, %12, %13, 1;"                                                  \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]),         \
                 "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11])                                                        \
               : "l"(describe(sa + K0 * M, M * 16)), "l"(describe(sb + K0 * N, N * 16)))
  if (CLAMPS) {
    STEP(".satfinite.s32.u8.s8", 0);
    STEP(".satfinite.s32.u8.s8", 32);
  } else {
    STEP(".s32.u8.s8", 0);
    STEP(".s32.u8.s8", 32);
  }
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 12; i++) out[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + column + i % 2] = d[i];
}

int main() {
  static uint8_t a[M * K];
  static int8_t b[N * K];
  static int bias[M * N], out[M * N];
  for (int i = 0; i < M * K; i++) a[i] = uint8_t(i * 91 + i / 7);
  for (int i = 0; i < N * K; i++) b[i] = int8_t(i * 57 + i / 5);
  for (int i = 0; i < M * N; i++) bias[i] = i % 3 == 0 ? 0x7fffffff - i : i % 3 == 1 ? int(0x80000000) + i : i;
  uint8_t* da;
  int8_t* db;
  int *dbias, *dout;
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&dbias, sizeof bias), cudaMalloc(&dout, sizeof out);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyDefault), cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault);
  cudaMemcpy(dbias, bias, sizeof bias, cudaMemcpyDefault);
  for (int clamps = 0; clamps < 2; clamps++) {
    clamps ? layer<true><<<1, 128>>>(da, db, dbias, dout) : layer<false><<<1, 128>>>(da, db, dbias, dout);
    if (cudaMemcpy(out, dout, sizeof out, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
    for (int i = 0; i < M * N; i++) {
      long long sum = bias[i];
      for (int k0 = 0; k0 < K; k0 += 32) {
        for (int k = k0; k < k0 + 32; k++) sum += a[i / N * K + k] * b[i % N * K + k];
        if (clamps) sum = sum > 0x7fffffffll ? 0x7fffffffll : sum < -0x80000000ll ? -0x80000000ll : sum;
      }
      if (out[i] != int(sum)) return printf("clamps %d, element %d: %d, not %d\n", clamps, i, out[i], int(sum)), 1;
    }
  }
  puts("u8 by s8, wrapped and clamped: right");
}
