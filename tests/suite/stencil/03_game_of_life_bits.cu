// Conway's life, 32 cells in a word: neighbours added by bit-sliced full adders (lop3 territory), funnel shifts across
// words, a torus.
#include <bitset>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int H = 64, WORDS = 3, W = WORDS * 32;

__device__ void add(uint32_t a, uint32_t b, uint32_t c, uint32_t& low, uint32_t& high) {
  low = a ^ b ^ c;
  high = (a & b) | (c & (a | b));
}

__global__ void generation(const uint32_t* in, uint32_t* out) {
  int w = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
  uint32_t left[3], mid[3], right[3];
  for (int d = 0; d < 3; d++) {
    const uint32_t* row = in + (y + d + H - 1) % H * WORDS;
    uint32_t c = row[w];
    mid[d] = c;
    left[d] = __funnelshift_l(row[(w + WORDS - 1) % WORDS], c, 1);
    right[d] = __funnelshift_r(c, row[(w + 1) % WORDS], 1);
  }
  uint32_t l0, h0, l1, h1, s0, c0, s1, c1, s2, c2;
  add(left[0], mid[0], right[0], l0, h0);
  add(left[2], mid[2], right[2], l1, h1);
  uint32_t l2 = left[1] ^ right[1], h2 = left[1] & right[1];
  add(l0, l1, l2, s0, c0);
  add(h0, h1, h2, s1, c1);
  s2 = s1 ^ c0;
  c2 = c1 | (s1 & c0);  // four or more: any carry out of the twos
  // Alive with three, or with two if alive: ones and twos without fours.
  out[y * WORDS + w] = ~c2 & s2 & (s0 | mid[1]);
}

int main() {
  std::vector<uint32_t> a(H * WORDS), got(H * WORDS);
  uint32_t s = 123;
  for (auto& x : a) s = s * 1664525 + 1013904223, x = s ^ s >> 15;
  uint32_t* d[2];
  for (auto& p : d) cudaMalloc(&p, a.size() * 4);
  cudaMemcpy(d[0], a.data(), a.size() * 4, cudaMemcpyHostToDevice);
  const int generations = 20;
  for (int g = 0; g < generations; g++) generation<<<H / 16, dim3(WORDS, 16)>>>(d[g % 2], d[1 - g % 2]);
  if (cudaMemcpy(got.data(), d[generations % 2], a.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  std::vector<char> cells(H * W), next(H * W);
  for (int i = 0; i < H * W; i++) cells[i] = a[i / 32] >> (i % 32) & 1;
  for (int g = 0; g < generations; g++) {
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        int n = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++) n += (dx || dy) && cells[(y + dy + H) % H * W + (x + dx + W) % W];
        next[y * W + x] = n == 3 || (n == 2 && cells[y * W + x]);
      }
    cells.swap(next);
  }
  int alive = 0;
  for (int i = 0; i < H * W; i++) {
    int is = got[i / 32] >> (i % 32) & 1;
    if (is != cells[i]) return printf("cell (%d, %d) is %d\n", i % W, i / W, is), 1;
    alive += is;
  }
  printf("life after %d generations: %d alive\n", generations, alive);
}
