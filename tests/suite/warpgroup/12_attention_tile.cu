// archs: sm_90a
// One tile of attention, FlashAttention-3's way: S = Q·Kᵀ by wgmma, softmax on the fragments, and P·V with P straight from the
// registers that hold S: two f32 columns of a fragment of D are a word of a fragment of A. V lies with its head dimension
// innermost, so B of the second product is N-major.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_fp16.h>

constexpr int ROWS = 64, KEYS = 64, DIM = 64;

__device__ uint64_t sw128(const void* p, int offset) {
  uint64_t address = __cvta_generic_to_shared(p) + offset;
  return (address & 0x3ffff) >> 4 | uint64_t(1024 >> 4) << 32 | 1ull << 62;
}

#define LIST                                                                                                             \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS(d) FOUR(d, 0), FOUR(d, 4), FOUR(d, 8), FOUR(d, 12), FOUR(d, 16), FOUR(d, 20), FOUR(d, 24), FOUR(d, 28)

__global__ void attention(const __half* q, const __half* k, const __half* v, float* out) {
  __shared__ __align__(1024) uint4 sq[ROWS * 8], sk[KEYS * 8], sv[KEYS * 8];
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    int to = i / 8 * 8 + (i % 8 ^ i / 8 % 8);
    sq[to] = reinterpret_cast<const uint4*>(q)[i];
    sk[to] = reinterpret_cast<const uint4*>(k)[i];
    sv[to] = reinterpret_cast<const uint4*>(v)[i];
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float s[32], o[32];
  for (int i = 0; i < 32; i++) s[i] = o[i] = 0;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int step = 0; step < DIM / 16; step++)
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " LIST ", %32, %33, 1, 1, 1, 0, 0;"
                 : SUMS(s)
                 : "l"(sw128(sq, 32 * step)), "l"(sw128(sk, 32 * step)));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  // A row is in four lanes, its elements 4·j + 2·h and the next.
  uint32_t p[16];
  float total[2];
  for (int h = 0; h < 2; h++) {
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < 32; i++)
      if (i / 2 % 2 == h) most = fmaxf(most, s[i]);
    for (int lane = 1; lane < 4; lane *= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, lane));
    for (int i = 0; i < 32; i++)
      if (i / 2 % 2 == h) s[i] = __half2float(__float2half(exp2f((s[i] - most) * 0.125f * 1.4426950f))), sum += s[i];
    for (int lane = 1; lane < 4; lane *= 2) sum += __shfl_xor_sync(~0u, sum, lane);
    total[h] = sum;
  }
  for (int i = 0; i < 16; i++) {
    __half2 two = __floats2half2_rn(s[2 * i], s[2 * i + 1]);
    p[i] = *reinterpret_cast<uint32_t*>(&two);
  }
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int step = 0; step < KEYS / 16; step++)
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " LIST ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
                 : SUMS(o)
                 : "r"(p[4 * step]), "r"(p[4 * step + 1]), "r"(p[4 * step + 2]), "r"(p[4 * step + 3]),
                   "l"(sw128(sv, 2048 * step)));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  for (int i = 0; i < 32; i++)
    out[(row + i / 2 % 2 * 8) * DIM + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = o[i] / total[i / 2 % 2];
}

int main() {
  std::vector<__half> q(64 * 64), k(64 * 64), v(64 * 64);
  std::vector<float> out(64 * 64);
  for (int i = 0; i < 64 * 64; i++) {
    q[i] = std::sin(i * 0.7f);
    k[i] = std::cos(i * 0.3f);
    v[i] = std::sin(i * 0.11f + 1);
  }
  __half *dq, *dk, *dv;
  float* dout;
  cudaMalloc(&dq, 8192), cudaMalloc(&dk, 8192), cudaMalloc(&dv, 8192), cudaMalloc(&dout, 16384);
  cudaMemcpy(dq, q.data(), 8192, cudaMemcpyDefault), cudaMemcpy(dk, k.data(), 8192, cudaMemcpyDefault);
  cudaMemcpy(dv, v.data(), 8192, cudaMemcpyDefault);
  attention<<<1, 128>>>(dq, dk, dv, dout);
  if (cudaMemcpy(out.data(), dout, 16384, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  for (int i = 0; i < 64; i++) {
    double weight[64], most = -1e30, total = 0;
    for (int j = 0; j < 64; j++) {
      weight[j] = 0;
      for (int d = 0; d < 64; d++) weight[j] += double(float(q[i * 64 + d])) * float(k[j * 64 + d]);
      most = std::fmax(most, weight[j]);
    }
    for (double& w : weight) total += w = std::exp((w - most) / 8);
    for (int d = 0; d < 64; d++) {
      double sum = 0;
      for (int j = 0; j < 64; j++) sum += weight[j] * float(v[j * 64 + d]);
      if (std::fabs(out[i * 64 + d] - sum / total) > 1e-3)
        return printf("(%d, %d): %g, not %g\n", i, d, out[i * 64 + d], sum / total), 1;
    }
  }
  puts("attention: right");
}
