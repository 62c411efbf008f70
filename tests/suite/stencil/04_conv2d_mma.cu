// A 3 x 3 convolution with channels as an implicit matrix product (NHWC, wmma with half), padding by predicates, bias and
// ReLU at the end through shared memory.
#include <mma.h>
#include <cmath>
#include <cstdio>
#include <vector>
using namespace nvcuda::wmma;

constexpr int H = 10, W = 12, C = 16, K = 16;

__global__ void conv(const half* x, const half* w, const float* bias, float* y) {
  __shared__ half patch[16 * C];
  __shared__ float tile[16 * K];
  const int p0 = blockIdx.x * 16;
  fragment<accumulator, 16, 16, 16, float> acc;
  fill_fragment(acc, 0.f);
  for (int t = 0; t < 9; t++) {
    for (int i = threadIdx.x; i < 16 * C; i += 32) {
      int p = p0 + i / C, h = p / W + t / 3 - 1, v = p % W + t % 3 - 1;
      bool in = p < H * W && h >= 0 && h < H && v >= 0 && v < W;
      patch[i] = in ? x[(h * W + v) * C + i % C] : half(0.f);
    }
    __syncwarp();
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    load_matrix_sync(a, patch, C);
    load_matrix_sync(b, w + t * C * K, K);
    mma_sync(acc, a, b, acc);
    __syncwarp();
  }
  store_matrix_sync(tile, acc, K, mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 16 * K; i += 32)
    if (p0 + i / K < H * W) y[p0 * K + i] = fmaxf(tile[i] + bias[i % K], 0.f);
}

int main() {
  std::vector<half> x(H * W * C), w(9 * C * K);
  std::vector<float> bias(K), y(H * W * K);
  for (size_t i = 0; i < x.size(); i++) x[i] = half(float(int(i * 31 % 17) - 8) / 4);
  for (size_t i = 0; i < w.size(); i++) w[i] = half(float(int(i * 13 % 11) - 5) / 8);
  for (int i = 0; i < K; i++) bias[i] = i / 4.f - 2;
  half *dx, *dw;
  float *db, *dy;
  cudaMalloc(&dx, x.size() * 2), cudaMalloc(&dw, w.size() * 2), cudaMalloc(&db, K * 4), cudaMalloc(&dy, y.size() * 4);
  cudaMemcpy(dx, x.data(), x.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(dw, w.data(), w.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(db, bias.data(), K * 4, cudaMemcpyHostToDevice);
  conv<<<(H * W + 15) / 16, 32>>>(dx, dw, db, dy);
  if (cudaMemcpy(y.data(), dy, y.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int p = 0; p < H * W; p++)
    for (int k = 0; k < K; k++) {
      float want = bias[k];  // multiples of 1/32: exact
      for (int t = 0; t < 9; t++) {
        int h = p / W + t / 3 - 1, v = p % W + t % 3 - 1;
        if (h < 0 || h >= H || v < 0 || v >= W) continue;
        for (int c = 0; c < C; c++) want += float(x[(h * W + v) * C + c]) * float(w[(t * C + c) * K + k]);
      }
      want = std::fmax(want, 0.f);
      if (y[p * K + k] != want) return printf("pixel %d, channel %d: %g, expected %g\n", p, k, y[p * K + k], want), 1;
    }
  puts("convolution on tensor cores: exact");
}
