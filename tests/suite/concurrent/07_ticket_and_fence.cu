// Blocks in order: a ticket lock passes the turn along; each block appends to a log while it has the lock. Scoped
// atomics in inline PTX (atom.acquire.gpu, red.release.gpu, ld.acquire).
#include <cstdio>

__device__ unsigned take(unsigned* p) {
  unsigned r;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(p) : "memory");
  return r;
}
__device__ unsigned acquire(const unsigned* p) {
  unsigned r;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory");
  return r;
}
__device__ void release_add(unsigned* p) { asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory"); }

struct Shared { unsigned ticket, turn, length, log[256]; unsigned long long sum; };

__global__ void append(Shared* s, int entries) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) {
    mine = take(&s->ticket);
    while (acquire(&s->turn) != mine) __nanosleep(32);
  }
  __syncthreads();
  // The whole block is inside now.
  unsigned at = s->length;
  __syncthreads();
  if (threadIdx.x < entries) s->log[at + threadIdx.x] = mine * 100 + threadIdx.x;
  if (threadIdx.x == 0) {
    s->length = at + entries;
    s->sum = s->sum * 31 + mine;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    release_add(&s->turn);
  }
}

int main() {
  const int blocks = 20, entries = 9;
  Shared* s;
  cudaMallocManaged(&s, sizeof(Shared));
  *s = {};
  append<<<blocks, 64>>>(s, entries);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  unsigned long long sum = 0;
  for (unsigned b = 0; b < blocks; b++) sum = sum * 31 + b;
  if (s->length != blocks * entries || s->sum != sum) return printf("length %u, sum %llu, expected %d, %llu\n", s->length, s->sum, blocks * entries, sum), 1;
  for (unsigned i = 0; i < s->length; i++)
    if (s->log[i] != i / entries * 100 + i % entries) return printf("entry %u: %u\n", i, s->log[i]), 1;
  printf("%d blocks took their turns\n", blocks);
}
