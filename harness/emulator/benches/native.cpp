// The microbenchmarks' loops as one writes them for a CPU: scalar, one thread. Compiled by `targets.rs` with g++ -O3
// -march=native -fno-tree-vectorize. Inputs and sizes are those of `microbenchmark.rs`. Prints a name and the median of the
// nanoseconds of processor time of nine rounds, a line each.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

static uint32_t bits(float x) {
  uint32_t b;
  memcpy(&b, &x, 4);
  return b;
}

static float from_bits(uint32_t b) {
  float x;
  memcpy(&x, &b, 4);
  return x;
}

static unsigned e2m1(float s) {
  float a = std::fabs(s);
  unsigned code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) + (a >= 3.5f) + (a > 5.0f);
  return code | bits(s) >> 31 << 3;
}

static unsigned exponent(float largest) { return std::max(int(bits(largest) >> 23) - 2, 0); }
static float inverse(unsigned e) { return from_bits((254 - e) << 23); }

constexpr int BLOCKS = 32768, THREADS = 16384, STEPS = 4096, N = 256, TILE = 16;

// K1: the block's largest magnitude, its scale, its codes.
static void thread_per_block(const float* x, uint8_t* q, uint8_t* scales) {
  for (int b = 0; b < BLOCKS; b++) {
    const float* v = x + b * 32;
    float largest = 0;
    for (int i = 0; i < 32; i++) largest = std::max(largest, std::fabs(v[i]));
    unsigned e = exponent(largest);
    float scale = inverse(e);
    scales[b] = uint8_t(e);
    for (int i = 0; i < 16; i++) q[b * 16 + i] = uint8_t(e2m1(v[2 * i] * scale) | e2m1(v[2 * i + 1] * scale) << 4);
  }
}

// K2: the same as 32 lanes do it, five rounds of exchanges for the largest.
static void warp_per_block(const float* x, uint8_t* q, uint8_t* scales) {
  for (int b = 0; b < BLOCKS; b++) {
    float largest[32], other[32];
    unsigned code[32];
    for (int l = 0; l < 32; l++) largest[l] = std::fabs(x[b * 32 + l]);
    for (int o = 16; o > 0; o >>= 1) {
      for (int l = 0; l < 32; l++) other[l] = largest[l ^ o];
      for (int l = 0; l < 32; l++) largest[l] = std::max(largest[l], other[l]);
    }
    for (int l = 0; l < 32; l++) code[l] = e2m1(x[b * 32 + l] * inverse(exponent(largest[l])));
    for (int l = 0; l < 32; l += 2) q[(b * 32 + l) >> 1] = uint8_t(code[l] | code[l + 1] << 4);
    scales[b] = uint8_t(exponent(largest[0]));
  }
}

// K3: each step needs the one before it.
static void dependent_fma(float* y, float a, float c) {
  for (int t = 0; t < THREADS; t++) {
    float v = float(t & 1023) * 0.001f;
    for (int i = 0; i < STEPS; i++) v = std::fma(v, a, c);
    y[t] = v;
  }
}

// K4: tile by tile, sixteen sums in registers.
static void tiled_product(const float* a, const float* b, float* c) {
  for (int r0 = 0; r0 < N; r0 += TILE)
    for (int c0 = 0; c0 < N; c0 += TILE)
      for (int r = r0; r < r0 + TILE; r++) {
        float sum[TILE] = {};
        for (int k = 0; k < N; k++)
          for (int j = 0; j < TILE; j++) sum[j] = std::fma(a[r * N + k], b[k * N + c0 + j], sum[j]);
        for (int j = 0; j < TILE; j++) c[r * N + c0 + j] = sum[j];
      }
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

template <class F>
static void measure(const char* name, F run) {
  std::vector<double> took;
  for (int round = 0; round < 10; round++) {  // the first is not counted
    double begin = now();
    run();
    took.push_back(now() - begin);
  }
  std::sort(took.begin() + 1, took.end());
  std::printf("%s %.0f\n", name, took[5]);
}

static std::vector<float> filled(int count) {
  std::vector<float> x(count);
  for (int i = 0; i < count; i++) x[i] = float(i * 7919ll % 2048) / 1024 - 1;
  return x;
}

int main() {
  auto x = filled(BLOCKS * 32), a = filled(N * N), b = filled(N * N);
  std::vector<uint8_t> q(BLOCKS * 16), scales(BLOCKS);
  std::vector<float> y(THREADS), c(N * N);
  measure("k1_thread", [&] { thread_per_block(x.data(), q.data(), scales.data()); });
  measure("k2_warp", [&] { warp_per_block(x.data(), q.data(), scales.data()); });
  measure("k3_fma", [&] { dependent_fma(y.data(), 0.9999f, 0.01f); });
  measure("k4_sgemm", [&] { tiled_product(a.data(), b.data(), c.data()); });
  // So that nothing is left out.
  double sum = 0;
  for (float v : y) sum += v;
  for (float v : c) sum += v;
  for (int v : q) sum += v;
  for (int v : scales) sum += v;
  return sum == 0;
}
