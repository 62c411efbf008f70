// expect: wrong_answer not_transposed
//! problem = "transpose"
//
// The index of the store is the index of the load: a copy.

#include <cstddef>

__global__ void transpose(const float* input, float* output, size_t width, size_t height) {
    const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t row = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    output[row * width + column] = input[row * width + column];
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 threads(32, 8);
    const dim3 blocks(unsigned((width + 31) / 32), unsigned((height + 7) / 8));
    transpose<<<blocks, threads>>>(input, output, width, height);
}
