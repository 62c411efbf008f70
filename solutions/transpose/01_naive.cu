//! problem = "transpose"
//
// Rung 1: one thread, one element.
//
// A warp reads 32 neighbouring floats of a row, one line of 128 bytes: that is as good as it gets.
// It writes them down a column, `height` floats apart: 32 sectors of 32 bytes for 4 bytes each.
// Seven eighths of what is written to memory's side is wasted, unless the cache keeps the sectors
// until their other seven floats come.
//
// `nibble profile` shows it at the store: 32 sectors a request, where the load above has 4.

#include <cstddef>

__global__ void transpose(const float* input, float* output, size_t width, size_t height) {
    const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t row = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    output[column * height + row] = input[row * width + column];
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 threads(32, 8);
    const dim3 blocks(unsigned((width + 31) / 32), unsigned((height + 7) / 8));
    transpose<<<blocks, threads>>>(input, output, width, height);
}
