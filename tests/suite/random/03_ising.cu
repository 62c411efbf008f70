// The Ising model on a checkerboard: black and white cells in turn, integer acceptance thresholds, a hash of (cell, sweep)
// as randomness; every spin must agree with the host's.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int L = 48;

__host__ __device__ uint32_t hash(uint32_t x, uint32_t y) {
  x = x * 0xcc9e2d51u + y * 0x1b873593u;
  x ^= x >> 15, x *= 0x2c1b3c6du, x ^= x >> 12, x *= 0x297a2d39u;
  return x ^ x >> 15;
}

__host__ __device__ void flip(signed char* s, int i, int sweep, const uint32_t* accept) {
  int x = i % L, y = i / L;
  int sum = s[y * L + (x + 1) % L] + s[y * L + (x + L - 1) % L] + s[(y + 1) % L * L + x] + s[(y + L - 1) % L * L + x];
  int cost = s[i] * sum;  // half the energy that a flip takes
  if (cost <= 0 || hash(i, sweep) < accept[cost]) s[i] = -s[i];
}

__constant__ uint32_t accept[5];

__global__ void sweep(signed char* s, int colour, int number) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= L * L / 2) return;
  int y = k / (L / 2), x = k % (L / 2) * 2 + (y + colour) % 2;
  flip(s, y * L + x, number, accept);
}

int main() {
  uint32_t thresholds[5];
  for (int c = 0; c < 5; c++) thresholds[c] = uint32_t(std::exp(-2 * c * 0.42) * 4294967295.0);
  cudaMemcpyToSymbol(accept, thresholds, sizeof thresholds);
  std::vector<signed char> s(L * L), got(L * L);
  for (int i = 0; i < L * L; i++) s[i] = hash(i, 999) & 1 ? 1 : -1;
  signed char* d;
  cudaMalloc(&d, L * L);
  cudaMemcpy(d, s.data(), L * L, cudaMemcpyHostToDevice);
  const int sweeps = 20;
  for (int n = 0; n < 2 * sweeps; n++) {
    sweep<<<(L * L / 2 + 127) / 128, 128>>>(d, n % 2, n);
    for (int i = 0; i < L * L; i++)
      if ((i % L + i / L) % 2 == n % 2) flip(s.data(), i, n, thresholds);
  }
  if (cudaMemcpy(got.data(), d, L * L, cudaMemcpyDeviceToHost)) return 2;
  int magnetisation = 0;
  for (int i = 0; i < L * L; i++) {
    if (got[i] != s[i]) return printf("spin (%d, %d) is %d\n", i % L, i / L, got[i]), 1;
    magnetisation += s[i];
  }
  printf("Ising model, %d sweeps, magnetisation %d: every spin\n", sweeps, magnetisation);
}
