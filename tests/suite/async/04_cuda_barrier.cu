// cuda::barrier with a completion function, arrive and wait apart, and a thread that drops out.
#include <cuda/barrier>
#include <cstdio>
#include <utility>

using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void phases(const int* in, int* out, int n) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  __shared__ int board[128];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int value = in[blockIdx.x * n + threadIdx.x];
  const int quits = 5 + blockIdx.x;  // so many rounds
  for (int round = 0; round < 8; round++) {
    board[threadIdx.x] = value;
    // Arrive early, do something that needs nobody, wait late.
    barrier::arrival_token token = bar.arrive();
    int own = value * 3;
    bar.wait(std::move(token));
    int next = board[(threadIdx.x + 1) % n];
    bar.arrive_and_wait();
    value = own + next;
    if (threadIdx.x == n - 1 && round == quits) {
      out[blockIdx.x * n + threadIdx.x] = value;
      bar.arrive_and_drop();
      return;
    }
  }
  out[blockIdx.x * n + threadIdx.x] = value;
}

int main() {
  const int n = 96, blocks = 2;
  int *in, *out;
  cudaMallocManaged(&in, n * blocks * sizeof(int));
  cudaMallocManaged(&out, n * blocks * sizeof(int));
  for (int i = 0; i < n * blocks; i++) in[i] = i * 13 % 29;
  phases<<<blocks, n>>>(in, out, n);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int b = 0; b < blocks; b++) {
    int v[n], w[n], board[n];
    for (int i = 0; i < n; i++) v[i] = in[b * n + i];
    bool gone = false;
    for (int round = 0; round < 8; round++) {
      for (int i = 0; i < n; i++)
        if (!gone || i < n - 1) board[i] = v[i];
      for (int i = 0; i < n; i++) w[i] = gone && i == n - 1 ? v[i] : v[i] * 3 + board[(i + 1) % n];
      for (int i = 0; i < n; i++) v[i] = w[i];
      if (round == 5 + b) gone = true;
    }
    for (int i = 0; i < n; i++)
      if (out[b * n + i] != v[i]) return printf("block %d, thread %d: %d, expected %d\n", b, i, out[b * n + i], v[i]), 1;
  }
  puts("cuda::barrier with early arrival and drop-out: exact");
}
