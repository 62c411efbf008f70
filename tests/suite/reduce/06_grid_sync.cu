// A cooperative launch: every block of the grid meets at grid.sync(), so one kernel does the whole reduction and then
// uses its result to normalise.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void normalise(float* x, int n, float* scratch) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  __shared__ float warps[32];
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (tile.thread_rank() == 0) warps[tile.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    float total = 0;
    for (unsigned i = 0; i < tile.meta_group_size(); i++) total += warps[i];
    scratch[block.group_index().x] = total;
  }
  grid.sync();
  float all = 0;
  for (unsigned i = 0; i < gridDim.x; i++) all += scratch[i];
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] /= all;
}

int main() {
  int device = 0, cooperative = 0, perSm = 0;
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
  if (!cooperative) return puts("no cooperative launch here"), 2;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, normalise, 128, 0);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  int blocks = perSm * properties.multiProcessorCount;
  if (blocks > 24) blocks = 24;
  int n = 10000;
  std::vector<float> h(n);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += h[i] = float(i % 16 + 1);
  float *x, *scratch;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&scratch, blocks * sizeof(float));
  cudaMemcpy(x, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  void* arguments[] = {&x, &n, &scratch};
  cudaError_t e = cudaLaunchCooperativeKernel((void*)normalise, dim3(blocks), dim3(128), arguments, 0, nullptr);
  if (e != cudaSuccess) return printf("%s\n", cudaGetErrorString(e)), 2;
  std::vector<float> got(n);
  if (cudaMemcpy(got.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost)) return 2;
  for (int i = 0; i < n; i++)
    if (got[i] != h[i] / float(sum)) return printf("x[%d] = %g, expected %g\n", i, got[i], h[i] / float(sum)), 1;
  printf("normalised %d values after grid.sync: exact\n", n);
}
