// archs: sm_90a sm_100a sm_120a
// A cluster of four blocks reduces through distributed shared memory: each block leaves its sum in its own shared
// memory, and rank 0 reads those of its neighbours.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int* in, long long* out) {
  __shared__ long long mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd((unsigned long long*)&mine, (unsigned long long)(long long)v);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    long long total = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); r++) total += *cluster.map_shared_rank(&mine, r);
    out[blockIdx.x / 4] = total;
  }
  cluster.sync();  // nobody leaves while its shared memory is read
}

// The other way round, with a size chosen at the launch: everybody adds into rank 0's memory.
__global__ void push_to_first(const int* in, int* out) {
  extern __shared__ int bins[];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  cluster.sync();
  int* first = cluster.map_shared_rank(bins, 0);
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&first[v & 7], 1);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x < 8) out[blockIdx.x / cluster.num_blocks() * 8 + threadIdx.x] = bins[threadIdx.x];
}

int main() {
  const int threads = 96, blocks = 16, n = threads * blocks;
  int *in, *bins;
  long long* out;
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&out, blocks / 4 * sizeof(long long));
  cudaMallocManaged(&bins, blocks / 2 * 8 * sizeof(int));
  for (int i = 0; i < n; i++) in[i] = (int)(i * 0x9e3779b1u);
  cluster_sum<<<blocks, threads>>>(in, out);

  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = 8 * sizeof(int);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t e = cudaLaunchKernelEx(&config, push_to_first, (const int*)in, bins);
  if (e == cudaSuccess) e = cudaDeviceSynchronize();
  if (e != cudaSuccess) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int c = 0; c < blocks / 4; c++) {
    long long want = 0;
    for (int i = 0; i < 4 * threads; i++) want += in[c * 4 * threads + i];
    if (out[c] != want) return printf("cluster %d: %lld, expected %lld\n", c, out[c], want), 1;
  }
  for (int c = 0; c < blocks / 2; c++) {
    int want[8] = {};
    for (int i = 0; i < 2 * threads; i++) want[in[c * 2 * threads + i] & 7]++;
    for (int b = 0; b < 8; b++)
      if (bins[c * 8 + b] != want[b]) return printf("cluster %d, bin %d: %d, expected %d\n", c, b, bins[c * 8 + b], want[b]), 1;
  }
  puts("sums and bins through distributed shared memory: exact");
  return EXIT_SUCCESS;
}
