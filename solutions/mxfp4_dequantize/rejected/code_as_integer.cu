// expect: wrong_answer code_as_integer
//! problem = "mxfp4_dequantize"
//
// The nibble is read as a whole number from -8 to 7, as in INT4. FP4 is a floating-point format.

#include <cstddef>
#include <cstdint>

__device__ float decode(unsigned code) { return float(int(code << 28) >> 28); }

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
