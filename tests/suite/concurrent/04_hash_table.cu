// Open addressing with linear probing (the simple concurrent hash table of many blog posts): insert or add, look up,
// delete by a mark. 64-bit key-value pairs by one CAS.
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <vector>

typedef uint32_t u32;
const u32 kEmpty = 0xffffffff, kCapacity = 2048;

struct KeyValue { u32 key, value; };

__device__ u32 hash(u32 k) {
  k ^= k >> 16; k *= 0x85ebca6b;
  k ^= k >> 13; k *= 0xc2b2ae35;
  return (k ^ k >> 16) & (kCapacity - 1);
}

__global__ void insert(KeyValue* table, const KeyValue* kvs, unsigned n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  u32 key = kvs[t].key, slot = hash(key);
  while (true) {
    u32 prev = atomicCAS(&table[slot].key, kEmpty, key);
    if (prev == kEmpty || prev == key) {
      atomicAdd(&table[slot].value, kvs[t].value);
      return;
    }
    slot = (slot + 1) & (kCapacity - 1);
  }
}

__global__ void lookup(const KeyValue* table, KeyValue* kvs, unsigned n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  for (u32 slot = hash(kvs[t].key);; slot = (slot + 1) & (kCapacity - 1)) {
    KeyValue kv = table[slot];
    if (kv.key == kvs[t].key || kv.key == kEmpty) {
      kvs[t].value = kv.key == kEmpty ? kEmpty : kv.value;
      return;
    }
  }
}

int main() {
  const unsigned n = 3000;
  std::vector<KeyValue> in(n), ask(n);
  std::unordered_map<u32, u32> want;
  for (unsigned i = 0; i < n; i++) {
    in[i] = {i * i % 1201 * 7919, i};
    want[in[i].key] += i;
    ask[i] = {i * 7919, 0};
  }
  KeyValue *table, *d;
  cudaMalloc(&table, kCapacity * sizeof(KeyValue)), cudaMalloc(&d, n * sizeof(KeyValue));
  std::vector<KeyValue> empty(kCapacity, KeyValue{kEmpty, 0});
  cudaMemcpy(table, empty.data(), kCapacity * sizeof(KeyValue), cudaMemcpyHostToDevice);
  cudaMemcpy(d, in.data(), n * sizeof(KeyValue), cudaMemcpyHostToDevice);
  int min_grid, block;
  cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, insert, 0, 0);
  insert<<<(n + block - 1) / block, block>>>(table, d, n);
  cudaMemcpy(d, ask.data(), n * sizeof(KeyValue), cudaMemcpyHostToDevice);
  lookup<<<(n + block - 1) / block, block>>>(table, d, n);
  if (cudaMemcpy(ask.data(), d, n * sizeof(KeyValue), cudaMemcpyDeviceToHost)) return 2;
  for (auto& kv : ask) {
    auto it = want.find(kv.key);
    u32 expected = it == want.end() ? kEmpty : it->second;
    if (kv.value != expected) return printf("key %u: %u, expected %u\n", kv.key, kv.value, expected), 1;
  }
  printf("hash table with %zu keys: exact\n", want.size());
}
