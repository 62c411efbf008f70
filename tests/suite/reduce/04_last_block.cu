// idiom: the last block to finish adds up what all the others left in global memory, after __threadfence
#include <cstdio>
#include <vector>

__device__ unsigned int count = 0;

__global__ void sum(const float* data, unsigned n, volatile float* partial, float* result) {
  __shared__ float cache[128];
  __shared__ bool isLastBlockDone;
  float v = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += data[i];
  cache[threadIdx.x] = v;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = cache[0];
    __threadfence();
    unsigned int value = atomicInc(&count, gridDim.x);
    isLastBlockDone = value == gridDim.x - 1;
  }
  __syncthreads();
  if (isLastBlockDone) {
    float total = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) total += partial[i];
    cache[threadIdx.x] = total;
    for (int half = 64; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
      *result = cache[0];
      count = 0;  // for the next launch
    }
  }
}

int main() {
  const unsigned n = 30000, blocks = 37;
  std::vector<float> h(n);
  double want = 0;
  for (unsigned i = 0; i < n; i++) want += h[i] = float(i % 32);  // all sums below 2^24: exact
  float *data, *partial, *result, got;
  cudaMalloc(&data, n * 4), cudaMalloc(&partial, blocks * 4), cudaMalloc(&result, 4);
  cudaMemcpy(data, h.data(), n * 4, cudaMemcpyHostToDevice);
  for (int round = 0; round < 3; round++) {
    cudaMemset(result, 0xff, 4);
    sum<<<blocks, 128>>>(data, n, partial, result);
    cudaMemcpy(&got, result, 4, cudaMemcpyDeviceToHost);
    if (got != want) return printf("round %d: %g, expected %g\n", round, got, want), 1;
  }
  unsigned left;
  cudaMemcpyFromSymbol(&left, count, sizeof left);
  if (left) return printf("the counter is left at %u\n", left), 1;
  printf("single-pass sum of %u: %g\n", n, got);
}
