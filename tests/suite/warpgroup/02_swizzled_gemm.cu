// archs: sm_90a
// An HGEMM of CTA tiles of 64 x 64 x 64: threads store rows of 128 bytes with the 128-byte swizzle, then four wgmmas step
// along K inside one atom by adding 32 bytes to the descriptors' starts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_fp16.h>

namespace {
constexpr int M = 128, N = 192, K = 256;

__device__ uint64_t sw128(uint32_t address) {
  return uint64_t(address & 0x3ffff) >> 4 | 1ull << 16 | uint64_t(1024 >> 4) << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(add));
}

// A is M x K, B is N x K, both with K innermost.
__global__ void __launch_bounds__(128) gemm(const __half* a, const __half* b, float* c) {
  __shared__ __align__(1024) uint4 sa[64 * 8], sb[64 * 8];
  int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
  uint32_t pa = __cvta_generic_to_shared(sa), pb = __cvta_generic_to_shared(sb);
  float d[32];
  for (int k0 = 0; k0 < K; k0 += 64) {
    for (int i = threadIdx.x; i < 64 * 8; i += 128) {
      int row = i / 8, chunk = i % 8, to = row * 8 + (chunk ^ row % 8);
      sa[to] = *reinterpret_cast<const uint4*>(a + (m0 + row) * K + k0 + chunk * 8);
      sb[to] = *reinterpret_cast<const uint4*>(b + (n0 + row) * K + k0 + chunk * 8);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; k++) multiply(d, sw128(pa + 32 * k), sw128(pb + 32 * k), k0 + k > 0);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  int row = m0 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  for (int i = 0; i < 32; i++)
    c[(row + i / 2 % 2 * 8) * N + n0 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
}
}  // namespace

int main() {
  std::vector<__half> a(M * K), b(N * K);
  std::vector<float> c(M * N);
  srand(1);
  for (auto& x : a) x = float(rand() % 9 - 4);
  for (auto& x : b) x = float(rand() % 9 - 4) / 4;
  __half *da, *db;
  float* dc;
  cudaMalloc(&da, a.size() * 2), cudaMalloc(&db, b.size() * 2), cudaMalloc(&dc, c.size() * 4);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyDefault);
  cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyDefault);
  gemm<<<dim3(N / 64, M / 64), 128>>>(da, db, dc);
  if (cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += float(a[i * K + k]) * float(b[j * K + k]);
      if (c[i * N + j] != sum) return printf("(%d, %d): %g, not %g\n", i, j, c[i * N + j], sum), 1;
    }
  puts("swizzled gemm: right");
}
