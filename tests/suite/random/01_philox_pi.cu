// Pi by throwing darts: Philox4x32-10, the counter-based generator of the paper (Salmon et al., 2011), one stream for
// each thread. The host repeats every throw, so the count is exact.
#include <cmath>
#include <cstdint>
#include <cstdio>

struct philox4x32 {
  uint4 ctr;
  uint2 key;
  __host__ __device__ static uint32_t mulhi(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __umulhi(a, b);
#else
    return uint32_t(uint64_t(a) * b >> 32);
#endif
  }
  __host__ __device__ uint4 operator()() {
    uint4 c = ctr;
    uint2 k = key;
    for (int i = 0; i < 10; i++) {
      uint32_t h0 = mulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = mulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
      c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
      k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
    }
    if (++ctr.x == 0) ++ctr.y;
    return c;
  }
};

__host__ __device__ int throws(uint32_t stream, int n) {
  philox4x32 g{{0, 0, stream, 0}, {42, 1}};
  int inside = 0;
  for (int i = 0; i < n; i += 2) {
    uint4 r = g();
    uint64_t x = r.x >> 1, y = r.y >> 1, z = r.z >> 1, w = r.w >> 1, one = uint64_t(1) << 62;
    inside += (x * x + y * y < one) + (z * z + w * w < one);
  }
  return inside;
}

__global__ void darts(unsigned long long* total, int n) {
  unsigned mine = throws(blockIdx.x * blockDim.x + threadIdx.x, n);
  mine = __reduce_add_sync(0xffffffff, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)mine);
}

int main() {
  // The paper's test vector: counter and key zero.
  philox4x32 zero{{0, 0, 0, 0}, {0, 0}};
  uint4 r = zero();
  if (r.x != 0x6627e8d5u || r.y != 0xe169c58du || r.z != 0xbc57ac4cu || r.w != 0x9b00dbd8u) return puts("not Philox"), 1;
  unsigned long long* total;
  cudaMallocManaged(&total, 8);
  *total = 0;
  const int blocks = 8, threads = 128, n = 64;
  darts<<<blocks, threads>>>(total, n);
  if (cudaDeviceSynchronize()) return 2;
  unsigned long long want = 0;
  for (int t = 0; t < blocks * threads; t++) want += throws(t, n);
  if (*total != want) return printf("%llu inside, expected %llu\n", *total, want), 1;
  double pi = 4.0 * want / (blocks * threads * n);
  if (std::fabs(pi - 3.14159265) > 0.05) return printf("pi is not %g\n", pi), 1;
  printf("pi is about %.4f, every dart the same\n", pi);
}
