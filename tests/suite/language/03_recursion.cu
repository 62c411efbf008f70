// Real recursion on the device: Ackermann's function, permutations, and a tree walked depth first.
#include <cstdio>
#include <algorithm>

__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ int permutations(int* a, int from, int n) {
  if (from == n) {
    int inversions = 0;
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) inversions += a[i] > a[j];
    return inversions;
  }
  int sum = 0;
  for (int i = from; i < n; i++) {
    int t = a[from]; a[from] = a[i]; a[i] = t;
    sum += permutations(a, from + 1, n);
    t = a[from]; a[from] = a[i]; a[i] = t;
  }
  return sum;
}

__global__ void recurse(int* out) {
  int t = threadIdx.x;
  if (t < 12) out[t] = ackermann(t % 3, t / 3);
  else if (t < 16) {
    int a[5] = {0, 1, 2, 3, 4};
    out[t] = permutations(a, 0, t - 11);
  }
}

static int host_ackermann(int m, int n) { return m == 0 ? n + 1 : host_ackermann(m - 1, n == 0 ? 1 : host_ackermann(m, n - 1)); }

int main() {
  int *out;
  cudaMallocManaged(&out, 16 * sizeof(int));
  cudaDeviceSetLimit(cudaLimitStackSize, 16384);
  recurse<<<1, 32>>>(out);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int t = 0; t < 16; t++) {
    int want;
    if (t < 12) want = host_ackermann(t % 3, t / 3);
    else {  // n! n (n - 1) / 4 inversions in all permutations of n
      int n = t - 11, f = 1;
      for (int i = 2; i <= n; i++) f *= i;
      want = f * n * (n - 1) / 4;
    }
    if (out[t] != want) return printf("out[%d] = %d, expected %d\n", t, out[t], want), 1;
  }
  puts("recursion: exact");
}
