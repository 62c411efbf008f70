// expect: wrong_answer unwritten_output
//! problem = "transpose"
//
// The number of CTAs is rounded down: what does not fill a tile is never written. Here that is
// all of the smallest matrices.

#include <cstddef>

constexpr int kTile = 32;
constexpr int kRows = 8;  // of threads: each takes four elements

__global__ void transpose(const float* input, float* output, size_t width, size_t height) {
    __shared__ float tile[kTile][kTile + 1];
    const size_t left = size_t(blockIdx.x) * kTile, top = size_t(blockIdx.y) * kTile;
    for (int y = threadIdx.y; y < kTile; y += kRows) {
        const size_t row = top + y, column = left + threadIdx.x;
        if (row < height && column < width) tile[y][threadIdx.x] = input[row * width + column];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kRows) {
        const size_t row = left + y, column = top + threadIdx.x;  // of the output
        if (row < width && column < height) output[row * height + column] = tile[threadIdx.x][y];
    }
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 blocks(unsigned(width / kTile), unsigned(height / kTile));
    if (blocks.x * blocks.y == 0) return transpose<<<1, dim3(kTile, kRows)>>>(input, output, 0, 0);
    transpose<<<blocks, dim3(kTile, kRows)>>>(input, output, width, height);
}
