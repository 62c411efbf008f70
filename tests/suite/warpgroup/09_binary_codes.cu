// archs: sm_90a
// Similarities of binary codes: 64 queries against 16 codes of 512 bits, the number of bits that both have (b1, and, popc).
#include <cstdint>
#include <cstdio>

constexpr int M = 64, N = 16, WORDS = 16;

__global__ void similarities(const uint32_t* queries, const uint32_t* codes, int* out) {
  __shared__ __align__(128) uint32_t a[M * WORDS], b[N * WORDS];
  // Core matrices of 8 rows by 128 bits; those of one step along K follow each other.
  auto place = [](int row, int word, int rows) { return word / 4 * rows * 4 + row * 4 + word % 4; };
  for (int i = threadIdx.x; i < M * WORDS; i += 128) a[place(i / WORDS, i % WORDS, M)] = queries[i];
  for (int i = threadIdx.x; i < N * WORDS; i += 128) b[place(i / WORDS, i % WORDS, N)] = codes[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  auto describe = [](const uint32_t* p, int rows) {
    uint64_t address = __cvta_generic_to_shared(p);
    return (address & 0x3ffff) >> 4 | uint64_t(rows) << 16 | uint64_t(8) << 32;
  };
  int d[8] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int step = 0; step < 2; step++)
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1;"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
                 : "l"(describe(a + step * 8 * M, M)), "l"(describe(b + step * 8 * N, N)));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  for (int i = 0; i < 8; i++)
    out[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
}

int main() {
  static uint32_t queries[M * WORDS], codes[N * WORDS];
  static int out[M * N];
  uint32_t seed = 1;
  auto next = [&] { return seed = seed * 1664525 + 1013904223, seed ^ seed >> 15; };
  for (auto& word : queries) word = next();
  for (auto& word : codes) word = next() & next();
  uint32_t *dq, *dc;
  int* dout;
  cudaMalloc(&dq, sizeof queries), cudaMalloc(&dc, sizeof codes), cudaMalloc(&dout, sizeof out);
  cudaMemcpy(dq, queries, sizeof queries, cudaMemcpyDefault), cudaMemcpy(dc, codes, sizeof codes, cudaMemcpyDefault);
  similarities<<<1, 128>>>(dq, dc, dout);
  if (cudaMemcpy(out, dout, sizeof out, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  for (int i = 0; i < M * N; i++) {
    int both = 0;
    for (int w = 0; w < WORDS; w++) both += __builtin_popcount(queries[i / N * WORDS + w] & codes[i % N * WORDS + w]);
    if (out[i] != both) return printf("query %d, code %d: %d, not %d\n", i / N, i % N, out[i], both), 1;
  }
  puts("binary codes: right");
}
