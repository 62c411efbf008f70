// archs: sm_90a
// 3xTF32: an f32 is the sum of two tf32 numbers and a rest, so three products of tf32 give nearly an f32 product:
// A·B = big·big + big·small + small·big. Tensor cores cut off the lowest 13 bits by themselves.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int M = 64, N = 8, K = 32;

// Rows of 128 bytes with the 128-byte swizzle.
__device__ uint64_t describe(const float* p, int step) {
  uint64_t address = __cvta_generic_to_shared(p) + 32 * step;
  return (address & 0x3ffff) >> 4 | uint64_t(1024 >> 4) << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[4], const float* a, const float* b, int step) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(describe(a, step)), "l"(describe(b, step)));
}

__global__ void products(const float* a, const float* b, float* once, float* thrice) {
  __shared__ __align__(1024) float big_a[M * K], small_a[M * K], big_b[N * K], small_b[N * K];
  auto split = [](float x, float& big, float& small) {
    big = __uint_as_float(__float_as_uint(x) & 0xffffe000);
    small = x - big;
  };
  for (int i = threadIdx.x; i < M * K; i += 128) {
    int row = i / K, at = row * K + (i % K / 4 ^ row % 8) * 4 + i % 4;
    split(a[i], big_a[at], small_a[at]);
    if (row < N) split(b[i], big_b[at], small_b[at]);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {}, e[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int step = 0; step < K / 8; step++) {
    multiply(d, big_a, big_b, step);
    multiply(e, big_a, small_b, step);
    multiply(e, small_a, big_b, step);
    multiply(e, big_a, big_b, step);
  }
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 4; i++) {
    int at = (row + i / 2 * 8) * N + column + i % 2;
    once[at] = d[i], thrice[at] = e[i];
  }
}

int main() {
  static float a[M * K], b[N * K], once[M * N], thrice[M * N];
  for (int i = 0; i < M * K; i++) a[i] = std::sin(i * 0.37f);
  for (int i = 0; i < N * K; i++) b[i] = std::cos(i * 0.73f);
  float *da, *db, *d1, *d3;
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&d1, sizeof once), cudaMalloc(&d3, sizeof thrice);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyDefault), cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault);
  products<<<1, 128>>>(da, db, d1, d3);
  cudaMemcpy(once, d1, sizeof once, cudaMemcpyDefault);
  if (cudaMemcpy(thrice, d3, sizeof thrice, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  double worst1 = 0, worst3 = 0;
  for (int i = 0; i < M * N; i++) {
    double sum = 0;
    for (int k = 0; k < K; k++) sum += double(a[i / N * K + k]) * b[i % N * K + k];
    worst1 = std::fmax(worst1, std::fabs(once[i] - sum));
    worst3 = std::fmax(worst3, std::fabs(thrice[i] - sum));
  }
  if (worst1 > 0.05 || worst3 > 2e-5 || worst3 * 20 > worst1) return printf("errors %g and %g\n", worst1, worst3), 1;
  puts("3xTF32: right");
}
