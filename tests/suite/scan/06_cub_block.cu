// CUB's collectives in a kernel of one's own: BlockLoad with transposition, BlockScan with an operator that is not
// commutative (composition of affine maps), BlockStore.
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include <cstdint>
#include <cstdio>

struct Affine {  // x -> a x + b, modulo 2^32
  uint32_t a, b;
};

struct Then {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const { return {f.a * g.a, f.b * g.a + g.b}; }
};

constexpr int BLOCK = 64, ITEMS = 5;

__global__ void compose(const Affine* in, Affine* out, int n) {
  using Load = cub::BlockLoad<Affine, BLOCK, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<Affine, BLOCK, cub::BLOCK_SCAN_RAKING>;
  using Store = cub::BlockStore<Affine, BLOCK, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } temp;
  Affine items[ITEMS];
  int first = blockIdx.x * BLOCK * ITEMS;
  Load(temp.load).Load(in + first, items, n - first, Affine{1, 0});
  __syncthreads();
  Scan(temp.scan).InclusiveScan(items, items, Then());
  __syncthreads();
  Store(temp.store).Store(out + first, items, n - first);
}

int main() {
  const int n = 1500, tile = BLOCK * ITEMS;
  Affine *in, *out;
  cudaMallocManaged(&in, n * sizeof(Affine));
  cudaMallocManaged(&out, n * sizeof(Affine));
  for (int i = 0; i < n; i++) in[i] = {2u * i + 3, i * 40503u};
  compose<<<(n + tile - 1) / tile, BLOCK>>>(in, out, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  Affine f{1, 0};
  for (int i = 0; i < n; i++) {
    f = Then()(i % tile ? f : Affine{1, 0}, in[i]);
    if (out[i].a != f.a || out[i].b != f.b) {
      printf("element %d: %u x + %u, expected %u x + %u\n", i, out[i].a, out[i].b, f.a, f.b);
      return 1;
    }
  }
  printf("cub block scan of %d affine maps: exact\n", n);
  return 0;
}
