// A lock-free stack (Treiber) with a counter beside the index against ABA, in one 64-bit CAS. Every node pushed is popped
// exactly once, by whomever.
#include <cstdint>
#include <cstdio>
#include <vector>

using u64 = unsigned long long;

struct Stack {
  u64 top;  // counter << 32 | index + 1
  int next[2048];

  __device__ void push(int node) {
    u64 old = *(volatile u64*)&top, assumed;
    do {
      assumed = old;
      *(volatile int*)&next[node] = int(uint32_t(assumed));
      __threadfence();
      old = atomicCAS(&top, assumed, ((assumed >> 32) + 1) << 32 | uint32_t(node + 1));
    } while (old != assumed);
  }

  __device__ int pop() {
    u64 old = *(volatile u64*)&top, assumed;
    do {
      assumed = old;
      uint32_t node = uint32_t(assumed);
      if (node == 0) return -1;
      int after = *(volatile int*)&next[node - 1];
      old = atomicCAS(&top, assumed, ((assumed >> 32) + 1) << 32 | uint32_t(after));
    } while (old != assumed);
    return int(uint32_t(assumed)) - 1;
  }
};

__global__ void churn(Stack* s, int* popped, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) s->push(i);
  int node = s->pop();       // not necessarily the own one
  if (node >= 0 && node % 3 == 0) {
    s->push(node);
    node = -1;
  }
  if (node >= 0) atomicAdd(&popped[node], 1);
}

__global__ void drain(Stack* s, int* popped) {
  for (int node; (node = s->pop()) >= 0;) atomicAdd(&popped[node], 1);
}

int main() {
  const int n = 500;
  Stack* s;
  int* popped;
  cudaMalloc(&s, sizeof(Stack)), cudaMalloc(&popped, n * sizeof(int));
  cudaMemset(s, 0, sizeof(Stack)), cudaMemset(popped, 0, n * sizeof(int));
  churn<<<8, 64>>>(s, popped, n);
  drain<<<2, 32>>>(s, popped);
  std::vector<int> got(n);
  if (cudaError_t e = cudaMemcpy(got.data(), popped, n * sizeof(int), cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int i = 0; i < n; i++)
    if (got[i] != 1) return printf("node %d was popped %d times\n", i, got[i]), 1;
  printf("lock-free stack: %d nodes, each popped once\n", n);
}
