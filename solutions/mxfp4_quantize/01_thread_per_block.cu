//! problem = "mxfp4_quantize"
//
// Rung 1: one thread takes one block of 32 elements, alone from end to end.
//
// The formula, written down and nothing else: find the largest magnitude, take the scale from its
// exponent, divide, round, pack. No thread needs to know of another, so this is the rung to get
// right first.
//
// What to expect: slow, and not for its arithmetic. In each step of the loops, neighbouring threads
// touch addresses 128 bytes apart, so one load of a warp spreads over 32 cache lines and uses 4
// bytes of each. The lines come back 31 more times and hopefully are still in L1. Stores of single
// bytes, 16 apart, are no better.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 12.8 for 1024 x
// 1024, 39.0 for 2048 x 2048, 292 for 4096 x 8192, 567 for 8192 x 8192. The last is 0.13 of the
// bandwidth of a device-to-device copy of as many bytes.

#include <cstddef>
#include <cstdint>

// E2M1 code nearest to x (magnitudes 0 0.5 1 1.5 2 3 4 6). At a midpoint the even code wins, which
// is why `>` and `>=` alternate. The sign bit is copied, not compared: -0 is code 8.
__device__ unsigned encode(float x) {
    const float y = fabsf(x);
    const unsigned magnitude = (y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f)
                             + (y >= 3.5f) + (y > 5.0f);
    return magnitude | __float_as_uint(x) >> 31 << 3;
}

// Scale byte of a block. Floats that are not negative are ordered like their bits, so `amax` is an
// integer here: exponent field above 23 bits of mantissa. The 2 is the exponent of E2M1's largest
// binade. Above infinity's bits there is only NaN, and the scale is then NaN too: byte 255.
__device__ unsigned scale_of(unsigned amax) {
    return amax > 0x7f800000u ? 255 : max(amax >> 23, 2u) - 2;
}

// 1 / 2^(scale - 127), which is exact. Byte 0 divides by 2^-126, as byte 1 does: the true 2^-127
// is no normal float.
__device__ float reciprocal(unsigned scale) {
    return __uint_as_float((254 - min(max(scale, 1u), 253u)) << 23);
}

__global__ void quantize(const float* a, uint8_t* q, uint8_t* scale, size_t blocks) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;

    const float* x = a + block * 32;
    unsigned amax = 0;
    for (int i = 0; i < 32; i++) amax = max(amax, __float_as_uint(x[i]) & 0x7fffffffu);

    const unsigned byte = scale_of(amax);
    const float inverse = reciprocal(byte);
    scale[block] = byte;
    for (int i = 0; i < 16; i++) {
        const unsigned even = encode(x[2 * i] * inverse);
        const unsigned odd = encode(x[2 * i + 1] * inverse);
        q[block * 16 + i] = even | odd << 4;
    }
}

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    const size_t blocks = m * k / 32;
    const unsigned threads = 256;
    quantize<<<unsigned((blocks + threads - 1) / threads), threads>>>(a, q, scale, blocks);
}
