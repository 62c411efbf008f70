// archs: sm_100a
// NVFP4 as Blackwell's data centre parts multiply it: packed E2M1 in swizzled rows, a UE4M3 scale for sixteen of them. Scales lie
// in 512-byte blocks of 128 rows by 4, which is what tcgen05.cp .warpx4 moves into four columns for all four warps; mma then
// takes one column's word for 64 of K.
#include <cuda_fp8.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 128
#define DEPTH 256                       // four blocks of scales, one row of 128 bytes
#define STEPS (DEPTH / 64)

typedef unsigned char byte;

static __host__ __device__ int scale_at(int row, int block) { return block / 4 * 512 + row % 32 * 16 + row / 32 * 4 + block % 4; }

__device__ unsigned smem(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ uint64_t rows_of_128(unsigned at) { return (at >> 4) | 64ull << 32 | 1ull << 46 | 2ull << 61; }
__device__ uint64_t core_matrices(unsigned at) { return (at >> 4) | 8ull << 32 | 1ull << 46; }

__global__ void __launch_bounds__(128) nvfp4(const byte* a, const byte* b, const byte* sfa, const byte* sfb, float* d) {
  extern __shared__ __align__(1024) byte s[];
  byte *sa = s, *sb = s + ROWS * 128, *scales = sb + ROWS * 128;
  __shared__ __align__(8) uint64_t bar;
  __shared__ unsigned base;
  const int t = threadIdx.x;
  for (int i = t; i < ROWS * 128; i += 128) {
    int to = i ^ (i >> 7 & 7) << 4;
    sa[to] = a[i];
    sb[to] = b[i];
  }
  for (int i = t; i < 512 * STEPS; i += 128) scales[i] = sfa[i], scales[i + 512 * STEPS] = sfb[i];
  if (t < 32) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(smem(&base)));
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(&bar)));
  asm volatile("fence.proxy.async.shared::cta;");
  __syncthreads();
  const unsigned sums = base, of_a = base + 128, of_b = of_a + 4 * STEPS;
  if (t == 0) {
    for (int i = 0; i < STEPS; i++) {
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(of_a + 4 * i), "l"(core_matrices(smem(scales + 512 * i))));
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(of_b + 4 * i),
                   "l"(core_matrices(smem(scales + 512 * (STEPS + i)))));
    }
    const unsigned what = 1 << 7 | 1 << 10 | ROWS / 8 << 17 | 1 << 27;   // 128 x 128, UE4M3
    for (int i = 0; i < STEPS; i++)
      asm volatile(
          "{ .reg .pred p; setp.gt.s32 p, %6, 0;\n\t"
          "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(sums),
          "l"(rows_of_128(smem(sa) + 32 * i)), "l"(rows_of_128(smem(sb) + 32 * i)), "r"(what), "r"(of_a + 4 * i), "r"(of_b + 4 * i),
          "r"(i));
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"l"(&bar) : "memory");
  }
  unsigned ready = 0;
  while (!ready)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ready)
                 : "r"(smem(&bar))
                 : "memory");
  for (int n = 0; n < ROWS; n += 8) {
    float x[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]), "=f"(x[5]), "=f"(x[6]), "=f"(x[7])
                 : "r"(sums + (t / 32 << 21) + n));
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    for (int i = 0; i < 8; i++) d[t * ROWS + n + i] = x[i];
  }
  __syncthreads();
  if (t < 32) {
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" ::"r"(base));
  }
}

static double value(int code) {
  static const double magnitude[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -magnitude[code & 7] : magnitude[code & 7];
}

int main() {
  byte *a, *b, *sfa, *sfb;
  float* d;
  cudaMallocManaged(&a, ROWS * DEPTH / 2);
  cudaMallocManaged(&b, ROWS * DEPTH / 2);
  cudaMallocManaged(&sfa, ROWS * DEPTH / 16);
  cudaMallocManaged(&sfb, ROWS * DEPTH / 16);
  cudaMallocManaged(&d, ROWS * ROWS * 4);
  srand(4);
  for (int i = 0; i < ROWS * DEPTH / 2; i++) a[i] = rand() >> 6, b[i] = rand() >> 6;
  // From 0.5 to 2.75 by 1/4: sums stay multiples of 1/64 below 2^17.
  for (int i = 0; i < ROWS * DEPTH / 16; i++) {
    sfa[i] = __nv_fp8_e4m3(0.5f + (rand() >> 6) % 10 * 0.25f).__x;
    sfb[i] = __nv_fp8_e4m3(0.5f + (rand() >> 6) % 10 * 0.25f).__x;
  }
  const int shared = 2 * ROWS * 128 + 1024 * STEPS;
  nvfp4<<<1, 128, shared>>>(a, b, sfa, sfb, d);
  if (cudaDeviceSynchronize() != cudaSuccess) return printf("%s\n", cudaGetErrorString(cudaGetLastError())), 2;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < ROWS; j++) {
      double want = 0;
      for (int k = 0; k < DEPTH; k++) {
        __nv_fp8_e4m3 x, y;
        x.__x = sfa[scale_at(i, k / 16)];
        y.__x = sfb[scale_at(j, k / 16)];
        int p = a[(i * DEPTH + k) / 2] >> k % 2 * 4 & 15, q = b[(j * DEPTH + k) / 2] >> k % 2 * 4 & 15;
        want += value(p) * value(q) * (double)float(x) * (double)float(y);
      }
      if (d[i * ROWS + j] != want) return printf("row %d, column %d: %g instead of %g\n", i, j, d[i * ROWS + j], want), 1;
    }
  return printf("NVFP4 %d x %d x %d is exact\n", ROWS, ROWS, DEPTH), 0;
}
