// expect: wrong_answer all_zero
//! problem = "transpose"
//
// Everything is set to 0, by a kernel that nobody replaced.

#include <cstddef>

__global__ void clear(float* output, size_t count) {
    const size_t place = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place < count) output[place] = 0.0f;
}

extern "C" void solution(const float*, float* output, size_t width, size_t height) {
    const size_t count = width * height;
    clear<<<unsigned((count + 255) / 256), 256>>>(output, count);
}
