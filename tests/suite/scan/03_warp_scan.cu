// Scan by shuffles: the predicate form of shfl.sync.up in inline PTX, so that the addition needs no comparison.
#include <cstdio>
#include <cstdint>
#include <numeric>
#include <vector>

__device__ __forceinline__ uint64_t warp_inclusive(uint64_t x) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    uint32_t lo, hi;
    asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(x));
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        ".reg .u32 l, h;\n\t"
        "shfl.sync.up.b32 l|p, %1, %3, 0x0, 0xffffffff;\n\t"
        "shfl.sync.up.b32 h|p, %2, %3, 0x0, 0xffffffff;\n\t"
        "@p add.cc.u32 l, l, %1;\n\t"
        "@p addc.u32 h, h, %2;\n\t"
        "@!p mov.u32 l, %1;\n\t"
        "@!p mov.u32 h, %2;\n\t"
        "mov.b64 %0, {l, h};\n\t"
        "}"
        : "=l"(x) : "r"(lo), "r"(hi), "r"(d));
  }
  return x;
}

__global__ void scan(uint64_t* x, int n) {
  __shared__ uint64_t totals[33];
  uint64_t carry = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint64_t v = warp_inclusive(i < n ? x[i] : 0);
    if (lane == 31) totals[warp + 1] = v;
    if (threadIdx.x == 0) totals[0] = carry;
    __syncthreads();
    if (warp == 0) {
      uint64_t t = warp_inclusive(lane <= blockDim.x / 32 ? totals[lane] : 0);
      if (lane <= blockDim.x / 32) totals[lane] = t;
    }
    __syncthreads();
    if (i < n) x[i] = v + totals[warp];
    carry = totals[blockDim.x / 32];
    __syncthreads();
  }
}

int main() {
  const int n = 3001;
  std::vector<uint64_t> h(n), want(n);
  uint64_t s = 88172645463325252u;
  for (auto& v : h) s ^= s << 13, s ^= s >> 7, s ^= s << 17, v = s;
  std::partial_sum(h.begin(), h.end(), want.begin());
  uint64_t* d;
  cudaMalloc(&d, n * 8);
  cudaMemcpy(d, h.data(), n * 8, cudaMemcpyHostToDevice);
  scan<<<1, 512>>>(d, n);
  if (cudaMemcpy(h.data(), d, n * 8, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  for (int i = 0; i < n; i++)
    if (h[i] != want[i]) {
      printf("element %d: %016llx, expected %016llx\n", i, (unsigned long long)h[i], (unsigned long long)want[i]);
      return 1;
    }
  printf("64-bit scan by shuffles over %d elements: exact\n", n);
}
