// One level of Strassen's algorithm: seven products on seven streams, ordered by events, summed by a last kernel.
// Unsigned arithmetic modulo 2^32, so exact whatever the order.
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

constexpr int H = 24, N = 2 * H;

struct View {
  const uint32_t* p;
  int ld;
};

__device__ uint32_t combined(View x, View y, int sign, int at_row, int at_col) {
  uint32_t v = x.p[at_row * x.ld + at_col];
  if (sign > 0) v += y.p[at_row * y.ld + at_col];
  if (sign < 0) v -= y.p[at_row * y.ld + at_col];
  return v;
}

// out = (a1 ± a2) * (b1 ± b2)
__global__ void product(View a1, View a2, int sa, View b1, View b2, int sb, uint32_t* out) {
  int i = threadIdx.y + blockIdx.y * blockDim.y, j = threadIdx.x + blockIdx.x * blockDim.x;
  uint32_t sum = 0;
  for (int k = 0; k < H; k++) sum += combined(a1, a2, sa, i, k) * combined(b1, b2, sb, k, j);
  out[i * H + j] = sum;
}

__global__ void assemble(const uint32_t* m, uint32_t* c) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= H * H) return;
  auto M = [&](int i) { return m[(i - 1) * H * H + e]; };
  int i = e / H, j = e % H;
  c[i * N + j] = M(1) + M(4) - M(5) + M(7);
  c[i * N + j + H] = M(3) + M(5);
  c[(i + H) * N + j] = M(2) + M(4);
  c[(i + H) * N + j + H] = M(1) - M(2) + M(3) + M(6);
}

int main() {
  std::mt19937 random(5);
  std::vector<uint32_t> a(N * N), b(N * N), c(N * N);
  for (auto& x : a) x = random();
  for (auto& x : b) x = random();
  uint32_t *da, *db, *dc, *dm;
  cudaStream_t first;
  cudaStreamCreate(&first);
  cudaMallocAsync(&da, N * N * 4, first);
  cudaMallocAsync(&db, N * N * 4, first);
  cudaMallocAsync(&dc, N * N * 4, first);
  cudaMallocAsync(&dm, 7 * H * H * 4, first);
  cudaMemcpyAsync(da, a.data(), N * N * 4, cudaMemcpyHostToDevice, first);
  cudaMemcpyAsync(db, b.data(), N * N * 4, cudaMemcpyHostToDevice, first);
  cudaEvent_t ready, done[7];
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  cudaEventRecord(ready, first);
  auto q = [](const uint32_t* x, int r, int s) { return View{x + r * H * N + s * H, N}; };
  View a11 = q(da, 0, 0), a12 = q(da, 0, 1), a21 = q(da, 1, 0), a22 = q(da, 1, 1);
  View b11 = q(db, 0, 0), b12 = q(db, 0, 1), b21 = q(db, 1, 0), b22 = q(db, 1, 1);
  struct { View x, y; int s; View u, v; int t; } steps[7] = {
      {a11, a22, 1, b11, b22, 1},  {a21, a22, 1, b11, b11, 0},  {a11, a11, 0, b12, b22, -1}, {a22, a22, 0, b21, b11, -1},
      {a11, a12, 1, b22, b22, 0},  {a21, a11, -1, b11, b12, 1}, {a12, a22, -1, b21, b22, 1},
  };
  cudaStream_t streams[7];
  for (int i = 0; i < 7; i++) {
    cudaStreamCreate(&streams[i]);
    cudaStreamWaitEvent(streams[i], ready, 0);
    auto& s = steps[i];
    product<<<dim3(H / 8, H / 8), dim3(8, 8), 0, streams[i]>>>(s.x, s.y, s.s, s.u, s.v, s.t, dm + i * H * H);
    cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
    cudaEventRecord(done[i], streams[i]);
    cudaStreamWaitEvent(first, done[i], 0);
  }
  assemble<<<(H * H + 127) / 128, 128, 0, first>>>(dm, dc);
  cudaMemcpyAsync(c.data(), dc, N * N * 4, cudaMemcpyDeviceToHost, first);
  for (void* p : {da, db, dc, dm}) cudaFreeAsync(p, first);
  if (cudaStreamSynchronize(first) != cudaSuccess) return 2;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      uint32_t want = 0;
      for (int k = 0; k < N; k++) want += a[i * N + k] * b[k * N + j];
      if (c[i * N + j] != want) return printf("C[%d][%d] is %u, expected %u\n", i, j, c[i * N + j], want), 1;
    }
  puts("Strassen on seven streams: exact");
  return 0;
}
