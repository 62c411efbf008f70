// archs: sm_90a sm_100a sm_120a
// A tensor copy with the 128-byte swizzle, from a matrix whose edge the last boxes overlap, and back with a bulk tensor
// store. The kernel reads the swizzled tile as ldmatrix would, and everything outside must come as zeros. Storing goes on
// to the next multiple of 16 bytes: two columns of the padding get the tile's zeros, plus one.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int ROWS = 100, COLS = 150, PITCH = 160, BOX_R = 32, BOX_C = 64;  // uint16: 128 bytes in a row of the box

__device__ uint32_t smem(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__global__ void copy(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, uint32_t* sums) {
  __shared__ alignas(1024) uint16_t tile[BOX_R * BOX_C];
  __shared__ alignas(8) uint64_t bar;
  const int col = blockIdx.x * BOX_C, row = blockIdx.y * BOX_R;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(&bar)));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(&bar)), "r"(int(sizeof tile)));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(tile)),
        "l"(&from), "r"(col), "r"(row), "r"(smem(&bar))
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again;\n}" ::"r"(smem(&bar))
      : "memory");
  // Element (r, c): sixteen-byte chunk c / 8 lies at chunk (c / 8) ^ (r % 8).
  uint32_t sum = 0;
  for (int i = threadIdx.x; i < BOX_R * BOX_C; i += blockDim.x) {
    int r = i / BOX_C, c = i % BOX_C;
    uint16_t* at = &tile[r * BOX_C + ((c / 8) ^ (r % 8)) * 8 + c % 8];
    sum += *at * uint32_t(r * 64 + c + 1);
    *at += 1;
  }
  atomicAdd(&sums[blockIdx.y * gridDim.x + blockIdx.x], sum);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(col), "r"(row),
                 "r"(smem(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

int main() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) || !entry) return 2;
  auto encode = reinterpret_cast<Encode>(entry);
  std::vector<uint16_t> a(ROWS * PITCH), b(ROWS * PITCH);
  for (int i = 0; i < ROWS * PITCH; i++) a[i] = uint16_t(i * 40503u >> 3);
  uint16_t *da, *db;
  uint32_t* ds;
  const int gx = (COLS + BOX_C - 1) / BOX_C, gy = (ROWS + BOX_R - 1) / BOX_R;
  cudaMalloc(&da, a.size() * 2), cudaMalloc(&db, a.size() * 2), cudaMalloc(&ds, gx * gy * 4);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemset(db, 0xee, a.size() * 2), cudaMemset(ds, 0, gx * gy * 4);
  CUtensorMap from, to;
  cuuint64_t extent[] = {COLS, ROWS}, stride[] = {PITCH * 2};
  cuuint32_t box[] = {BOX_C, BOX_R}, step[] = {1, 1};
  for (auto [map, base] : {std::pair(&from, da), std::pair(&to, db)})
    if (encode(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, base, extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
      return 2;
  copy<<<dim3(gx, gy), 128>>>(from, to, ds);
  if (cudaError_t e = cudaMemcpy(b.data(), db, b.size() * 2, cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  std::vector<uint32_t> sums(gx * gy);
  cudaMemcpy(sums.data(), ds, sums.size() * 4, cudaMemcpyDeviceToHost);
  for (int t = 0; t < gx * gy; t++) {
    uint32_t want = 0;
    for (int r = 0; r < BOX_R; r++)
      for (int c = 0; c < BOX_C; c++) {
        int row = t / gx * BOX_R + r, col = t % gx * BOX_C + c;
        if (row < ROWS && col < COLS) want += a[row * PITCH + col] * uint32_t(r * 64 + c + 1);
      }
    if (sums[t] != want) return printf("box %d: %u, expected %u\n", t, sums[t], want), 1;
  }
  for (int i = 0; i < ROWS * PITCH; i++) {
    uint16_t want = i % PITCH < COLS ? a[i] + 1 : i % PITCH < (COLS + 7) / 8 * 8 ? 1 : 0xeeee;
    if (b[i] != want) return printf("element (%d, %d): %d, expected %d\n", i / PITCH, i % PITCH, b[i], want), 1;
  }
  printf("tensor copies of %d swizzled boxes, there and back: exact\n", gx * gy);
}
