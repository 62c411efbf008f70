// bfloat16 on tensor cores with fragments filled by hand. The sums are not exact: each of the k products is, and a
// tensor core may drop bits below 2^-23 of the largest term in each step of 16 (or 8), so 160 of them stay within
// 160 * 2^-23 of the sum of magnitudes. That is the tolerance; the reference is in double.
#include <cuda_bf16.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  // A row-major m x k, B column-major (n x k in memory); a warp for each 16 x 8 of C.
  const int lane = threadIdx.x, group = lane >> 2, pair = lane & 3;
  const __nv_bfloat16* rows = a + (blockIdx.y * 16 + group) * k + pair * 2;
  const __nv_bfloat16* cols = b + (blockIdx.x * 8 + group) * k + pair * 2;
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  for (int i = 0; i < k; i += 16) {
    const auto word = [](const __nv_bfloat16* p) { return *reinterpret_cast<const uint32_t*>(p); };
    uint32_t a0 = word(rows + i), a1 = word(rows + 8 * k + i), a2 = word(rows + i + 8), a3 = word(rows + 8 * k + i + 8);
    uint32_t b0 = word(cols + i), b1 = word(cols + i + 8);
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  float* out = c + (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + pair * 2;
  out[0] = d0, out[1] = d1;
  out[8 * n] = d2, out[8 * n + 1] = d3;
}

int main() {
  const int m = 48, n = 40, k = 160;
  std::vector<__nv_bfloat16> a(m * k), b(n * k);
  std::vector<float> c(m * n);
  for (int i = 0; i < m * k; i++) a[i] = __float2bfloat16(std::sin(0.37 * i) * 3);
  for (int i = 0; i < n * k; i++) b[i] = __float2bfloat16(std::cos(0.11 * i + 1));
  void *da, *db, *dc;
  cudaMalloc(&da, a.size() * 2), cudaMalloc(&db, b.size() * 2), cudaMalloc(&dc, c.size() * 4);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  product<<<dim3(n / 8, m / 16), 32>>>((__nv_bfloat16*)da, (__nv_bfloat16*)db, (float*)dc, n, k);
  if (cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  double worst = 0;
  for (int i = 0; i < m * n; i++) {
    double want = 0, size = 0;
    for (int l = 0; l < k; l++) {
      double term = double(__bfloat162float(a[i / n * k + l])) * __bfloat162float(b[i % n * k + l]);
      want += term, size += std::fabs(term);
    }
    double off = std::fabs(c[i] - want) / size;
    if (!(off <= k * 0x1p-23)) {
      printf("C(%d, %d) = %.9g, not %.9g\n", i / n, i % n, c[i], want);
      return 1;
    }
    worst = std::fmax(worst, off);
  }
  printf("bf16 mma: worst error %.1f units of 2^-23\n", worst * 0x1p23);
}
