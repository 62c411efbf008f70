// expect: wrong_answer read_stride_of_height
//! problem = "transpose"
//
// Rows of the input are taken to be `height` floats apart. In a square nobody would notice. The
// guard keeps it inside the matrix, where what it finds is another element.

#include <cstddef>

__global__ void transpose(const float* input, float* output, size_t width, size_t height) {
    const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t row = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    output[column * height + row] = input[(row * height + column) % (width * height)];
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 threads(32, 8);
    const dim3 blocks(unsigned((width + 31) / 32), unsigned((height + 7) / 8));
    transpose<<<blocks, threads>>>(input, output, width, height);
}
