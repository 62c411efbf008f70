// What a kernel prints goes to stdout when the host waits for it; an assertion that holds is silent. The program prints
// nothing but its last line: the kernel's own line is empty on purpose, all formats go through a count of characters.
#include <cassert>
#include <cstdio>

__global__ void check(const int* x, int n, int* printed) {
  int i = threadIdx.x;
  assert(n == 32);
  assert(x[i] == i * i && "squares");
  int sum = __syncthreads_count(x[i] % 2 == 0);
  if (i == 0) {
    assert(sum == 16);
    // printf returns the number of its arguments on the device.
    printed[0] = printf("%s %5d, %-6.2f|%c|%08x|%llu|%e|%%: ", "squares up to", x[31], 3.14159, 'z', 0xbeefu, 1ull << 40, 1e10);
  }
}

int main() {
  int *x, *printed;
  cudaMallocManaged(&x, 32 * sizeof(int));
  cudaMallocManaged(&printed, sizeof(int));
  for (int i = 0; i < 32; i++) x[i] = i * i;
  check<<<1, 32>>>(x, 32, printed);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  if (*printed != 7) return printf("printf returned %d, expected 7\n", *printed), 1;
  puts("printf and assertions behave");
}
