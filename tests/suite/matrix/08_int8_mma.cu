// Quantized inference: int8 weights and activations, int32 sums on tensor cores (m16n8k32), a scale for each output
// channel, and back to int8 with rounding and saturation.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Problem {
  int m, n, k;
  const int8_t *x, *w;
  const float* scale;
  int8_t* y;
};

__global__ void int8_linear(Problem p) {
  int lane = threadIdx.x, warp = threadIdx.y;
  int row = blockIdx.y * 16 + lane / 4, col = (blockIdx.x * blockDim.y + warp) * 8;
  int acc[4] = {0, 0, 0, 0};
  for (int k = lane % 4 * 4; k < p.k; k += 32) {
    auto at = [](const int8_t* q) { return *(const int*)q; };
    int a0 = at(p.x + row * p.k + k), a1 = at(p.x + (row + 8) * p.k + k);
    int a2 = at(p.x + row * p.k + k + 16), a3 = at(p.x + (row + 8) * p.k + k + 16);
    int b0 = at(p.w + (col + lane / 4) * p.k + k), b1 = at(p.w + (col + lane / 4) * p.k + k + 16);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int i = 0; i < 4; i++) {
    int r = row + i / 2 * 8, c = col + lane % 4 * 2 + i % 2;
    int q = __float2int_rn(float(acc[i]) * p.scale[c]);
    p.y[r * p.n + c] = (int8_t)max(-128, min(127, q));
  }
}

template <class T>
T* upload(const std::vector<T>& v) {
  T* d;
  cudaMalloc(&d, v.size() * sizeof(T));
  cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  const int m = 64, n = 64, k = 128;
  std::vector<int8_t> x(m * k), w(n * k), y(m * n);
  std::vector<float> scale(n);
  uint32_t s = 1;
  auto rnd = [&] { return s = s * 747796405u + 2891336453u, int8_t(s >> 24); };
  for (auto& v : x) v = rnd();
  for (auto& v : w) v = rnd();
  for (int i = 0; i < n; i++) scale[i] = 0.0003f + 0.00001f * i;
  Problem p{m, n, k, upload(x), upload(w), upload(scale), upload(y)};
  int8_linear<<<dim3(n / 32, m / 16), dim3(32, 4)>>>(p);
  cudaMemcpy(y.data(), p.y, y.size(), cudaMemcpyDeviceToHost);
  int clipped = 0;
  for (int i = 0; i < m * n; i++) {
    int sum = 0;
    for (int j = 0; j < k; j++) sum += int(x[i / n * k + j]) * w[i % n * k + j];
    long q = std::lrint(float(sum) * scale[i % n]);
    clipped += q > 127 || q < -128;
    q = q > 127 ? 127 : q < -128 ? -128 : q;
    if (y[i] != q) return printf("y[%d][%d] = %d, expected %ld\n", i / n, i % n, y[i], q), 1;
  }
  printf("int8 linear layer: exact, %d of %d saturated\n", clipped, m * n);
  return clipped > 0 ? 0 : 1;
}
