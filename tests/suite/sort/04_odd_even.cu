// idiom: benign same-value writes (every thread that swapped stores the same `1`)
// Odd-even transposition until nothing moves any more; the flag is written by many threads without atomics.
#include <algorithm>
#include <cstdio>
#include <string>

__global__ void transpose_sort(char* s, int n, int* rounds) {
  __shared__ int moved;
  int round = 0;
  do {
    __syncthreads();
    if (threadIdx.x == 0) moved = 0;
    __syncthreads();
    for (int phase = 0; phase < 2; phase++) {
      int i = 2 * threadIdx.x + phase;
      if (i + 1 < n && s[i] > s[i + 1]) {
        char t = s[i];
        s[i] = s[i + 1];
        s[i + 1] = t;
        moved = 1;
      }
      __syncthreads();
    }
    round++;
  } while (moved);
  if (threadIdx.x == 0) *rounds = round;
}

int main() {
  std::string text = "the quick brown fox jumps over the lazy dog and then sleeps in the shade of an old oak tree";
  char* d;
  int *rounds, count;
  const int n = int(text.size());
  cudaMalloc(&d, n), cudaMalloc(&rounds, sizeof(int));
  cudaMemcpy(d, text.data(), n, cudaMemcpyHostToDevice);
  transpose_sort<<<1, (n + 1) / 2>>>(d, n, rounds);
  std::string got(n, 0);
  if (cudaMemcpy(&got[0], d, n, cudaMemcpyDeviceToHost) || cudaMemcpy(&count, rounds, 4, cudaMemcpyDeviceToHost)) return 2;
  std::sort(text.begin(), text.end());
  for (int i = 0; i < n; i++)
    if (got[i] != text[i]) return printf("position %d: '%c', expected '%c'\n", i, got[i], text[i]), 1;
  printf("odd-even sort of %d letters in %d rounds\n", n, count);
  return count <= n / 2 + 2 ? 0 : 1;
}
