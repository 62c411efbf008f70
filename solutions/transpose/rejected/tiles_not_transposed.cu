// expect: wrong_answer tiles_not_transposed
//! problem = "transpose"
//
// The tiles change places, and the elements within a tile do not: it is read as it was written.

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
        if (row < width && column < height) output[row * height + column] = tile[y][threadIdx.x];
    }
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 blocks(unsigned((width + kTile - 1) / kTile), unsigned((height + kTile - 1) / kTile));
    transpose<<<blocks, dim3(kTile, kRows)>>>(input, output, width, height);
}
