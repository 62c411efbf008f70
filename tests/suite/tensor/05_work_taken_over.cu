// archs: sm_100a
// Cluster launch control: a block that is done asks for a block that has not begun, and does its work, too. How many blocks ever begin
// nobody can say, but every tile is done once. TF32 products of tiles in tensor memory, N-major B.
#include <cstdint>
#include <cstdio>

namespace {

constexpr int kTiles = 24, kM = 64, kN = 32, kK = 8;

__device__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

struct alignas(16) Shared {
  float a[kM * kK];     // rows of 32 bytes, swizzled: eight are an atom of 256
  float b[kN * kK];     // rows of 128 bytes along N, pieces of 32 bytes trade places: four are an atom of 512
};

__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra AGAIN; }" ::"r"(barrier), "r"(parity)
               : "memory");
}

__global__ void products(const float* a, const float* b, float* d, int* begun) {
  __shared__ alignas(1024) Shared tile;
  __shared__ alignas(16) uint4 answer;
  __shared__ alignas(8) uint64_t done, told;
  __shared__ uint32_t where;
  if (threadIdx.x == 0) atomicAdd(begun, 1);
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(at(&where)));
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tmbarrier.init.shared::cta.b64 [%1], 1;" ::"r"(at(&done)), "r"(at(&told)));
  }
  asm volatile("fence.proxy.async.shared::cta;");
  __syncthreads();
  uint32_t parity = 0;
  for (int number = blockIdx.x;; parity ^= 1) {
    for (int i = threadIdx.x; i < kM * kK; i += blockDim.x) tile.a[i ^ (i >> 5 & 1) << 2] = a[number * kM * kK + i];
    for (int i = threadIdx.x; i < kN * kK; i += blockDim.x) tile.b[i ^ (i >> 5 & 3) << 3] = b[number * kN * kK + i];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(at(&told)));
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(at(&answer)),
                   "r"(at(&told))
                   : "memory");
      uint64_t da = at(tile.a) >> 4 | uint64_t(256 >> 4) << 32 | 1ull << 46 | 6ull << 61;
      uint64_t db = at(tile.b) >> 4 | 1ull << 16 | uint64_t(512 >> 4) << 32 | 1ull << 46 | 1ull << 61;
      uint32_t what = 1u << 4 | 2u << 7 | 2u << 10 | 1u << 16 | kN / 8 << 17 | kM / 16 << 24;
      asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::tf32 [%0], %1, %2, %3, p; }" ::"r"(where), "l"(da),
                   "l"(db), "r"(what));
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(&done)) : "memory");
    }
    wait(at(&done), parity);
    // 64 rows are in the lower sixteen lanes of each warp's 32.
    for (int n = 0; n < kN; n++) {
      float x;
      asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\n\ttcgen05.wait::ld.sync.aligned;"
                   : "=f"(x)
                   : "r"(where + (threadIdx.x / 32 << 21) + n));
      if (threadIdx.x % 32 < 16) d[(number * kM + threadIdx.x / 32 * 16 + threadIdx.x % 16) * kN + n] = x;
    }
    wait(at(&told), parity);
    uint32_t more, next;
    asm volatile("{ .reg .pred p; .reg .b128 q; ld.shared.b128 q, [%2];\n\t"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q; selp.u32 %0, 1, 0, p; mov.u32 %1, 0;\n\t"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, q; }"
                 : "=r"(more), "=r"(next)
                 : "r"(at(&answer))
                 : "memory");
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (!more) break;
    number = int(next);
  }
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(where));
}

}  // namespace

int main() {
  float *a, *b, *d;
  int* begun;
  cudaMallocManaged(&a, sizeof(float) * kTiles * kM * kK);
  cudaMallocManaged(&b, sizeof(float) * kTiles * kN * kK);
  cudaMallocManaged(&d, sizeof(float) * kTiles * kM * kN);
  cudaMallocManaged(&begun, sizeof(int));
  *begun = 0;
  for (int i = 0; i < kTiles * kM * kK; i++) a[i] = float(i * 13 % 23 - 11);
  for (int i = 0; i < kTiles * kN * kK; i++) b[i] = float(i * 11 % 29 - 14);
  products<<<kTiles, 128>>>(a, b, d, begun);
  if (cudaDeviceSynchronize() != cudaSuccess) return std::printf("%s\n", cudaGetErrorString(cudaGetLastError())), 2;
  for (int t = 0; t < kTiles; t++)
    for (int m = 0; m < kM; m++)
      for (int n = 0; n < kN; n++) {
        float want = 0;
        // Row k of B is kN numbers.
        for (int k = 0; k < kK; k++) want += a[(t * kM + m) * kK + k] * b[(t * kK + k) * kN + n];
        const float got = d[(t * kM + m) * kN + n];
        if (got != want) return std::printf("tile %d, (%d, %d): %g where %g is right\n", t, m, n, got, want), 1;
      }
  if (*begun < 1 || *begun > kTiles) return std::printf("%d blocks began\n", *begun), 1;
  std::printf("%d tiles, each done once\n", kTiles);
}
