// Where is the largest? A float and its index packed into 64 bits whose integer order is the wanted one: larger value
// first, and of equal ones the lower index. One atomicMax on unsigned long long per warp.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using u64 = unsigned long long;

__device__ __forceinline__ u64 pack(float value, uint32_t index) {
  uint32_t bits = __float_as_uint(value);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return u64(bits) << 32 | ~index;
}

__global__ void argmax(const float4* in, uint32_t quads, u64* best) {
  u64 mine = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    float4 v = __ldg(in + i);
    mine = max(mine, pack(v.x, 4 * i));
    mine = max(mine, pack(v.y, 4 * i + 1));
    mine = max(mine, pack(v.z, 4 * i + 2));
    mine = max(mine, pack(v.w, 4 * i + 3));
  }
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) mine = max(mine, __shfl_xor_sync(~0u, mine, d));
  if ((threadIdx.x & 31) == 0) atomicMax(best, mine);
}

int main() {
  const uint32_t n = 1 << 13;
  std::vector<float> h(n);
  float* d;
  u64 *best, got;
  cudaMalloc(&d, n * sizeof(float));
  cudaMalloc(&best, sizeof(u64));
  for (int test = 0; test < 4; test++) {
    for (uint32_t i = 0; i < n; i++) {
      uint32_t r = i * 2654435761u ^ test * 77777;
      h[i] = test == 0 ? -float(r >> 8) - 1 : test == 1 ? float(r >> 27) : test == 2 ? -0.0f : float(int(r)) * 1e-3f;
    }
    if (test == 2) h[5000] = 0.0f;  // +0 counts as larger than -0 in this order
    uint32_t want = 0;
    auto above = [](float a, float b) { return a > b || (a == b && std::signbit(a) < std::signbit(b)); };
    for (uint32_t i = 1; i < n; i++)
      if (above(h[i], h[want])) want = i;
    cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(best, 0, sizeof(u64));
    argmax<<<8, 192>>>(reinterpret_cast<float4*>(d), n / 4, best);
    if (cudaMemcpy(&got, best, sizeof(u64), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    uint32_t index = ~uint32_t(got);
    if (index != want) {
      printf("test %d: index %u (%g), expected %u (%g)\n", test, index, h[index], want, h[want]);
      return 1;
    }
  }
  printf("argmax by packed atomics: right in four tests\n");
}
