// Any associative operator, any type: shuffles in the warp, one word of shared memory for each warp, and a second
// launch for the partial results.
#include <cfloat>
#include <climits>
#include <cstdio>
#include <type_traits>
#include <vector>

struct Sum { template <class T> __host__ __device__ T operator()(T a, T b) const { return a + b; } };
struct Max { template <class T> __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
struct Xor { template <class T> __host__ __device__ T operator()(T a, T b) const { return a ^ b; } };

template <class T, class Op>
__device__ T warp_reduce(T v, Op op) {
  for (int d = warpSize / 2; d; d /= 2) v = op(v, __shfl_down_sync(0xffffffffu, v, d));
  return v;
}

template <class T, class Op>
__global__ void reduce(const T* in, int n, T* out, T identity, Op op) {
  __shared__ std::aligned_storage_t<sizeof(T), alignof(T)> raw[32];
  T* parts = reinterpret_cast<T*>(raw);
  T v = identity;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v = op(v, in[i]);
  v = warp_reduce(v, op);
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x < warpSize) {
    v = threadIdx.x < (blockDim.x + warpSize - 1) / warpSize ? parts[threadIdx.x] : identity;
    v = warp_reduce(v, op);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

template <class T, class Op>
bool test(const char* name, int n, T identity, Op op, int threads) {
  std::vector<T> host(n);
  T want = identity;
  for (int i = 0; i < n; i++) want = op(want, host[i] = T(int((i * 2246822519u) >> 18) - 5000));
  const int blocks = 5;
  T *in, *parts, *out, got;
  cudaMalloc(&in, n * sizeof(T)), cudaMalloc(&parts, blocks * sizeof(T)), cudaMalloc(&out, sizeof(T));
  cudaMemcpy(in, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  reduce<<<blocks, threads>>>(in, n, parts, identity, op);
  reduce<<<1, 32>>>(parts, blocks, out, identity, op);
  cudaMemcpy(&got, out, sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(in), cudaFree(parts), cudaFree(out);
  if (got != want) std::printf("%s of %d with %d threads: %g, expected %g\n", name, n, threads, double(got), double(want));
  return got == want;
}

int main() {
  // Integers everywhere, also in the floats, so that order does not matter.
  bool ok = test("int sum", 10007, 0, Sum{}, 256) && test("int max", 333, INT_MIN, Max{}, 96) &&
            test("long long sum", 5000, 0LL, Sum{}, 1024) && test("unsigned xor", 4097, 0u, Xor{}, 64) &&
            test("double max", 1, -DBL_MAX, Max{}, 32) && test("float sum", 700, 0.f, Sum{}, 160);
  if (ok) std::puts("shuffle reductions of six kinds: exact");
  return !ok;
}
