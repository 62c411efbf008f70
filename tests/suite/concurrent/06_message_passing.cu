// idiom: a flag with release and acquire orders plain data of another block
// cuda::atomic in its own words: message passing, a sequence lock, fetch_max, a counting semaphore between blocks.
#include <cuda/atomic>
#include <cuda/semaphore>
#include <cstdio>
#include <new>

struct Board {
  cuda::atomic<int, cuda::thread_scope_device> flag, sequence, best;
  cuda::counting_semaphore<cuda::thread_scope_device, 4> rooms;
  cuda::atomic<int, cuda::thread_scope_device> inside, most, finished;
  int payload[32];
  int a, b;
  int torn;
};

__global__ void setup(Board* board) {
  new (&board->flag) cuda::atomic<int, cuda::thread_scope_device>(0);
  new (&board->sequence) cuda::atomic<int, cuda::thread_scope_device>(0);
  new (&board->best) cuda::atomic<int, cuda::thread_scope_device>(-1);
  new (&board->rooms) cuda::counting_semaphore<cuda::thread_scope_device, 4>(2);
  new (&board->inside) cuda::atomic<int, cuda::thread_scope_device>(0);
  new (&board->most) cuda::atomic<int, cuda::thread_scope_device>(0);
  new (&board->finished) cuda::atomic<int, cuda::thread_scope_device>(0);
  board->a = board->b = board->torn = 0;
}

__global__ void talk(Board* board, int* out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    board->payload[t] = t * 3 + 1;
    __syncthreads();
    if (t == 0) {
      board->flag.store(1, cuda::memory_order_release);
      for (int i = 1; i <= 20; i++) {  // writer of the sequence lock
        int s = board->sequence.load(cuda::memory_order_relaxed);
        board->sequence.store(s + 1, cuda::memory_order_relaxed);
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        *(volatile int*)&board->a = i;
        *(volatile int*)&board->b = -i;
        board->sequence.store(s + 2, cuda::memory_order_release);
      }
    }
  } else {
    if (t == 0)
      while (board->flag.load(cuda::memory_order_acquire) == 0) {}
    __syncthreads();
    out[(blockIdx.x - 1) * 32 + t] = board->payload[31 - t];
    if (t == 0) {
      for (int i = 0; i < 5; i++) {
        int before, after, a, b;
        do {
          before = board->sequence.load(cuda::memory_order_acquire);
          a = *(volatile int*)&board->a;
          b = *(volatile int*)&board->b;
          cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
          after = board->sequence.load(cuda::memory_order_relaxed);
        } while (before != after || before % 2);
        if (a + b != 0) atomicAdd(&board->torn, 1);
      }
      board->rooms.acquire();
      int now = board->inside.fetch_add(1) + 1;
      board->most.fetch_max(now);
      board->best.fetch_max(blockIdx.x * 7 % 5);
      board->inside.fetch_sub(1);
      board->rooms.release();
      board->finished.fetch_add(1, cuda::memory_order_relaxed);
    }
  }
}

int main() {
  const int readers = 6;
  Board *board, host_like;
  int *out, got[readers * 32];
  cudaMalloc(&board, sizeof(Board)), cudaMalloc(&out, sizeof got);
  setup<<<1, 1>>>(board);
  talk<<<readers + 1, 32>>>(board, out);
  if (cudaError_t e = cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  cudaMemcpy((void*)&host_like, board, sizeof(Board), cudaMemcpyDeviceToHost);
  for (int i = 0; i < readers * 32; i++)
    if (got[i] != (31 - i % 32) * 3 + 1) return printf("reader %d, word %d: %d\n", i / 32, i % 32, got[i]), 1;
  int best = host_like.best.load(), most = host_like.most.load(), finished = host_like.finished.load();
  if (host_like.torn || best != 4 || most < 1 || most > 2 || finished != readers)
    return printf("torn %d, best %d, at most %d inside, %d finished\n", host_like.torn, best, most, finished), 1;
  puts("cuda::atomic between blocks: right");
}
