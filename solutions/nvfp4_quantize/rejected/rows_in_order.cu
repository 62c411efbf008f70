// expect: wrong_answer scale_rows_in_order
//! problem = "nvfp4_quantize"
//
// Tiles of 128 rows by 4 columns, but within a tile the rows follow each other. Rows 32 apart
// belong side by side.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// E2M1 code nearest to x; at a midpoint the even code wins.
__device__ unsigned encode(float x) {
    const float y = fabsf(x);
    const unsigned magnitude = (y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f)
                             + (y >= 3.5f) + (y > 5.0f);
    return magnitude | __float_as_uint(x) >> 31 << 3;
}

__device__ size_t swizzled(size_t row, size_t column, size_t columns) {
    const size_t tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 128 * 4 + column % 4;
}

__global__ void quantize(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m,
                         size_t columns) {
    const size_t padded = (columns + 3) / 4 * 4;
    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = thread / padded, column = thread % padded;
    if (row >= m || column >= columns) {
        scale[swizzled(row, column, columns)] = 0;
        return;
    }

    const size_t block = row * columns + column;
    const __half* x = a + block * 16;
    float amax = 0.0f;
    for (int i = 0; i < 16; i++) amax = fmaxf(amax, fabsf(__half2float(x[i])));

    const __nv_fp8_e4m3 byte(sf_g * (amax * (1.0f / 6.0f)));
    const float stored = float(byte);
    const float factor = stored == 0.0f ? 0.0f : sf_g / stored;

    scale[swizzled(row, column, columns)] = byte.__x;
    for (int i = 0; i < 8; i++) {
        const unsigned even = encode(__half2float(x[2 * i]) * factor);
        const unsigned odd = encode(__half2float(x[2 * i + 1]) * factor);
        q[block * 8 + i] = even | odd << 4;
    }
}

extern "C" void solution(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m,
                         size_t k) {
    const size_t columns = k / 16;
    // Whole tiles of 512 scales: no rest.
    const size_t scales = (m + 127) / 128 * 128 * ((columns + 3) / 4 * 4);
    const unsigned threads = 256;
    quantize<<<unsigned(scales / threads), threads>>>(a, sf_g, q, scale, m, columns);
}
