//! problem = "mxfp4_dequantize"
//
// Rung 1: one thread takes one byte, which is two elements.
//
// The formula and nothing else: take the nibbles apart, look at sign, exponent and mantissa of each,
// multiply by the scale, a power of two. Everything is exact: a code has two significant bits at
// most. What can go wrong are the ends. Codes 0 and 1 have no hidden bit, code 8 is -0, scale byte 0
// is 2^-127 (a subnormal float, which no exponent field can hold) and byte 255 is NaN.
//
// What to expect: close to a copy. For each byte of codes eight bytes of floats go out, and those
// leave neighbouring threads side by side. The loads are single bytes, a warp's 32 in one sector;
// they are few beside the stores.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 6.0 for 1024 x
// 1024, 12.4 for 2048 x 2048, 81.4 for 4096 x 8192, 161 for 8192 x 8192. The last is 0.45 of the
// bandwidth of a device-to-device copy of as many bytes. Less than expected: the two stores are two
// instructions, each with every other float, so each fills half of its sectors.

#include <cstddef>
#include <cstdint>

// Value of an E2M1 code.
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
    out[2 * index + 1] = decode(pair >> 4) * factor;
}

extern "C" void solution(const uint8_t* q, const uint8_t* scale, float* out, size_t m, size_t k) {
    const size_t bytes = m * k / 2;
    const unsigned threads = 256;
    dequantize<<<unsigned((bytes + threads - 1) / threads), threads>>>(q, scale, out, bytes);
}
