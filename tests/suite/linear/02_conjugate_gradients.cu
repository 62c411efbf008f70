// Conjugate gradients in one cooperative kernel: matrix-free Laplacian, dot products through grid.sync. Checked by the
// residual, computed on the host.
#include <cooperative_groups.h>
#include <cmath>
#include <cstdio>
#include <vector>
namespace cg = cooperative_groups;

constexpr int SIDE = 12, N = SIDE * SIDE;

__device__ float laplace(const float* p, int i) {
  int x = i % SIDE, y = i / SIDE;
  return 4 * p[i] - (x > 0 ? p[i - 1] : 0) - (x < SIDE - 1 ? p[i + 1] : 0) - (y > 0 ? p[i - SIDE] : 0) - (y < SIDE - 1 ? p[i + SIDE] : 0);
}

__device__ double dot(cg::grid_group grid, const float* a, const float* b, double* sum) {
  // Three accumulators in turn, so that clearing one never meets its readers.
  double part = 0;
  for (int i = grid.thread_rank(); i < N; i += grid.size()) part += double(a[i]) * b[i];
  for (int d = 16; d; d >>= 1) part += __shfl_down_sync(~0u, part, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, part);
  grid.sync();
  return *(volatile double*)sum;
}

__global__ void solve(float* x, float* r, float* p, float* ap, double* sums, int* iterations) {
  cg::grid_group grid = cg::this_grid();
  double rr = dot(grid, r, r, &sums[0]);
  const double enough = rr * 1e-8;
  int turn = 0;
  for (int it = 0; it < 200 && rr > enough; it++) {
    for (int i = grid.thread_rank(); i < N; i += grid.size()) ap[i] = laplace(p, i);
    if (grid.thread_rank() == 0) sums[(turn + 2) % 3] = 0, *iterations = it + 1;
    grid.sync();
    double pap = dot(grid, p, ap, &sums[(turn + 1) % 3]);
    const float alpha = rr / pap;
    for (int i = grid.thread_rank(); i < N; i += grid.size()) x[i] += alpha * p[i], r[i] -= alpha * ap[i];
    grid.sync();
    double next = dot(grid, r, r, &sums[(turn + 2) % 3]);
    if (grid.thread_rank() == 0) sums[(turn + 3) % 3] = 0;
    const float beta = next / rr;
    for (int i = grid.thread_rank(); i < N; i += grid.size()) p[i] = r[i] + beta * p[i];
    rr = next;
    turn += 2;
    grid.sync();
    if (grid.thread_rank() == 0) sums[(turn + 1) % 3] = 0, sums[(turn + 2) % 3] = 0;
    grid.sync();
  }
}

int main() {
  std::vector<float> b(N), x(N);
  for (int i = 0; i < N; i++) b[i] = i % 37 == 5 ? 1.f : 0.1f * std::sin(float(i));
  float* d[4];
  double* sums;
  int *iterations, used;
  for (auto& p : d) cudaMalloc(&p, N * 4);
  cudaMalloc(&sums, 3 * 8), cudaMalloc(&iterations, 4);
  cudaMemset(d[0], 0, N * 4), cudaMemset(sums, 0, 24);
  cudaMemcpy(d[1], b.data(), N * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d[2], b.data(), N * 4, cudaMemcpyHostToDevice);
  void* args[] = {&d[0], &d[1], &d[2], &d[3], &sums, &iterations};
  if (cudaLaunchCooperativeKernel((void*)solve, 3, 64, args, 0, 0)) return puts("no cooperative launch"), 2;
  if (cudaError_t e = cudaMemcpy(x.data(), d[0], N * 4, cudaMemcpyDeviceToHost)) return printf("%s\n", cudaGetErrorString(e)), 2;
  cudaMemcpy(&used, iterations, 4, cudaMemcpyDeviceToHost);
  double residual = 0, size = 0;
  for (int i = 0; i < N; i++) {
    int c = i % SIDE, r = i / SIDE;
    double ax = 4.0 * x[i];
    if (c > 0) ax -= x[i - 1];
    if (c < SIDE - 1) ax -= x[i + 1];
    if (r > 0) ax -= x[i - SIDE];
    if (r < SIDE - 1) ax -= x[i + SIDE];
    residual += (b[i] - ax) * (b[i] - ax), size += double(b[i]) * b[i];
  }
  double relative = std::sqrt(residual / size);
  if (!(relative < 5e-4) || used > 100) return printf("residual %g after %d iterations\n", relative, used), 1;
  printf("conjugate gradients: residual %.1e after %d iterations\n", relative, used);
}
