// Every kind of memory in one program: constant (also with an initialiser), device variables and arrays of structures,
// managed variables, dynamic shared memory of 96 KiB, pinned and mapped memory, 2-D copies with pitch, symbols' addresses.
#include <cstdio>
#include <cstring>

struct Coefficients { float a; double b; short c[3]; };

__constant__ Coefficients coefficients;
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ Coefficients copies[4] = {{1.5f, 2.5, {1, 2, 3}}, {}, {0, -1, {7}}};
__device__ int counter = 40;
__device__ __managed__ int answer = 2;

#define CK(x) if (cudaError_t e = (x)) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 2; }

__global__ void use(int *out, const char *mapped, char *pitched, size_t pitch) {
  extern __shared__ double big[];   // 12288 of them
  for (int i = threadIdx.x; i < 12288; i += blockDim.x) big[i] = i * coefficients.b;
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += big[12287 - primes[i]];
    out[0] = int(sum);
    out[1] = int(coefficients.a * 2) + coefficients.c[2];
    out[2] = int(copies[0].b * 2) + copies[0].c[1] + copies[1].c[0] + copies[2].c[0] + int(copies[3].a);
    copies[1].c[0] = 99;
    atomicAdd(&counter, answer);
    answer = 44;
  }
  if (threadIdx.x < 10) pitched[threadIdx.x * pitch + 3] = mapped[threadIdx.x] + 1;
}

int main() {
  Coefficients h = {4.f, 0.5, {10, 20, 30}};
  CK(cudaMemcpyToSymbol(coefficients, &h, sizeof h));
  char *pinned, *mapped, *pitched, image[10][8];
  size_t pitch;
  CK(cudaHostAlloc(&pinned, 16, cudaHostAllocMapped));
  strcpy(pinned, "abcdefghij");
  CK(cudaHostGetDevicePointer(&mapped, pinned, 0));
  CK(cudaMallocPitch(&pitched, &pitch, 8, 10));
  CK(cudaMemset2D(pitched, pitch, '.', 8, 10));
  int *out, got[3];
  CK(cudaMalloc(&out, sizeof got));
  CK(cudaFuncSetAttribute(use, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10));
  answer = 2;
  use<<<1, 64, 96 << 10>>>(out, mapped, pitched, pitch);
  CK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  CK(cudaMemcpy2D(image, 8, pitched, pitch, 8, 10, cudaMemcpyDeviceToHost));
  int sum = 0, now;
  for (int p : {2, 3, 5, 7, 11, 13, 17, 19}) sum += 12287 - p;
  int want[3] = {sum / 2, 8 + 30, 5 + 2 + 0 + 7 + 0};
  for (int i = 0; i < 3; i++)
    if (got[i] != want[i]) return printf("value %d: %d, expected %d\n", i, got[i], want[i]), 1;
  for (int r = 0; r < 10; r++)
    for (int c = 0; c < 8; c++)
      if (image[r][c] != (c == 3 ? "bcdefghijk"[r] : '.')) return printf("byte (%d, %d): %c\n", r, c, image[r][c]), 1;
  CK(cudaMemcpyFromSymbol(&now, counter, sizeof now));
  if (now != 42 || answer != 44) return printf("counter %d, answer %d\n", now, answer), 1;
  short c = 0;
  void *address;
  size_t size;
  CK(cudaGetSymbolAddress(&address, copies));
  CK(cudaGetSymbolSize(&size, copies));
  CK(cudaMemcpy(&c, (char *)address + sizeof(Coefficients) + offsetof(Coefficients, c), 2, cudaMemcpyDeviceToHost));
  if (c != 99 || size != sizeof copies) return printf("c = %d, size %zu\n", c, size), 1;
  puts("every space of memory: right");
  return 0;
}
