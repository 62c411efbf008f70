//! problem = "transpose"
//
// Rung 3: a 33rd column that nobody reads.
//
// Rows of the tile are 33 floats apart, so an element's bank is (33 * row + column) % 32, which is
// (row + column) % 32: down a column every row has a bank of its own, and along a row too.
//
//   bank    0  1  2  3 …                 bank    0  1  2  3 …
//   row 0   a0 a1 a2 a3                  row 0   a0 a1 a2 a3
//   row 1   b0 b1 b2 b3   32 floats      row 1   -  b0 b1 b2   33 floats
//   row 2   c0 c1 c2 c3                  row 2   c31 -  c0 c1
//
// That is one character of the source, 128 bytes of shared memory, and 1 pass in the place of 32.
//
// Seen on an H200 (2026-11-23, sm_90a, cold L2, microseconds): 12.9 for 2048 x 2048, 12.9 for 4096 x 1024, 10.6 for
// 1000 x 3000.

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
    const dim3 blocks(unsigned((width + kTile - 1) / kTile), unsigned((height + kTile - 1) / kTile));
    transpose<<<blocks, dim3(kTile, kRows)>>>(input, output, width, height);
}
