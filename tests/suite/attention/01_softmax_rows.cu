// Softmax of rows, a block for each: maximum, sum of exponentials, division. expf and the sums' order differ from the
// host's, so the bound is relative: 4 ulp of expf (documented: 2 on the GPU, under 1 on the host), n additions of which
// each thread does n / 128 and seven more, one division.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <vector>

__inline__ __device__ float warpReduceMax(float val) {
  for (int mask = 16; mask > 0; mask >>= 1) val = fmaxf(val, __shfl_xor_sync(0xffffffff, val, mask, 32));
  return val;
}
__inline__ __device__ float warpReduceSum(float val) {
  for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask, 32);
  return val;
}

__global__ void softmax(const float* in, float* out, int cols) {
  __shared__ float shared[32];
  const float* x = in + blockIdx.x * cols;
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  float m = -FLT_MAX;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, x[i]);
  m = warpReduceMax(m);
  if (lane == 0) shared[wid] = m;
  __syncthreads();
  m = shared[0];
  for (int w = 1; w < blockDim.x / 32; w++) m = fmaxf(m, shared[w]);
  __syncthreads();
  float s = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += expf(x[i] - m);
  s = warpReduceSum(s);
  if (lane == 0) shared[wid] = s;
  __syncthreads();
  s = 0.f;
  for (int w = 0; w < blockDim.x / 32; w++) s += shared[w];
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[blockIdx.x * cols + i] = expf(x[i] - m) / s;
}

int main() {
  const int rows = 9, cols = 777;
  std::vector<float> x(rows * cols), y(rows * cols);
  for (int i = 0; i < rows * cols; i++) x[i] = 10 * std::sin(i * 1.7f) * (i / cols) + (i / cols == 5 ? 1e4f : 0.f);
  x[3 * cols + 1] = -INFINITY;
  float *dx, *dy;
  cudaMalloc(&dx, x.size() * 4), cudaMalloc(&dy, y.size() * 4);
  cudaMemcpy(dx, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
  softmax<<<rows, 128>>>(dx, dy, cols);
  if (cudaMemcpy(y.data(), dy, y.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int r = 0; r < rows; r++) {
    double m = -INFINITY, s = 0;
    for (int c = 0; c < cols; c++) m = std::fmax(m, x[r * cols + c]);
    for (int c = 0; c < cols; c++) s += std::exp(x[r * cols + c] - m);
    for (int c = 0; c < cols; c++) {
      // The subtraction in float is exact to half an ulp of the difference, up to 2e2 * 2^-24 in the exponent.
      double want = std::exp(x[r * cols + c] - m) / s;
      double bound = want * (24 + std::fmin(m - x[r * cols + c], 200)) * 0x1p-23 + 0x1p-126;
      if (!(std::fabs(y[r * cols + c] - want) <= bound)) {
        printf("row %d, column %d: %.9g, expected %.9g\n", r, c, y[r * cols + c], want);
        return 1;
      }
    }
  }
  printf("softmax of %d rows: within rounding\n", rows);
}
