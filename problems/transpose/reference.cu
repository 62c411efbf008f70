// One thread takes one element of the output. Right and slow, and wrong on demand: each known bug
// says which element of the input is in that place.

#include <cstddef>
#include <cuda_fp16.h>

enum KnownBug : size_t {
    kNone,
    kNotTransposed,
    kReadStrideOfHeight,
    kTilesNotTransposed,
    kRowsReversed,
    kColumnsReversed,
    kRoundedToF16,
};

__global__ void transpose(const float* input, float* output, size_t width, size_t height,
                          size_t known_bug) {
    const size_t place = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= width * height) return;
    size_t row = place % height, column = place / height, stride = width;
    switch (known_bug) {
        case kNotTransposed: row = 0, column = place; break;
        case kReadStrideOfHeight: stride = height; break;
        case kTilesNotTransposed: {
            const size_t x = row % 32, y = column % 32;
            row += y - x, column += x - y;
            break;
        }
        case kRowsReversed: row = height - 1 - row; break;
        case kColumnsReversed: column = width - 1 - column; break;
    }
    // Where a bug leads out of the matrix it has no outcome: not a number.
    const size_t from = row * stride + column;
    float value = from < width * height ? input[from] : __int_as_float(0x7fffffff);
    if (known_bug == kRoundedToF16) value = __half2float(__float2half(value));
    output[place] = value;
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height,
                         size_t known_bug) {
    const size_t threads = 256, blocks = (width * height + threads - 1) / threads;
    transpose<<<unsigned(blocks), unsigned(threads)>>>(input, output, width, height, known_bug);
}
