// idiom: decoupled look-back; blocks spin on flags that earlier blocks set, in the order of a ticket
// Single-pass scan (Merrill and Garland, 2016). A tile's status and value share a 64-bit word, so one relaxed access
// sees both or none.
#include <cuda/atomic>
#include <cstdint>
#include <cstdio>
#include <vector>

enum : uint32_t { EMPTY = 0, PARTIAL = 1, PREFIX = 2 };
constexpr int THREADS = 128, PER_THREAD = 4, TILE = THREADS * PER_THREAD;

using Status = cuda::atomic_ref<uint64_t, cuda::thread_scope_device>;
__device__ uint64_t word(uint32_t flag, uint32_t value) { return uint64_t(flag) << 32 | value; }

__global__ void scan(const uint32_t* in, uint32_t* out, int n, uint64_t* status, uint32_t* ticket) {
  __shared__ uint32_t warps[THREADS / 32], tile_shared, before_shared;
  if (threadIdx.x == 0) tile_shared = atomicAdd(ticket, 1);
  __syncthreads();
  const uint32_t tile = tile_shared, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int base = tile * TILE + threadIdx.x * PER_THREAD;

  uint32_t v[PER_THREAD], sum = 0;
  for (int i = 0; i < PER_THREAD; i++) v[i] = sum += base + i < n ? in[base + i] : 0;
  uint32_t scan = sum;
  for (int d = 1; d < 32; d *= 2) {
    uint32_t up = __shfl_up_sync(~0u, scan, d);
    if (lane >= d) scan += up;
  }
  if (lane == 31) warps[warp] = scan;
  __syncthreads();
  uint32_t before = scan - sum, total = 0;
  for (uint32_t w = 0; w < THREADS / 32; w++) {
    if (w < warp) before += warps[w];
    total += warps[w];
  }

  if (warp == 0) {
    if (lane == 0) Status(status[tile]).store(word(tile ? PARTIAL : PREFIX, total), cuda::memory_order_relaxed);
    uint32_t exclusive = 0;
    // 32 earlier tiles at a time, from the nearest.
    for (int look = int(tile) - 1; look >= 0;) {
      int mine = look - int(lane);
      uint64_t s = word(PREFIX, 0);
      if (mine >= 0)
        while ((s = Status(status[mine]).load(cuda::memory_order_relaxed)) >> 32 == EMPTY) __nanosleep(20);
      __syncwarp();
      uint32_t done = __ballot_sync(~0u, s >> 32 == PREFIX);
      uint32_t last = done ? __ffs(done) - 1 : 31;
      uint32_t part = lane <= last ? uint32_t(s) : 0;
      exclusive += __reduce_add_sync(~0u, part);
      if (done) break;
      look -= 32;
    }
    if (lane == 0) {
      if (tile) Status(status[tile]).store(word(PREFIX, exclusive + total), cuda::memory_order_relaxed);
      before_shared = exclusive;
    }
  }
  __syncthreads();
  before += before_shared;
  for (int i = 0; i < PER_THREAD; i++)
    if (base + i < n) out[base + i] = before + v[i];
}

int main() {
  const int n = 40000, tiles = (n + TILE - 1) / TILE;
  std::vector<uint32_t> h(n), got(n);
  for (int i = 0; i < n; i++) h[i] = i % 1000 * 7 + 1;
  uint32_t *in, *out, *ticket;
  uint64_t* status;
  cudaMalloc(&in, n * 4), cudaMalloc(&out, n * 4), cudaMalloc(&ticket, 4), cudaMalloc(&status, tiles * 8);
  cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(ticket, 0, 4), cudaMemset(status, 0, tiles * 8);
  scan<<<tiles, THREADS>>>(in, out, n, status, ticket);
  if (cudaError_t e = cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost))
    return printf("%s\n", cudaGetErrorString(e)), 2;
  uint32_t sum = 0;
  for (int i = 0; i < n; i++)
    if (got[i] != (sum += h[i])) return printf("element %d: %u, expected %u\n", i, got[i], sum), 1;
  printf("decoupled look-back over %d tiles: exact\n", tiles);
}
