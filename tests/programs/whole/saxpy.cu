// A program as a book on CUDA begins with: managed memory, events, a check of the result, printf on both sides.
// Its arguments: how many elements, and with a second one the bounds check is left out.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void saxpy(int n, float a, const float* x, float* y, bool careless) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) printf("the kernel says hello\n");
  if (careless || i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; i++) {
    x[i] = i;
    y[i] = 1;
  }
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y, argc > 2);
  cudaEventRecord(stop);
  cudaError_t error = cudaDeviceSynchronize();
  float worst = 0;
  for (int i = 0; i < n; i++) worst = max(worst, abs(y[i] - (2.0f * i + 1)));
  printf("%d elements: %s, worst difference %g\n", n, cudaGetErrorString(error), worst);
  return error == cudaSuccess && worst == 0 ? 0 : 7;
}
