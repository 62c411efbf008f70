// idiom: spin lock between lanes of one warp; needs the independent progress of threads that Volta brought
#include <cstdio>

struct Lock {
  int word;
  __device__ void lock() { while (atomicCAS(&word, 0, 1) != 0) {} __threadfence(); }
  __device__ void unlock() { __threadfence(); atomicExch(&word, 0); }
};

struct Account {
  Lock lock;
  volatile int balance;
  volatile int moves;
};

__global__ void transfer(Account* accounts, int count, int rounds) {
  unsigned r = blockIdx.x * blockDim.x + threadIdx.x + 1;
  for (int i = 0; i < rounds; i++) {
    r = r * 1664525u + 1013904223u;
    int from = (r >> 8) % count, to = (r >> 20) % count, amount = r >> 28;
    if (from == to) continue;
    // Always in the same order, or two threads would wait for each other.
    Account &a = accounts[min(from, to)], &b = accounts[max(from, to)];
    a.lock.lock();
    b.lock.lock();
    accounts[from].balance -= amount;
    accounts[to].balance += amount;
    accounts[from].moves += 1;
    accounts[to].moves += 1;
    b.lock.unlock();
    a.lock.unlock();
  }
}

int main() {
  const int count = 7, threads = 64, rounds = 3;
  Account* a;
  cudaMallocManaged(&a, count * sizeof(Account));
  int balance[count], moves[count] = {};
  for (int i = 0; i < count; i++) a[i].lock.word = 0, a[i].balance = balance[i] = 100, a[i].moves = 0;
  transfer<<<2, threads / 2>>>(a, count, rounds);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (unsigned t = 1; t <= threads; t++) {
    unsigned r = t;
    for (int i = 0; i < rounds; i++) {
      r = r * 1664525u + 1013904223u;
      int from = (r >> 8) % count, to = (r >> 20) % count, amount = r >> 28;
      if (from != to) balance[from] -= amount, balance[to] += amount, moves[from]++, moves[to]++;
    }
  }
  for (int i = 0; i < count; i++)
    if (a[i].balance != balance[i] || a[i].moves != moves[i])
      return printf("account %d: %d after %d moves, expected %d after %d\n", i, a[i].balance, a[i].moves, balance[i], moves[i]), 1;
  printf("%d threads moved money under locks: exact\n", threads);
}
