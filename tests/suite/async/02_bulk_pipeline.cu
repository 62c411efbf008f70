// archs: sm_90a sm_100a sm_120a
// A ring of four stages between one producer warp and four consumer warps: full and empty mbarriers with parities,
// bulk copies that count bytes. The classic skeleton of a Hopper kernel.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace ptx {
__device__ inline uint32_t addr(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void init(uint64_t* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(addr(b)), "r"(n)); }
__device__ inline void expect(uint64_t* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(addr(b)), "r"(bytes) : "memory");
}
__device__ inline void arrive(uint64_t* b) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(addr(b)) : "memory");
}
__device__ inline void wait(uint64_t* b, int parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(ok) : "r"(addr(b)), "r"(parity) : "memory");
  } while (!ok);
}
__device__ inline void bulk(void* to, const void* from, int bytes, uint64_t* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(addr(to)),
               "l"(from), "r"(bytes), "r"(addr(b)) : "memory");
}
}  // namespace ptx

constexpr int STAGES = 4, CHUNK = 256, CONSUMERS = 4;

__global__ void __launch_bounds__(32 * (CONSUMERS + 1)) weighted_sums(const int* in, int chunks, int* out) {
  __shared__ __align__(128) int buffer[STAGES][CHUNK];
  __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) ptx::init(&full[s], 1), ptx::init(&empty[s], CONSUMERS);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int first = blockIdx.x * chunks;
  if (warp == CONSUMERS) {
    if (lane != 0) return;
    for (int i = 0; i < chunks; i++) {
      int s = i % STAGES, round = i / STAGES;
      if (round > 0) ptx::wait(&empty[s], (round - 1) & 1);
      ptx::expect(&full[s], CHUNK * 4);
      ptx::bulk(buffer[s], in + (first + i) * CHUNK, CHUNK * 4, &full[s]);
    }
  } else {
    for (int i = 0; i < chunks; i++) {
      int s = i % STAGES, round = i / STAGES, sum = 0;
      ptx::wait(&full[s], round & 1);
      for (int j = lane + 32 * warp; j < CHUNK; j += 32 * CONSUMERS) sum += buffer[s][j] * (j + 1);
      sum = __reduce_add_sync(~0u, sum);
      if (lane == 0) {
        ptx::arrive(&empty[s]);
        atomicAdd(&out[first + i], sum);
      }
    }
  }
}

int main() {
  const int blocks = 3, chunks = 11, n = blocks * chunks * CHUNK;
  std::vector<int> h(n), got(blocks * chunks);
  for (int i = 0; i < n; i++) h[i] = i * 7 % 1001 - 500;
  int *in, *out;
  cudaMalloc(&in, n * 4), cudaMalloc(&out, got.size() * 4);
  cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, got.size() * 4);
  weighted_sums<<<blocks, 32 * (CONSUMERS + 1)>>>(in, chunks, out);
  if (cudaError_t e = cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int c = 0; c < blocks * chunks; c++) {
    int want = 0;
    for (int j = 0; j < CHUNK; j++) want += h[c * CHUNK + j] * (j + 1);
    if (got[c] != want) return printf("chunk %d: %d, expected %d\n", c, got[c], want), 1;
  }
  printf("bulk copies through a ring of %d stages: exact\n", STAGES);
}
