// The Mandelbrot set with fixed-point numbers (28 bits of fraction), so that the host's counts are the same; divergence in
// every warp, a 2-D grid, char output.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define W 96
#define H 64
#define MAX_ITER 200

__host__ __device__ int escape(int64_t cx, int64_t cy) {
  int64_t x = 0, y = 0;
  int i = 0;
  for (; i < MAX_ITER; i++) {
    int64_t xx = x * x >> 28, yy = y * y >> 28;
    if (xx + yy > (int64_t)4 << 28) break;
    y = (x * y >> 27) + cy;
    x = xx - yy + cx;
  }
  return i;
}

__host__ __device__ int64_t coordinate(int p, int size, double from, double to) {
  return (int64_t)((from + (to - from) * p / size) * (1 << 28));
}

__global__ void mandel(unsigned char *image) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= W || py >= H) return;
  image[py * W + px] = escape(coordinate(px, W, -2.2, 0.8), coordinate(py, H, -1.2, 1.2));
}

int main() {
  unsigned char *d, *h = (unsigned char *)malloc(W * H);
  cudaMalloc(&d, W * H);
  mandel<<<dim3((W + 7) / 8, (H + 7) / 8), dim3(8, 8)>>>(d);
  if (cudaMemcpy(h, d, W * H, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  int inside = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      int want = escape(coordinate(x, W, -2.2, 0.8), coordinate(y, H, -1.2, 1.2));
      if (h[y * W + x] != want) { printf("pixel (%d, %d): %d, expected %d\n", x, y, h[y * W + x], want); return 1; }
      inside += want == MAX_ITER;
    }
  printf("Mandelbrot set: %d of %d pixels inside\n", inside, W * H);
  free(h);
  return 0;
}
