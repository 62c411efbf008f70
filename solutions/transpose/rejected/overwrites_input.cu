// expect: wrong_answer inputs_overwritten
//! problem = "transpose"
//
// What was moved is cleared, as if the input were a buffer of its own. It is not ours to write.

#include <cstddef>

__global__ void transpose(const float* input, float* output, size_t width, size_t height) {
    const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t row = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    output[column * height + row] = input[row * width + column];
    const_cast<float*>(input)[row * width + column] = 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 threads(32, 8);
    const dim3 blocks(unsigned((width + 31) / 32), unsigned((height + 7) / 8));
    transpose<<<blocks, threads>>>(input, output, width, height);
}
