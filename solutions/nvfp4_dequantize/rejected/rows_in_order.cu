// expect: wrong_answer scale_rows_in_order
//! problem = "nvfp4_dequantize"
//
// Tiles of 128 rows by 4 columns, but within a tile the rows are taken to follow each other. Rows
// 32 apart are side by side.

#include <cstddef>
#include <cstdint>
#include <cuda_fp8.h>

// Value of an E2M1 code. Exponent 0 has no hidden bit.
__device__ float decode(unsigned code) {
    const unsigned exponent = code >> 1 & 3, mantissa = code & 1;
    const float magnitude = exponent == 0 ? 0.5f * mantissa
                                          : (1.0f + 0.5f * mantissa) * float(1u << (exponent - 1));
    return code & 8 ? -magnitude : magnitude;
}

// Where the scale of block `column` of `row` lies, with `columns` blocks in a row.
__device__ size_t swizzled(size_t row, size_t column, size_t columns) {
    const size_t tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 128 * 4 + column % 4;
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
