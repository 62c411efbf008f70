// archs: sm_90a
// The smallest wgmma: one warpgroup, m64n8k16, both matrices in shared memory as 8 x 16-byte core matrices without a
// swizzle. Whole numbers, so sums are exact.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>

__device__ uint64_t descriptor(const void* p, uint32_t leading, uint32_t stride) {
  uint64_t address = __cvta_generic_to_shared(p);
  return (address & 0x3ffff) >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32;
}

__global__ void one_tile(const __half* a, const __half* b, float* d) {
  __shared__ __align__(128) __half sa[64 * 16], sb[8 * 16];
  // Element (row, k) of a matrix with R rows: core matrix (row / 8, k / 8), those along K R * 16 bytes apart.
  for (int i = threadIdx.x; i < 64 * 16; i += 128) sa[i % 16 / 8 * 512 + i / 16 * 8 + i % 8] = a[i];
  for (int i = threadIdx.x; i < 8 * 16; i += 128) sb[i % 16 / 8 * 64 + i / 16 * 8 + i % 8] = b[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float c[4] = {100, 200, 300, 400};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "l"(descriptor(sa, 1024, 128)), "l"(descriptor(sb, 128, 128)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  d[row * 8 + column] = c[0], d[row * 8 + column + 1] = c[1];
  d[(row + 8) * 8 + column] = c[2], d[(row + 8) * 8 + column + 1] = c[3];
}

int main() {
  __half a[64 * 16], b[8 * 16], *da, *db;
  float d[64 * 8], *dd;
  for (int i = 0; i < 64 * 16; i++) a[i] = float(i * 7 % 31 - 15);
  for (int i = 0; i < 8 * 16; i++) b[i] = float(i * 5 % 17 - 8);
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&dd, sizeof d);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyDefault), cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault);
  one_tile<<<1, 128>>>(da, db, dd);
  if (cudaError_t error = cudaMemcpy(d, dd, sizeof d, cudaMemcpyDefault)) return puts(cudaGetErrorString(error)), 1;
  for (int row = 0; row < 64; row++)
    for (int column = 0; column < 8; column++) {
      float sum = 100 * (1 + column % 2 + row / 8 % 2 * 2);
      for (int k = 0; k < 16; k++) sum += float(a[row * 16 + k]) * float(b[column * 16 + k]);
      if (d[row * 8 + column] != sum) return printf("(%d, %d): %g, not %g\n", row, column, d[row * 8 + column], sum), 1;
    }
  puts("one tile: right");
}
