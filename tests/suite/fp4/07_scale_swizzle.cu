// Scales from row-major into the 128 x 4 tiles of the block-scaled tensor cores, and back, with padding: a warp moves a
// tile's 512 bytes, 16 for each lane.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

__global__ void swizzle(const uint8_t* __restrict__ plain, uint4* __restrict__ tiles, int rows, int cols) {
  const int lane = threadIdx.x;
  alignas(16) uint8_t bytes[16];
#pragma unroll
  for (int i = 0; i < 16; i++) {
    int row = blockIdx.y * 128 + lane + i / 4 * 32, col = blockIdx.x * 4 + i % 4;
    bytes[i] = row < rows && col < cols ? plain[row * cols + col] : 0;
  }
  tiles[(blockIdx.y * gridDim.x + blockIdx.x) * 32 + lane] = *reinterpret_cast<uint4*>(bytes);
}

__global__ void unswizzle(const uint8_t* __restrict__ tiles, uint8_t* __restrict__ plain, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  int tile = row / 128 * DIV_UP(cols, 4) + col / 4;
  plain[row * cols + col] = tiles[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + col % 4];
}

int main() {
  const int shapes[][2] = {{128, 4}, {1, 1}, {200, 6}, {129, 5}, {300, 17}};
  for (auto& shape : shapes) {
    const int rows = shape[0], cols = shape[1], tr = DIV_UP(rows, 128), tc = DIV_UP(cols, 4), padded = tr * tc * 512;
    std::vector<uint8_t> in(rows * cols), tiles(padded), back(rows * cols);
    for (int i = 0; i < rows * cols; i++) in[i] = i * 131 + i / 256 + 1;
    uint8_t *d_in, *d_tiles, *d_back;
    cudaMalloc(&d_in, in.size()), cudaMalloc(&d_tiles, padded), cudaMalloc(&d_back, in.size());
    cudaMemcpy(d_in, in.data(), in.size(), cudaMemcpyHostToDevice);
    cudaMemset(d_tiles, 0xff, padded);
    swizzle<<<dim3(tc, tr), 32>>>(d_in, (uint4*)d_tiles, rows, cols);
    unswizzle<<<dim3(DIV_UP(cols, 8), DIV_UP(rows, 16)), dim3(8, 16)>>>(d_tiles, d_back, rows, cols);
    cudaMemcpy(tiles.data(), d_tiles, padded, cudaMemcpyDeviceToHost);
    if (cudaMemcpy(back.data(), d_back, in.size(), cudaMemcpyDeviceToHost)) return 2;
    std::vector<uint8_t> want(padded, 0);
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < cols; c++) {
        // [tile row][tile column][32][4][4]
        size_t at = (((size_t(r / 128) * tc + c / 4) * 32 + r % 32) * 4 + r / 32 % 4) * 4 + c % 4;
        want[at] = in[r * cols + c];
      }
    for (int i = 0; i < padded; i++)
      if (tiles[i] != want[i]) return printf("%d x %d, byte %d of the tiles: %d, expected %d\n", rows, cols, i, tiles[i], want[i]), 1;
    if (back != in) return printf("%d x %d does not come back\n", rows, cols), 1;
    cudaFree(d_in), cudaFree(d_tiles), cudaFree(d_back);
  }
  puts("scales of five shapes into tiles and back: exact");
}
