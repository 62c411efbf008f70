// archs: sm_120a
// NVFP4: sixteen codes share an E4M3 scale (scale_vec::4X), and a float scales the whole tensor. Scales come in the
// 128x4 layout in which cuBLAS wants them, so the kernel's indexing is the interesting part.
#include <cuda_fp8.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define M 128
#define N 16
#define K 128

__host__ __device__ inline int swizzled(int row, int block) {   // one tile of 128 rows by 4 blocks is 512 bytes
  return (block / 4) * 512 + (row % 32) * 16 + (row / 32) * 4 + block % 4;
}

__global__ void nvf4_gemm(const uint32_t* a, const uint32_t* b, const uint8_t* sfa, const uint8_t* sfb, float alpha, float* d) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane >> 2, in = lane & 3;
  const int row = blockIdx.x * 64 + warp * 16 + quad;
  for (int col = 0; col < N; col += 8) {
    float x = 0, y = 0, z = 0, w = 0;
    #pragma unroll
    for (int k = 0; k < K; k += 64) {
      const uint32_t* pa = a + (row * K + k) / 8 + in;
      const uint32_t* pb = b + ((col + quad) * K + k) / 8 + in;
      uint32_t sa = *(const uint32_t*)(sfa + swizzled(row + (lane % 2) * 8, k / 16));
      uint32_t sb = *(const uint32_t*)(sfb + swizzled(col + quad, k / 16));
      asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3\n\t"
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {%12, %12}, %11, {%12, %12};"
                   : "+f"(x), "+f"(y), "+f"(z), "+f"(w)
                   : "r"(pa[0]), "r"(pa[8 * K / 8]), "r"(pa[4]), "r"(pa[8 * K / 8 + 4]), "r"(pb[0]), "r"(pb[4]), "r"(sa), "r"(sb),
                     "n"(0));
    }
    float* out = d + row * N + col + in * 2;
    out[0] = alpha * x;
    out[1] = alpha * y;
    out[8 * N] = alpha * z;
    out[8 * N + 1] = alpha * w;
  }
}

static float code(uint8_t c) {
  const float t[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return c & 8 ? -t[c & 7] : t[c & 7];
}

int main() {
  uint8_t *a, *b, *sfa, *sfb;
  float* d;
  cudaMallocManaged(&a, M * K / 2);
  cudaMallocManaged(&b, N * K / 2);
  cudaMallocManaged(&sfa, 512 * (K / 64));
  cudaMallocManaged(&sfb, 512 * (K / 64));
  cudaMallocManaged(&d, M * N * 4);
  srand(42);
  for (int i = 0; i < M * K / 2; i++) a[i] = rand() >> 7;
  for (int i = 0; i < N * K / 2; i++) b[i] = rand() >> 7;
  // 1, 1.125, 1.25 ... 4: with three bits of mantissa times three bits everything is a multiple of 1/256.
  for (int i = 0; i < 512 * (K / 64); i++) sfa[i] = __nv_fp8_e4m3(1 + (rand() >> 5) % 8 * 0.125f).__x;
  for (int i = 0; i < 512 * (K / 64); i++) sfb[i] = __nv_fp8_e4m3(float(1 << (rand() >> 5) % 3)).__x;
  const float alpha = 0.25f;
  nvf4_gemm<<<M / 64, 128>>>((uint32_t*)a, (uint32_t*)b, sfa, sfb, alpha, d);
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double want = 0;
      for (int k = 0; k < K; k++) {
        __nv_fp8_e4m3 x, y;
        x.__x = sfa[swizzled(i, k / 16)];
        y.__x = sfb[swizzled(j, k / 16)];
        double p = code(a[(i * K + k) / 2] >> (k % 2 * 4) & 15) * (double)(float)x;
        want += p * code(b[(j * K + k) / 2] >> (k % 2 * 4) & 15) * (double)(float)y;
      }
      if (d[i * N + j] != (float)(alpha * want)) {
        printf("d[%d][%d] = %.8g, expected %.8g\n", i, j, d[i * N + j], alpha * want);
        return 1;
      }
    }
  puts("nvfp4 product with swizzled scales: exact");
  return 0;
}
