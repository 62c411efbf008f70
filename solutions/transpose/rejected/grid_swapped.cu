// expect: wrong_answer unwritten_output_last_rows
//! problem = "transpose"
//
// The grid has the sides of the output, and the indices are the input's: in matrices that are not
// square a part is taken by nobody.

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
    const dim3 blocks(unsigned((height + kTile - 1) / kTile), unsigned((width + kTile - 1) / kTile));
    transpose<<<blocks, dim3(kTile, kRows)>>>(input, output, width, height);
}
