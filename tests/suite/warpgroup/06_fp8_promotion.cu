// archs: sm_90a
// FP8 as DeepGEMM does it: Hopper's sums of e4m3 keep 13 bits of fraction, so every 128 of K are added up by themselves and
// promoted to f32 by an ordinary addition. All products here are 1 + 2^-6 at most in magnitude; a sum of 2048 of them in
// the tensor core alone loses the small part, and the program shows that it does.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_fp8.h>

constexpr int M = 64, N = 8, K = 2048;

__device__ void multiply(float (&d)[4], const uint8_t* sa, const uint8_t* sb, int step, bool add) {
  // Without a swizzle: core matrices of 8 rows by 16 bytes, those of one K step together.
  auto describe = [](const uint8_t* p, uint32_t leading) {
    uint64_t address = __cvta_generic_to_shared(p);
    return (address & 0x3ffff) >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(128 >> 4) << 32;
  };
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0,%1,%2,%3}, %4, %5, p, 1, 1; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(describe(sa + step * M * 32, M * 16)), "l"(describe(sb + step * N * 32, N * 16)), "r"(int(add)));
}

__global__ void sums(const uint8_t* a, const uint8_t* b, float* promoted, float* alone) {
  __shared__ __align__(128) uint8_t sa[M * 128], sb[N * 128];
  float total[4] = {}, all[4] = {};
  for (int k0 = 0; k0 < K; k0 += 128) {
    for (int i = threadIdx.x; i < M * 128; i += 128) {
      int row = i / 128, k = i % 128;
      sa[k / 32 * M * 32 + k % 32 / 16 * M * 16 + row * 16 + k % 16] = a[row * K + k0 + k];
      if (row < N) sb[k / 32 * N * 32 + k % 32 / 16 * N * 16 + row * 16 + k % 16] = b[row * K + k0 + k];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float part[4];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int step = 0; step < 4; step++) multiply(part, sa, sb, step, step > 0);
    for (int step = 0; step < 4; step++) multiply(all, sa, sb, step, true);
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) total[i] += part[i];
    __syncthreads();
  }
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 4; i++) {
    int at = (row + i / 2 * 8) * N + column + i % 2;
    promoted[at] = total[i], alone[at] = all[i];
  }
}

int main() {
  std::vector<uint8_t> a(M * K), b(N * K);
  std::vector<float> promoted(M * N), alone(M * N);
  auto code = [](float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); };
  auto value = [](uint8_t x) { return __half2float(__half(__nv_cvt_fp8_to_halfraw(x, __NV_E4M3))); };
  for (int i = 0; i < M * K; i++) a[i] = code(1 + (i * 7 % 3) / 8.0f);
  for (int i = 0; i < N * K; i++) b[i] = code(1 + (i * 5 % 4) / 8.0f);
  uint8_t *da, *db;
  float *dp, *dl;
  cudaMalloc(&da, a.size()), cudaMalloc(&db, b.size()), cudaMalloc(&dp, M * N * 4), cudaMalloc(&dl, M * N * 4);
  cudaMemcpy(da, a.data(), a.size(), cudaMemcpyDefault), cudaMemcpy(db, b.data(), b.size(), cudaMemcpyDefault);
  sums<<<1, 128>>>(da, db, dp, dl);
  cudaMemcpy(promoted.data(), dp, M * N * 4, cudaMemcpyDefault);
  if (cudaMemcpy(alone.data(), dl, M * N * 4, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  int lost = 0;
  for (int i = 0; i < M * N; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += value(a[i / N * K + k]) * value(b[i % N * K + k]);
    // Four steps of at most 48: less than a quarter of a unit is cut off in each.
    if (promoted[i] > sum || promoted[i] < sum - 16 * 4 * 0.25f)
      return printf("element %d is %g, not about %g\n", i, promoted[i], sum), 1;
    lost += alone[i] < sum - 16;
  }
  if (lost < M * N / 2) return printf("only %d sums lost what 13 bits cannot hold\n", lost), 1;
  puts("FP8 with promotion: right");
}
