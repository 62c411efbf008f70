// The heat equation in three dimensions: planes march through registers, a plane's neighbours lie in shared memory.
// Double buffering by swapping pointers; an event measures nothing but must come in order.
#include <cstdio>
#include <utility>
#include <vector>

template <int BX, int BY>
__global__ void step(const double* __restrict__ u, double* __restrict__ v, int nx, int ny, int nz, double k) {
  __shared__ double plane[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x + 1, y = blockIdx.y * BY + threadIdx.y + 1;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const bool inside = x < nx - 1 && y < ny - 1;
  auto at = [&](int z) { return x < nx && y < ny ? u[(z * ny + y) * nx + x] : 0.0; };
  double below = at(0), here = at(1), above;
  for (int z = 1; z < nz - 1; z++) {
    above = at(z + 1);
    __syncthreads();
    plane[ty][tx] = here;
    if (threadIdx.x == 0 && y < ny) plane[ty][0] = u[(z * ny + y) * nx + x - 1];
    if (threadIdx.x == BX - 1 && y < ny && x + 1 < nx) plane[ty][BX + 1] = u[(z * ny + y) * nx + x + 1];
    if (threadIdx.y == 0 && x < nx) plane[0][tx] = u[(z * ny + y - 1) * nx + x];
    if (threadIdx.y == BY - 1 && x < nx && y + 1 < ny) plane[BY + 1][tx] = u[(z * ny + y + 1) * nx + x];
    __syncthreads();
    if (inside) {
      double sum = __dadd_rn(__dadd_rn(plane[ty][tx - 1], plane[ty][tx + 1]), __dadd_rn(plane[ty - 1][tx], plane[ty + 1][tx]));
      sum = __dadd_rn(sum, __dadd_rn(below, above));
      v[(z * ny + y) * nx + x] = __fma_rn(k, __fma_rn(-6.0, here, sum), here);
    }
    below = here;
    here = above;
  }
}

int main() {
  const int nx = 37, ny = 21, nz = 15, n = nx * ny * nz, steps = 6;
  std::vector<double> h(n), next, got(n);
  for (int i = 0; i < n; i++) h[i] = (i * 7919 % 1000) / 1000.0;
  double *u, *v;
  cudaMalloc(&u, n * 8), cudaMalloc(&v, n * 8);
  cudaMemcpy(u, h.data(), n * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(v, u, n * 8, cudaMemcpyDeviceToDevice);
  constexpr int BX = 16, BY = 8;
  for (int s = 0; s < steps; s++, std::swap(u, v))
    step<BX, BY><<<dim3((nx - 2 + BX - 1) / BX, (ny - 2 + BY - 1) / BY), dim3(BX, BY)>>>(u, v, nx, ny, nz, 0.1);
  if (cudaMemcpy(got.data(), u, n * 8, cudaMemcpyDeviceToHost)) return 2;
  for (int s = 0; s < steps; s++) {
    next = h;
    for (int z = 1; z < nz - 1; z++)
      for (int y = 1; y < ny - 1; y++)
        for (int x = 1; x < nx - 1; x++) {
          int i = (z * ny + y) * nx + x;
          double sum = ((h[i - 1] + h[i + 1]) + (h[i - nx] + h[i + nx])) + (h[i - nx * ny] + h[i + nx * ny]);
          next[i] = __builtin_fma(0.1, __builtin_fma(-6.0, h[i], sum), h[i]);
        }
    h = next;
  }
  for (int i = 0; i < n; i++)
    if (got[i] != h[i]) return printf("cell %d: %.17g, expected %.17g\n", i, got[i], h[i]), 1;
  printf("%d steps of heat in %d cells: exact\n", steps, n);
}
