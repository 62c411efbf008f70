// The same butterfly over the integers modulo 2^64 - 2^32 + 1 (Goldilocks), to multiply polynomials exactly: 128-bit
// products by mul.hi and a reduction with carries, twiddles from a table in global memory.
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr uint64_t P = 0xffffffff00000001ull;

__host__ __device__ inline uint64_t add(uint64_t a, uint64_t b) {
  uint64_t s = a + b;
  return s < a || s >= P ? s - P : s;
}
__host__ __device__ inline uint64_t sub(uint64_t a, uint64_t b) { return a >= b ? a - b : a - b + P; }
__host__ __device__ inline uint64_t mul(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  uint64_t lo = a * b, hi = __umul64hi(a, b);
#else
  unsigned __int128 p = (unsigned __int128)a * b;
  uint64_t lo = uint64_t(p), hi = uint64_t(p >> 64);
#endif
  // 2^64 = 2^32 - 1 and 2^96 = -1
  uint64_t top = hi >> 32, mid = hi & 0xffffffffu, t = lo - top;
  if (lo < top) t -= 0xffffffffu;
  uint64_t r = t + mid * 0xffffffffu;
  if (r < t) r += 0xffffffffu;
  return r >= P ? r - P : r;
}

static uint64_t power(uint64_t x, uint64_t e) {
  uint64_t r = 1;
  for (; e; e >>= 1, x = mul(x, x))
    if (e & 1) r = mul(r, x);
  return r;
}

__global__ void ntt(uint64_t* a, const uint64_t* roots, int n, bool inverse) {  // decimation in frequency, then bit reversal
  for (int half = n / 2; half >= 1; half /= 2) {
    for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
      int j = t % half, i = t / half * 2 * half + j, e = j * (n / 2 / half);
      uint64_t u = a[i], v = a[i + half];
      a[i] = add(u, v);
      a[i + half] = mul(sub(u, v), roots[inverse ? (n - e) % n : e]);
    }
    __syncthreads();
  }
  int bits = 31 - __clz(n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int j = __brev(i) >> (32 - bits);
    if (i < j) {
      uint64_t t = a[i];
      a[i] = a[j];
      a[j] = t;
    }
  }
}

__global__ void pointwise(uint64_t* a, const uint64_t* b, uint64_t factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = mul(mul(a[i], b[i]), factor);
}

int main() {
  const int n = 512;
  std::vector<uint64_t> roots(n), a(n), b(n), got(n);
  uint64_t w = power(7, (P - 1) / n);
  for (int i = 0; i < n; i++) roots[i] = i ? mul(roots[i - 1], w) : 1;
  for (int i = 0; i < n / 2; i++) a[i] = i * 0x9e3779b97f4a7c15ull % P, b[i] = ~i * 0xc2b2ae3d27d4eb4full % P;
  uint64_t *da, *db, *dr;
  cudaMalloc(&da, n * 8), cudaMalloc(&db, n * 8), cudaMalloc(&dr, n * 8);
  cudaMemcpy(da, a.data(), n * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(dr, roots.data(), n * 8, cudaMemcpyHostToDevice);
  ntt<<<1, 128>>>(da, dr, n, false);
  ntt<<<1, 128>>>(db, dr, n, false);
  pointwise<<<n / 64, 64>>>(da, db, power(n, P - 2), n);
  ntt<<<1, 128>>>(da, dr, n, true);
  if (cudaMemcpy(got.data(), da, n * 8, cudaMemcpyDeviceToHost)) return 2;
  for (int k = 0; k < n; k++) {
    uint64_t want = 0;
    for (int i = 0; i <= k; i++)
      if (i < n / 2 && k - i < n / 2) want = add(want, mul(a[i], b[k - i]));
    if (got[k] != want) return printf("coefficient %d: %llu, expected %llu\n", k, (unsigned long long)got[k], (unsigned long long)want), 1;
  }
  printf("product of polynomials of degree %d: exact\n", n / 2 - 1);
}
