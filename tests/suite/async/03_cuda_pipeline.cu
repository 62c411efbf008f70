// libcu++'s pipeline, shared by the block, two stages: the next tile is on its way while this one is worked on.
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

template <int Stages, int Tile>
__global__ void moving_sum(const float* in, float* out, int tiles) {
  auto block = cg::this_thread_block();
  __shared__ float buffer[Stages][Tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  auto pipe = cuda::make_pipeline(block, &state);
  for (int ahead = 0, tile = 0; tile < tiles; tile++) {
    for (; ahead < tiles && ahead < tile + Stages; ahead++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[ahead % Stages], in + ahead * Tile, sizeof(float) * Tile, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    const float* t = buffer[tile % Stages];
    for (int i = block.thread_rank(); i < Tile; i += block.size())
      out[tile * Tile + i] = t[i] + (i > 0 ? t[i - 1] : 0.f) + (i + 1 < Tile ? t[i + 1] : 0.f);
    pipe.consumer_release();
  }
}

int main() {
  constexpr int tile = 192, tiles = 7, n = tile * tiles;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = float(i * i % 257);
  float *dx, *dy;
  cudaMalloc(&dx, n * sizeof(float)), cudaMalloc(&dy, n * sizeof(float));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  moving_sum<2, tile><<<1, 64>>>(dx, dy, tiles);
  if (cudaError_t e = cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int i = 0; i < n; i++) {
    int in = i % tile;
    float want = x[i] + (in > 0 ? x[i - 1] : 0.f) + (in + 1 < tile ? x[i + 1] : 0.f);
    if (y[i] != want) return printf("element %d: %g, expected %g\n", i, y[i], want), 1;
  }
  printf("cuda::pipeline over %d tiles: exact\n", tiles);
  return 0;
}
