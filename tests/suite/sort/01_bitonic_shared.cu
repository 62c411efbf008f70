// Bitonic sort of key-value pairs, one block each, in shared memory, with a comparison that is a template parameter.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

template <typename K, typename V, bool Descending>
__global__ void bitonic(K* keys, V* values, int n) {
  extern __shared__ unsigned char raw[];
  K* k = reinterpret_cast<K*>(raw);
  V* v = reinterpret_cast<V*>(k + n);
  const int base = blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) k[i] = keys[base + i], v[i] = values[base + i];
  for (int size = 2; size <= n; size <<= 1)
    for (int stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
        int lo = 2 * i - (i & (stride - 1)), hi = lo + stride;
        bool up = ((lo & size) == 0) != Descending;
        if ((k[lo] > k[hi]) == up) {
          K tk = k[lo];
          k[lo] = k[hi], k[hi] = tk;
          V tv = v[lo];
          v[lo] = v[hi], v[hi] = tv;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) keys[base + i] = k[i], values[base + i] = v[i];
}

template <typename K, typename V, bool Descending>
bool run(const char* name, int n, int blocks) {
  std::vector<K> keys(n * blocks);
  std::vector<V> values(n * blocks);
  for (int i = 0; i < n * blocks; i++) keys[i] = K(i * 7919 % 10007), values[i] = V(i);  // all keys of a block differ
  K* dk;
  V* dv;
  cudaMalloc(&dk, keys.size() * sizeof(K)), cudaMalloc(&dv, values.size() * sizeof(V));
  cudaMemcpy(dk, keys.data(), keys.size() * sizeof(K), cudaMemcpyHostToDevice);
  cudaMemcpy(dv, values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice);
  bitonic<K, V, Descending><<<blocks, 128, n * (sizeof(K) + sizeof(V))>>>(dk, dv, n);
  std::vector<K> k2(keys.size());
  std::vector<V> v2(keys.size());
  cudaMemcpy(k2.data(), dk, keys.size() * sizeof(K), cudaMemcpyDeviceToHost);
  cudaMemcpy(v2.data(), dv, values.size() * sizeof(V), cudaMemcpyDeviceToHost);
  cudaFree(dk), cudaFree(dv);
  for (int b = 0; b < blocks; b++) {
    std::vector<std::pair<K, V>> want;
    for (int i = b * n; i < b * n + n; i++) want.push_back({keys[i], values[i]});
    std::sort(want.begin(), want.end());
    if (Descending) std::reverse(want.begin(), want.end());
    for (int i = 0; i < n; i++)
      if (k2[b * n + i] != want[i].first || v2[b * n + i] != want[i].second) {
        std::printf("%s: block %d, position %d is wrong\n", name, b, i);
        return false;
      }
  }
  return true;
}

int main() {
  bool ok = run<float, int, false>("float up", 512, 3) && run<double, char, true>("double down", 64, 5) &&
            run<short, double, false>("short up", 256, 2) && run<unsigned, unsigned, true>("unsigned down", 1024, 1);
  if (ok) std::puts("bitonic sorts of four kinds: in order");
  return ok ? 0 : 1;
}
