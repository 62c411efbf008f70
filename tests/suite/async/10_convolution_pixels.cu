// archs: sm_90a sm_100a sm_120a
// A 3×3 convolution, padded by one, whose inputs come as im2col tensor copies: 64 output pixels at a time, for each place
// of the filter the pixels under it, zeros outside the image. Images follow each other within one copy.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int N = 3, H = 9, W = 11, C = 32, K = 8, PIXELS = 64, HALF = C / 2;  // channels in two halves: two copies

__device__ uint32_t smem(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__global__ void convolve(const __grid_constant__ CUtensorMap image, const __half* filter, float* out) {
  __shared__ alignas(128) __half tile[2][PIXELS][HALF];
  __shared__ alignas(8) uint64_t bar;
  const int pixel = blockIdx.x * PIXELS;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(&bar)));
    asm volatile("fence.proxy.async.shared::cta;");
  }
  __syncthreads();
  float sum[K] = {};
  for (int place = 0; place < 9; place++) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(&bar)), "r"(int(sizeof tile)));
      for (int half = 0; half < 2; half++)  // The first pixel's own place, less the padding; then where the filter is.
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], "
            "{%7, %8};" ::"r"(smem(tile[half])),
            "l"(&image), "r"(half * HALF), "r"(pixel % W - 1), "r"(pixel / W % H - 1), "r"(pixel / (W * H)), "r"(smem(&bar)),
            "h"(uint16_t(place % 3)), "h"(uint16_t(place / 3))
            : "memory");
    }
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(smem(&bar)), "r"(place & 1)
        : "memory");
    for (int c = 0; c < C; c++) {
      float x = __half2float(tile[c / HALF][threadIdx.x][c % HALF]);
      for (int k = 0; k < K; k++) sum[k] += x * __half2float(filter[(k * 9 + place) * C + c]);
    }
    __syncthreads();
  }
  if (pixel + threadIdx.x < N * H * W)
    for (int k = 0; k < K; k++) out[(pixel + threadIdx.x) * K + k] = sum[k];
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const int*,
                            const int*, cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

int main() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &entry, 12000, cudaEnableDefault, &found) || !entry) return 2;
  std::vector<__half> image(N * H * W * C), filter(K * 9 * C);
  // Small whole numbers: every sum is exact, whatever its order.
  for (size_t i = 0; i < image.size(); i++) image[i] = __half(float(int(uint32_t(i) * 2654435761u >> 28) - 8));
  for (size_t i = 0; i < filter.size(); i++) filter[i] = __half(float(int(uint32_t(i) * 40503u >> 5 & 7) - 3));
  __half *di, *df;
  float* dout;
  cudaMalloc(&di, image.size() * 2), cudaMalloc(&df, filter.size() * 2), cudaMalloc(&dout, N * H * W * K * 4);
  cudaMemcpy(di, image.data(), image.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(df, filter.data(), filter.size() * 2, cudaMemcpyHostToDevice);
  CUtensorMap map;
  cuuint64_t extent[] = {C, W, H, N}, stride[] = {C * 2, W * C * 2, H * W * C * 2};
  int lower[] = {-1, -1}, upper[] = {-1, -1};
  cuuint32_t step[] = {1, 1, 1, 1};
  CUresult r = reinterpret_cast<Encode>(entry)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, di, extent, stride, lower, upper, HALF, PIXELS, step,
                                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r) return printf("the map: error %d\n", int(r)), 2;
  convolve<<<(N * H * W + PIXELS - 1) / PIXELS, PIXELS>>>(map, df, dout);
  std::vector<float> out(N * H * W * K);
  if (cudaError_t e = cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int p = 0; p < N * H * W; p++)
    for (int k = 0; k < K; k++) {
      float want = 0;
      for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) {
          int h = p / W % H + y - 1, w = p % W + x - 1;
          if (h < 0 || h >= H || w < 0 || w >= W) continue;
          for (int c = 0; c < C; c++)
            want += __half2float(image[((p / (W * H) * H + h) * W + w) * C + c]) * __half2float(filter[(k * 9 + y * 3 + x) * C + c]);
        }
      if (out[p * K + k] != want) return printf("pixel %d, filter %d: %g, expected %g\n", p, k, out[p * K + k], want), 1;
    }
  printf("a convolution of %d images: exact\n", N);
}
