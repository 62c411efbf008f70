// archs: sm_90a
// Tensor copies with the 128-byte swizzle into three stages, one wgmma group under way while the next tile arrives. Sums are
// f16, two to a register. The last tile along K is half outside the tensors: there the copies fill in zeros.
#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int M = 64, N = 64, K = 288, PITCH = K, TILES = (K + 63) / 64, STAGES = 3, BYTES = 64 * 64 * 2;

__device__ uint32_t smem(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void load(void* to, const CUtensorMap* map, int k, int row, uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(to)),
      "l"(map), "r"(k), "r"(row), "r"(smem(bar))
      : "memory");
}

__global__ void gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, uint32_t* out) {
  extern __shared__ __align__(1024) char tiles[];
  __shared__ alignas(8) uint64_t full[STAGES];
  if (threadIdx.x == 0) {
    for (auto& bar : full) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(&bar)));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  auto start = [&](int tile) {
    if (threadIdx.x != 0 || tile >= TILES) return;
    uint64_t* bar = full + tile % STAGES;
    char* to = tiles + tile % STAGES * 2 * BYTES;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(bar)), "r"(2 * BYTES) : "memory");
    load(to, &a, tile * 64, 0, bar);
    load(to + BYTES, &b, tile * 64, 0, bar);
  };
  for (int tile = 0; tile < STAGES - 1; tile++) start(tile);
  uint32_t d[16];
  for (auto& pair : d) pair = 0;
  for (int tile = 0; tile < TILES; tile++) {
    uint32_t bar = smem(full + tile % STAGES);
    asm volatile(
        "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(bar),
        "r"(tile / STAGES % 2)
        : "memory");
    uint32_t from = smem(tiles) + tile % STAGES * 2 * BYTES;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; k++) {
      auto describe = [](uint32_t at) { return uint64_t(at & 0x3ffff) >> 4 | uint64_t(1024 >> 4) << 32 | 1ull << 62; };
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
          "%16, %17, 1, 1, 1, 0, 0;"
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
            "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
          : "l"(describe(from + 32 * k)), "l"(describe(from + BYTES + 32 * k)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    // The product before this one is done in all warps: its stage is free.
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    __syncthreads();
    start(tile + STAGES - 1);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  for (int i = 0; i < 16; i++) out[(row + i % 2 * 8) * N / 2 + i / 2 * 4 + threadIdx.x % 4] = d[i];
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

int main() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) || !entry) return 2;
  std::vector<__half> a(M * PITCH), b(N * PITCH), out(M * N);
  for (int i = 0; i < M * K; i++) a[i] = float(i * 7 % 5 - 2);
  for (int i = 0; i < N * K; i++) b[i] = float(i * 3 % 7 - 3);
  __half *da, *db;
  uint32_t* dout;
  cudaMalloc(&da, a.size() * 2), cudaMalloc(&db, b.size() * 2), cudaMalloc(&dout, out.size() * 2);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyDefault), cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyDefault);
  CUtensorMap maps[2];
  for (int i = 0; i < 2; i++) {
    cuuint64_t extent[2] = {K, 64}, stride[1] = {PITCH * 2};
    cuuint32_t box[2] = {64, 64}, element[2] = {1, 1};
    auto encode = reinterpret_cast<Encode>(entry);
    if (encode(&maps[i], CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, i ? db : da, extent, stride, box, element,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
      return 3;
  }
  cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * 2 * BYTES);
  gemm<<<1, 128, STAGES * 2 * BYTES>>>(maps[0], maps[1], dout);
  if (cudaMemcpy(out.data(), dout, out.size() * 2, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += float(a[i * K + k]) * float(b[j * K + k]);
      if (float(out[i * N + j]) != sum) return printf("(%d, %d): %g, not %g\n", i, j, float(out[i * N + j]), sum), 1;
    }
  puts("TMA pipeline: right");
}
