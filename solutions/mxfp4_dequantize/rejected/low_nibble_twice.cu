// expect: wrong_answer low_nibble_twice
//! problem = "mxfp4_dequantize"
//
// The shift to the high nibble is missing: both elements are the even one.

#include <cstddef>
#include <cstdint>

// Value of an E2M1 code. Exponent 0 has no hidden bit.
__device__ float decode(unsigned code) {
    const unsigned exponent = code >> 1 & 3, mantissa = code & 1;
    const float magnitude = exponent == 0 ? 0.5f * mantissa
                                          : (1.0f + 0.5f * mantissa) * float(1u << (exponent - 1));
    return code & 8 ? -magnitude : magnitude;
}

// Value of an E8M0 byte.
__device__ float decode_scale(unsigned byte) {
    if (byte == 0) return __uint_as_float(0x00400000u);
    if (byte == 255) return __uint_as_float(0x7fffffffu);
    return __uint_as_float(byte << 23);
}

__global__ void dequantize(const uint8_t* q, const uint8_t* scale, float* out, size_t bytes) {
    const size_t index = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (index >= bytes) return;

    const float factor = decode_scale(scale[index / 16]);
    const unsigned pair = q[index];
    out[2 * index] = decode(pair & 15) * factor;
    out[2 * index + 1] = decode(pair & 15) * factor;
}

extern "C" void solution(const uint8_t* q, const uint8_t* scale, float* out, size_t m, size_t k) {
    const size_t bytes = m * k / 2;
    const unsigned threads = 256;
    dequantize<<<unsigned((bytes + threads - 1) / threads), threads>>>(q, scale, out, bytes);
}
