// archs: sm_100a
// The smallest tcgen05 GEMM: one CTA, one 128 x 64 tile of D in tensor memory, A and B in shared memory as rows of
// 128 bytes, swizzled by hand. One thread multiplies, stepping 32 bytes along K inside the rows; all four warps read the sums
// out, a column of 32 lanes at a time. Small integers: every sum is exact.
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>

constexpr int M = 128, N = 64, K = 64;

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

// K-major, 128-byte swizzle: eight rows are an atom of 1024 bytes.
__device__ uint64_t descriptor(uint32_t address) {
  return (uint64_t)(address >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 46 | 2ull << 61;
}

__device__ void fill(__half* tile, const __half* from, int rows) {
  for (int i = threadIdx.x; i < rows * K; i += blockDim.x) {
    int row = i / K, byte = i % K * 2;
    tile[(row * 128 + (byte ^ row % 8 * 16)) / 2] = from[i];
  }
}

__global__ void gemm(const __half* a, const __half* b, float* d) {
  __shared__ alignas(1024) __half sa[M * K];
  __shared__ alignas(1024) __half sb[N * K];
  __shared__ alignas(8) uint64_t done;
  __shared__ uint32_t column;
  fill(sa, a, M);
  fill(sb, b, N);
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&column)), "n"(N));
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&done)));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;");
  const uint32_t sums = column;
  if (threadIdx.x == 0) {
    const uint32_t what = 1u << 4 | (N / 8) << 17 | (M / 16) << 24;   // f16 by f16 into f32
    for (int k = 0; k < K / 16; k++)
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(sums),
                   "l"(descriptor(shared_address(sa) + 32 * k)), "l"(descriptor(shared_address(sb) + 32 * k)), "r"(what), "r"(k));
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&done)) : "memory");
  }
  asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra AGAIN; }" ::"r"(shared_address(&done))
               : "memory");
  asm volatile("tcgen05.fence::after_thread_sync;");
  for (int n = 0; n < N; n += 4) {
    float x[4];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
                 : "r"(sums + (threadIdx.x / 32 << 21) + n));
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    for (int i = 0; i < 4; i++) d[threadIdx.x * N + n + i] = x[i];
  }
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(sums), "n"(N));
}

int main() {
  __half *a, *b;
  float* d;
  cudaMallocManaged(&a, M * K * 2);
  cudaMallocManaged(&b, N * K * 2);
  cudaMallocManaged(&d, M * N * 4);
  for (int i = 0; i < M * K; i++) a[i] = __float2half(float(i * 7 % 11 - 5));
  for (int i = 0; i < N * K; i++) b[i] = __float2half(float(i * 5 % 13 - 6));
  gemm<<<1, 128>>>(a, b, d);
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int m = 0; m < M; m++)
    for (int n = 0; n < N; n++) {
      float want = 0;
      for (int k = 0; k < K; k++) want += __half2float(a[m * K + k]) * __half2float(b[n * K + k]);
      if (d[m * N + n] != want) return printf("(%d, %d) is %g, not %g\n", m, n, d[m * N + n], want), 1;
    }
  printf("%d x %d sums of %d products through tensor memory\n", M, N, K);
}
