// archs: sm_100a
// mxf8f6f4: A in E4M3, B in E2M1 that takes a byte for itself in every sixteen's eight bytes of padding, one UE8M0 scale for 32 of K. Four
// steps of K share a word of scales: the instruction descriptor says which byte. No swizzle: core matrices of 8 rows x 16 bytes.
#include <cuda_fp8.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 128, N = 64, K = 128, CHUNKS = K / 16 };

// Row r, chunk c of 16 bytes: chunks of one core matrix column lie ROWS * 16 bytes apart, groups of 8 rows 128.
#define AT(rows, r, c) ((c) * (rows) * 16 + (r) * 16)

__device__ uint32_t s32(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ uint64_t desc(uint32_t at, int rows) {
  return (uint64_t)(at >> 4) | (uint64_t)rows << 16 | (uint64_t)(128 >> 4) << 32 | 1ull << 46;
}

__global__ void mixed(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, float* d) {
  __shared__ __align__(128) uint8_t sa[M * K], sb[N * K], sf[1024];
  __shared__ __align__(8) uint64_t bar;
  __shared__ uint32_t tmem;
  for (int i = threadIdx.x; i < M * K; i += blockDim.x) sa[AT(M, i / K, i % K / 16) + i % 16] = a[i];
  // Two codes to a byte, eight bytes of sixteen.
  for (int i = threadIdx.x; i < N * K / 2; i += blockDim.x) sb[AT(N, i / (K / 2), i % (K / 2) / 8) + i % 8] = b[i];
  // Block j of row i: byte 16 * (i % 32) + 4 * (i / 32) + j.
  for (int i = threadIdx.x; i < 512; i += blockDim.x) {
    int row = i / 16 + i % 16 / 4 * 32, block = i % 4;
    sf[i] = sfa[row * 4 + block];
    sf[512 + i] = row < N ? sfb[row * 4 + block] : 0;
  }
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(s32(&tmem)));
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(s32(&bar)));
  }
  asm volatile("fence.proxy.async.shared::cta;");
  __syncthreads();
  uint32_t t = tmem, scales = t + N;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++)
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(scales + 4 * i), "l"(desc(s32(sf + 512 * i), 8)));
    for (uint32_t k = 0; k < K / 32; k++) {
      uint32_t id = k << 4 | 0u << 7 | 5u << 10 | N / 8 << 17 | 1u << 23 | 1u << 27 | k << 29;
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %6, 0;\n"
                   "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(t),
                   "l"(desc(s32(sa) + AT(M, 0, 2 * k), M)), "l"(desc(s32(sb) + AT(N, 0, 2 * k), N)), "r"(id), "r"(scales),
                   "r"(scales + 4), "r"(k));
    }
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(s32(&bar)) : "memory");
  }
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra L; }" ::"r"(s32(&bar)) : "memory");
  // Sixteen rows at a time, as the fragments of mma are.
  for (int half = 0; half < 2; half++)
    for (int n = 0; n < N; n += 8) {
      float x[4];
      uint32_t from = t + (threadIdx.x / 32 * 32 + half * 16 << 16) + n;
      asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0, %1, %2, %3}, [%4];\ntcgen05.wait::ld.sync.aligned;"
                   : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
                   : "r"(from));
      int row = threadIdx.x / 32 * 32 + half * 16 + threadIdx.x % 32 / 4, col = n + threadIdx.x % 4 * 2;
      for (int i = 0; i < 4; i++) d[(row + i / 2 * 8) * N + col + i % 2] = x[i];
    }
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(t));
}

int main() {
  uint8_t *a, *b, *sfa, *sfb;
  float* d;
  cudaMallocManaged(&a, M * K);
  cudaMallocManaged(&b, N * K / 2);
  cudaMallocManaged(&sfa, M * 4);
  cudaMallocManaged(&sfb, N * 4);
  cudaMallocManaged(&d, M * N * sizeof(float));
  srand(11);
  for (int i = 0; i < M * K; i++) a[i] = __nv_fp8_e4m3(float(rand() % 15 - 7)).__x;
  for (int i = 0; i < N * K / 2; i++) b[i] = rand() >> 5;
  for (int i = 0; i < M * 4; i++) sfa[i] = 125 + rand() % 5;
  for (int i = 0; i < N * 4; i++) sfb[i] = 125 + rand() % 5;
  mixed<<<1, 128>>>(a, b, sfa, sfb, d);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  const float fp4[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double want = 0;
      for (int k = 0; k < K; k++) {
        __nv_fp8_e4m3 x;
        x.__x = a[i * K + k];
        int c = b[(j * K + k) / 2] >> k % 2 * 4 & 15;
        want += ldexp(float(x) * (c & 8 ? -fp4[c & 7] : fp4[c & 7]), sfa[i * 4 + k / 32] + sfb[j * 4 + k / 32] - 254);
      }
      if (d[i * N + j] != want) return printf("d(%d, %d): %g, expected %g\n", i, j, d[i * N + j], want), 1;
    }
  puts("E4M3 by E2M1 with block scales: every sum is exact");
}
