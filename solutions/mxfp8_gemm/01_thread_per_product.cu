//! problem = "mxfp8_gemm"
//
// Rung 1: one thread, one product of two rows.
//
// Codes are multiplied as floats and added up for a block of 32; the block's sum meets its scales,
// which only move its exponent. `ldexpf` cannot overflow on the way, as a product of the two scales
// could.
//
// What it costs: both rows are read byte by byte, each code is decoded once for each product it is in.
//
// Seen on an H200 (2026-11-23, sm_90a, cold L2, microseconds): 292 for 256 x 256 x 1024, 569 for 512 x 512 x 512.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

// Value of an E4M3 code: put under the exponent of a half it is 2^-8 times that.
__device__ __forceinline__ float decode(unsigned code) {
    const unsigned short bits = (code & 128) << 8 | (code & 127) << 7;
    return __half2float(*reinterpret_cast<const __half*>(&bits)) * 256.0f;
}

// The exponent of a scale in the 128x4 layout.
__device__ __forceinline__ int exponent(const uint8_t* scales, size_t across, size_t row, size_t block) {
    const size_t tile = row / 128 * across + block / 4;
    return int(scales[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4]) - 127;
}

__global__ void multiply(const uint8_t* a, const uint8_t* scale_a, const uint8_t* b,
                         const uint8_t* scale_b, float* c, size_t n, size_t k) {
    const size_t j = size_t(blockIdx.x) * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    const size_t blocks = k / 32, across = (blocks + 3) / 4;
    float sum = 0.0f;
    for (size_t block = 0; block < blocks; block++) {
        float part = 0.0f;
        for (size_t x = block * 32; x < block * 32 + 32; x++) {
            part += decode(a[i * k + x]) * decode(b[j * k + x]);
        }
        sum += ldexpf(part, exponent(scale_a, across, i, block) + exponent(scale_b, across, j, block));
    }
    c[i * n + j] = sum;
}

extern "C" void solution(const uint8_t* q_a, const uint8_t* scale_a, const uint8_t* q_b,
                         const uint8_t* scale_b, float* c, size_t m, size_t n, size_t k) {
    multiply<<<dim3(unsigned((n + 127) / 128), unsigned(m)), 128>>>(q_a, scale_a, q_b, scale_b, c, n, k);
}
