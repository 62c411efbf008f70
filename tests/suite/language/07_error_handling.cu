// What the runtime says about mistakes that are none of a kernel's: codes, names, sticky or not, and that work goes on. The codes
// of wrong launches are those of a card (H200, driver 580, CUDA 13.0); the manual would have cudaErrorInvalidConfiguration.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>

__global__ void nothing() {}
__global__ void __launch_bounds__(64) small(int* p) { p[threadIdx.x] = threadIdx.x; }

static int failures = 0;
static void expect(const char* what, cudaError_t got, cudaError_t want) {
  if (got == want) return;
  printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
  failures++;
}

int main() {
  int* p = nullptr;
  nothing<<<1, 1025>>>();
  expect("a block of 1025", cudaGetLastError(), cudaErrorInvalidValue);
  expect("it was taken away", cudaGetLastError(), cudaSuccess);
  nothing<<<0, 32>>>();
  expect("an empty grid", cudaPeekAtLastError(), cudaErrorInvalidValue);
  expect("peeking leaves it", cudaGetLastError(), cudaErrorInvalidValue);
  nothing<<<1, 1, 1 << 20>>>();
  expect("a MiB of shared memory", cudaGetLastError(), cudaErrorInvalidValue);
  expect("malloc of nearly everything", cudaMalloc(&p, size_t(1) << 60), cudaErrorMemoryAllocation);
  cudaGetLastError();
  expect("copy to nowhere", cudaMemcpy(nullptr, &p, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaGetLastError();
  expect("a wrong direction", cudaMemcpy(&p, &p, 8, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
  int count = 0;
  expect("devices", cudaGetDeviceCount(&count), cudaSuccess);
  expect("a device too many", cudaSetDevice(count), cudaErrorInvalidDevice);
  cudaGetLastError();
  expect("malloc", cudaMalloc(&p, 256), cudaSuccess);
  small<<<1, 65>>>(p);
  if (cudaGetLastError() == cudaSuccess) puts("more threads than launch bounds"), failures++;  // the code is not documented
  cudaEvent_t a, b;
  float ms;
  cudaEventCreate(&a), cudaEventCreate(&b);
  expect("events not recorded", cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  cudaEventRecord(a);
  small<<<1, 64>>>(p);
  cudaEventRecord(b);
  expect("the good launch", cudaEventSynchronize(b), cudaSuccess);
  expect("and its time", cudaEventElapsedTime(&ms, a, b), cudaSuccess);
  int h[64];
  expect("copy back", cudaMemcpy(h, p, 256, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < 64; i++)
    if (h[i] != i) return printf("h[%d] = %d\n", i, h[i]), 1;
  expect("free", cudaFree(p), cudaSuccess);
  expect("free of null", cudaFree(nullptr), cudaSuccess);
  cudaPointerAttributes at;
  expect("attributes of host memory", cudaPointerGetAttributes(&at, h), cudaSuccess);
  if (at.type != cudaMemoryTypeUnregistered) return printf("type %d\n", at.type), 1;
  if (strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument")) return printf("%s\n", cudaGetErrorString(cudaErrorInvalidValue)), 1;
  if (failures) return 1;
  puts("errors as the runtime documents them");
  return 0;
}
