// expect: wrong_answer code_as_integer
//! problem = "nvfp4_dequantize"
//
// The nibble is read as a whole number from -8 to 7, as in INT4. FP4 is a floating-point format.

#include <cstddef>
#include <cstdint>
#include <cuda_fp8.h>

__device__ float decode(unsigned code) { return float(int(code << 28) >> 28); }

// Where the scale of block `column` of `row` lies, with `columns` blocks in a row.
__device__ size_t swizzled(size_t row, size_t column, size_t columns) {
    const size_t tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

__global__ void dequantize(const uint8_t* q, const uint8_t* scale, float sf_g, float* out, size_t m,
                           size_t k) {
    const size_t index = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (index >= m * k / 2) return;

    const size_t row = index / (k / 2), block = index % (k / 2) / 8;
    __nv_fp8_e4m3 byte;
    byte.__x = scale[swizzled(row, block, k / 16)];
    const float factor = float(byte) / sf_g;
    const unsigned pair = q[index];
    out[2 * index] = decode(pair & 15) * factor;
    out[2 * index + 1] = decode(pair >> 4) * factor;
}

extern "C" void solution(const uint8_t* q, const uint8_t* scale, float sf_g, float* out, size_t m,
                         size_t k) {
    const size_t bytes = m * k / 2;
    const unsigned threads = 256;
    dequantize<<<unsigned((bytes + threads - 1) / threads), threads>>>(q, scale, sf_g, out, m, k);
}
