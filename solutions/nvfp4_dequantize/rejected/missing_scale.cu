// expect: wrong_answer scale_missing
//! problem = "nvfp4_dequantize"
//
// The block's scale is not used.

#include <cstddef>
#include <cstdint>

// Value of an E2M1 code. Exponent 0 has no hidden bit.
__device__ float decode(unsigned code) {
    const unsigned exponent = code >> 1 & 3, mantissa = code & 1;
    const float magnitude = exponent == 0 ? 0.5f * mantissa
                                          : (1.0f + 0.5f * mantissa) * float(1u << (exponent - 1));
    return code & 8 ? -magnitude : magnitude;
}

__global__ void dequantize(const uint8_t* q, const uint8_t* scale, float sf_g, float* out, size_t m,
                           size_t k) {
    const size_t index = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (index >= m * k / 2) return;

    const float factor = 1.0f / sf_g;
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
