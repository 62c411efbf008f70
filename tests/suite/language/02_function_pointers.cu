// A table of functions in constant memory, pointers taken on the device, and one fetched by the host with
// cudaMemcpyFromSymbol and passed back as an argument.
#include <cstdio>

typedef int (*Binary)(int, int);

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int power(int a, int b) {
  int r = 1;
  for (int i = 0; i < b; i++) r *= a;
  return r;
}

__device__ Binary table[4] = {plus, minus, times, power};
__device__ Binary favourite = times;

__global__ void apply(const int* ops, int* out, Binary extra, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = extra(table[ops[i]](i, i % 7), 3);
}

int main() {
  const int n = 100;
  int *ops, *out;
  cudaMallocManaged(&ops, n * sizeof(int));
  cudaMallocManaged(&out, n * sizeof(int));
  for (int i = 0; i < n; i++) ops[i] = i * 5 % 4;
  Binary f;
  if (cudaMemcpyFromSymbol(&f, favourite, sizeof f) != cudaSuccess) return 2;
  apply<<<4, 32>>>(ops, out, f, n);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int i = 0; i < n; i++) {
    int b = i % 7, v = ops[i] == 0 ? i + b : ops[i] == 1 ? i - b : i * b;
    if (ops[i] == 3) {
      unsigned p = 1;
      for (int j = 0; j < b; j++) p *= unsigned(i);
      v = int(p);
    }
    v = int(unsigned(v) * 3u);
    if (out[i] != v) return printf("out[%d] = %d, expected %d\n", i, out[i], v), 1;
  }
  puts("calls through pointers: exact");
}
