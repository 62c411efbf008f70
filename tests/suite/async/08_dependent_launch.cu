// archs: sm_90a sm_100a sm_120a
// Programmatic dependent launch: the second kernel may start early, sets itself up, and waits for the first one's memory
// with griddepcontrol.wait.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void first(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;");
  if (i < n) data[i] = i * i;
}

__global__ void second(const int* data, int* out, int n, int seed) {
  __shared__ int table[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) table[i] = i * seed;  // needs nothing of the first
  __syncthreads();
  cudaGridDependencySynchronize();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = data[i] + table[i % 64];
}

int main() {
  int n = 5000, *data, *out, seed = 9;
  cudaMallocManaged(&data, n * sizeof(int));
  cudaMallocManaged(&out, n * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  first<<<(n + 127) / 128, 128, 0, stream>>>(data, n);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((n + 127) / 128);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaError_t e = cudaLaunchKernelEx(&config, second, (const int*)data, out, n, seed);
  if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
  if (e != cudaSuccess) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int i = 0; i < n; i++)
    if (out[i] != i * i + i % 64 * seed) return printf("out[%d] = %d, expected %d\n", i, out[i], i * i + i % 64 * seed), 1;
  puts("programmatic dependent launch: exact");
  return 0;
}
