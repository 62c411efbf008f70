// archs: sm_100a
// Two CTAs, one product: with .cta_group::2 each brings half of A's rows and half of B's columns, one thread multiplies for both,
// and commit tells an mbarrier in each. bf16, 256 x 128, rows of 64 bytes.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kRows = 256, kColumns = 128, kDepth = 32;

__device__ std::uint32_t address(const void* p) { return static_cast<std::uint32_t>(__cvta_generic_to_shared(p)); }

__device__ std::uint64_t describe(std::uint32_t at) {   // K-major, 64-byte swizzle
  return std::uint64_t{(at & 0x3ffff) >> 4} | std::uint64_t{512 >> 4} << 32 | std::uint64_t{1} << 46 | std::uint64_t{4} << 61;
}

__global__ void __cluster_dims__(2, 1, 1) multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* d) {
  __shared__ alignas(512) __nv_bfloat16 tile_a[kRows / 2 * kDepth];
  __shared__ alignas(512) __nv_bfloat16 tile_b[kColumns / 2 * kDepth];
  __shared__ alignas(8) std::uint64_t barrier;
  __shared__ std::uint32_t where;
  const auto cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  auto swizzle = [](int i) { return i ^ (i * 2 >> 7 & 3) << 3; };
  for (int i = threadIdx.x; i < kRows / 2 * kDepth; i += blockDim.x) tile_a[swizzle(i)] = a[rank * kRows / 2 * kDepth + i];
  for (int i = threadIdx.x; i < kColumns / 2 * kDepth; i += blockDim.x) tile_b[swizzle(i)] = b[rank * kColumns / 2 * kDepth + i];
  if (threadIdx.x / 32 == 1) {
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(address(&where)));
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
  }
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&barrier)));
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) {
    const std::uint32_t what = 1u << 4 | 1u << 7 | 1u << 10 | kColumns / 8u << 17 | kRows / 16u << 24;
    for (std::uint32_t k = 0; k < kDepth / 16; ++k)
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(where),
                   "l"(describe(address(tile_a) + 32 * k)), "l"(describe(address(tile_b) + 32 * k)), "r"(what), "r"(k));
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                     address(&barrier)),
                 "h"(std::uint16_t{3})
                 : "memory");
  }
  asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra WAIT; }" ::"r"(address(&barrier))
               : "memory");
  float* row = d + (rank * kRows / 2 + threadIdx.x) * kColumns;
  for (int n = 0; n < kColumns; n += 2) {
    asm volatile("{ .reg .b32 x, y; tcgen05.ld.sync.aligned.32x32b.x2.b32 {x, y}, [%0]; tcgen05.wait::ld.sync.aligned;\n\t"
                 "st.global.v2.b32 [%1], {x, y}; }" ::"r"(where + (threadIdx.x / 32 << 21) + n),
                 "l"(row + n)
                 : "memory");
  }
  cluster.sync();
  if (threadIdx.x / 32 == 1) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 128;" ::"r"(where));
}

int main() {
  std::vector<float> a(kRows * kDepth), b(kColumns * kDepth);
  __nv_bfloat16 *da, *db;
  float* d;
  cudaMallocManaged(&da, a.size() * 2);
  cudaMallocManaged(&db, b.size() * 2);
  cudaMallocManaged(&d, kRows * kColumns * sizeof(float));
  for (std::size_t i = 0; i < a.size(); ++i) da[i] = __float2bfloat16(a[i] = static_cast<float>(i * 31 % 17) - 8);
  for (std::size_t i = 0; i < b.size(); ++i) db[i] = __float2bfloat16(b[i] = static_cast<float>(i * 29 % 19) - 9);
  multiply<<<2, 128>>>(da, db, d);
  if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 2;
  }
  for (int m = 0; m < kRows; ++m)
    for (int n = 0; n < kColumns; ++n) {
      float want = 0;
      for (int k = 0; k < kDepth; ++k) want += a[m * kDepth + k] * b[n * kDepth + k];
      if (d[m * kColumns + n] != want) {
        std::printf("d[%d][%d] = %g, expected %g\n", m, n, d[m * kColumns + n], want);
        return 1;
      }
    }
  std::printf("a pair of CTAs made %d x %d sums\n", kRows, kColumns);
}
