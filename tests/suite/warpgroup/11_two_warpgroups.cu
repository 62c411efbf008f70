// archs: sm_90a
// Warp specialisation: one warpgroup gives its registers away and one thread of it copies tiles (cp.async.bulk, four stages of
// mbarriers); two others take the registers and multiply, each 64 of 128 rows, with one group of products always under way.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_fp16.h>

namespace {
constexpr int M = 128, N = 32, K = 512, STAGES = 4, STEP = 64, TILES = K / STEP;
constexpr int A_BYTES = M * STEP * 2, B_BYTES = N * STEP * 2;

__device__ uint32_t shared(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(bar)), "r"(count));
}
__device__ void expect(uint64_t* bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(bar)), "r"(bytes) : "memory");
}
__device__ void arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(bar)) : "memory");
}
__device__ void wait(uint64_t* bar, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
          shared(bar)),
      "r"(parity)
      : "memory");
}
__device__ void copy(void* to, const void* from, int bytes, uint64_t* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)),
               "l"(from), "r"(bytes), "r"(shared(bar))
               : "memory");
}

__device__ void multiply(float (&d)[16], uint32_t a, uint32_t b) {
  // Core matrices: 8 rows of 16 bytes; eight of them along K are one block of 8 rows.
  auto describe = [](uint32_t p) {
    return uint64_t(p & 0x3ffff) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(1024 >> 4) << 32;
  };
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, "
      "%17, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
      : "l"(describe(a)), "l"(describe(b)));
}

__global__ void __launch_bounds__(384, 1) gemm(const __half* a, const __half* b, float* c) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) init(full + s, 1), init(empty + s, 2);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0)
      for (int tile = 0; tile < TILES; tile++) {
        int s = tile % STAGES;
        wait(empty + s, tile / STAGES % 2 ^ 1);
        char* to = memory + s * (A_BYTES + B_BYTES);
        expect(full + s, A_BYTES + B_BYTES);
        copy(to, a + tile * M * STEP, A_BYTES, full + s);
        copy(to + A_BYTES, b + tile * N * STEP, B_BYTES, full + s);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 152;");
  float d[16] = {};
  for (int tile = 0; tile < TILES; tile++) {
    int s = tile % STAGES;
    wait(full + s, tile / STAGES % 2);
    uint32_t pa = shared(memory) + s * (A_BYTES + B_BYTES) + (group - 1) * 64 * STEP * 2;
    uint32_t pb = shared(memory) + s * (A_BYTES + B_BYTES) + A_BYTES;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < STEP / 16; k++) multiply(d, pa + 256 * k, pb + 256 * k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    // The tile before this one has been read: its stage may be filled again.
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (tile > 0 && threadIdx.x % 128 == 0) arrive(empty + (tile - 1) % STAGES);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = (group - 1) * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  for (int i = 0; i < 16; i++)
    c[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
}
}  // namespace

int main() {
  std::vector<__half> a(M * K), b(N * K);
  std::vector<float> c(M * N);
  auto x = [](int i, int k) { return float((i * 7 + k * 3) % 19 - 9); };
  auto y = [](int j, int k) { return float((j * 5 + k * 11) % 23 - 11); };
  // Tiles of 64 along K, one after the other, in core matrices.
  auto place = [](int rows, int row, int k) {
    return k / 64 * rows * 64 + row / 8 * 512 + k % 64 / 8 * 64 + row % 8 * 8 + k % 8;
  };
  for (int k = 0; k < K; k++) {
    for (int i = 0; i < M; i++) a[place(M, i, k)] = x(i, k);
    for (int j = 0; j < N; j++) b[place(N, j, k)] = y(j, k);
  }
  __half *da, *db;
  float* dc;
  cudaMalloc(&da, a.size() * 2), cudaMalloc(&db, b.size() * 2), cudaMalloc(&dc, c.size() * 4);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyDefault), cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyDefault);
  int bytes = STAGES * (A_BYTES + B_BYTES);
  cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  gemm<<<1, 384, bytes>>>(da, db, dc);
  if (cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += x(i, k) * y(j, k);
      if (c[i * N + j] != sum) return printf("(%d, %d): %g, not %g\n", i, j, c[i * N + j], sum), 1;
    }
  puts("two warpgroups: right");
}
