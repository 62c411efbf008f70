// idiom: padded reads past a row that stay inside the allocation
// cp.async of 4, 8 and 16 bytes with a source size smaller than the copy: the rest is filled with zeros. The halo of a
// convolution is loaded that way, and the vector loads of the last column read padding that nobody uses.
#include <cuda_pipeline.h>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int W = 61, PITCH = 64, H = 20, TILE = 64;

template <int Bytes>
__device__ void copy(void* to, const void* from, int valid) {
  uint32_t s = __cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(s), "l"(from), "n"(Bytes), "r"(valid) : "memory");
}

__global__ void blur(const float* in, float* out) {
  __shared__ __align__(16) float row[3][TILE + 4];
  const int y = blockIdx.x;
  for (int k = 0; k < 3; k++) {
    int from = y + k - 1;
    bool inside = from >= 0 && from < H;
    // Sixteen bytes a thread; where the row does not exist, none of them is read.
    for (int i = threadIdx.x; i < TILE / 4; i += blockDim.x)
      copy<16>(&row[k][i * 4], in + (inside ? from : 0) * PITCH + i * 4, inside ? min(16, max(0, (W - i * 4) * 4)) : 0);
    if (threadIdx.x == 0) copy<8>(&row[k][TILE], in, 0);
    if (threadIdx.x == 1) copy<4>(&row[k][TILE + 2], in, 0);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int x = threadIdx.x; x < W; x += blockDim.x) {
    float sum = 0;
    for (int k = 0; k < 3; k++) sum += (x > 0 ? row[k][x - 1] : 0.f) + 2 * row[k][x] + row[k][x + 1];
    out[y * PITCH + x] = sum;
  }
  // Four columns at once for a row sum: the last load takes the padding along.
  if (threadIdx.x < 16) {
    float4 v = *reinterpret_cast<const float4*>(in + y * PITCH + threadIdx.x * 4);
    float s = v.x + (threadIdx.x * 4 + 1 < W ? v.y + v.z + v.w : 0.f);
    for (int d = 8; d; d >>= 1) s += __shfl_down_sync(0xffff, s, d);
    if (threadIdx.x == 0) out[y * PITCH + W] = s;
  }
}

int main() {
  std::vector<float> x(H * PITCH), y(H * PITCH);
  for (int i = 0; i < H * PITCH; i++) x[i] = i % PITCH < W ? float(i * 37 % 101) : 1e9f;
  float *dx, *dy;
  cudaMalloc(&dx, x.size() * 4), cudaMalloc(&dy, x.size() * 4);
  cudaMemcpy(dx, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
  blur<<<H, 32>>>(dx, dy);
  if (cudaError_t e = cudaMemcpy(y.data(), dy, y.size() * 4, cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  auto at = [&](int r, int c) { return r >= 0 && r < H && c >= 0 && c < W ? x[r * PITCH + c] : 0.f; };
  for (int r = 0; r < H; r++) {
    float total = 0;
    for (int c = 0; c < W; c++) {
      float want = 0;
      for (int k = -1; k <= 1; k++) want += at(r + k, c - 1) + 2 * at(r + k, c) + at(r + k, c + 1);
      total += x[r * PITCH + c];
      if (y[r * PITCH + c] != want) return printf("(%d, %d): %g, expected %g\n", r, c, y[r * PITCH + c], want), 1;
    }
    if (y[r * PITCH + W] != total) return printf("sum of row %d: %g, expected %g\n", r, y[r * PITCH + W], total), 1;
  }
  puts("cp.async with zero fill: exact");
}
