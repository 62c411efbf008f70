// expect: runtime_error out_of_bounds
//! problem = "transpose"
//
// The last CTAs have more threads than elements are left, and nobody checks.

#include <cstddef>

__global__ void transpose(const float* input, float* output, size_t width, size_t height) {
    const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t row = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
    output[column * height + row] = input[row * width + column];
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 threads(32, 8);
    const dim3 blocks(unsigned((width + 31) / 32), unsigned((height + 7) / 8));
    transpose<<<blocks, threads>>>(input, output, width, height);
}
