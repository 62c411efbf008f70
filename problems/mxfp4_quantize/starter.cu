//! problem = "mxfp4_quantize"
//
// MXFP4 quantization: one thread takes one block of 32 elements. Right, and slow: neighbouring
// threads read addresses 128 bytes apart. `nibble show mxfp4_quantize` states the problem.

#include <cstddef>
#include <cstdint>

// Index of the E2M1 magnitude nearest to x: 0 0.5 1 1.5 2 3 4 6. At a midpoint the even index wins,
// so `>` and `>=` alternate.
__device__ unsigned encode(float x) {
    const float a = fabsf(x);
    const unsigned magnitude = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f)
                             + (a >= 3.5f) + (a > 5.0f);
    return magnitude | (__float_as_uint(x) >> 31) << 3;
}

__global__ void quantize(const float* a, uint8_t* q, uint8_t* scale, size_t blocks) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;

    const float* x = a + block * 32;
    float amax = 0.0f;
    for (int i = 0; i < 32; i++) amax = fmaxf(amax, fabsf(x[i]));

    // The exponent field of amax is floor(log2(amax)) + 127; E2M1 itself reaches 2 binades up.
    const int exponent = int(__float_as_uint(amax) >> 23) - 2;
    const unsigned byte = max(exponent, 0);
    const float reciprocal = __uint_as_float((254u - max(byte, 1u)) << 23);

    scale[block] = byte;
    for (int i = 0; i < 16; i++) {
        const unsigned low = encode(x[2 * i] * reciprocal);
        const unsigned high = encode(x[2 * i + 1] * reciprocal);
        q[block * 16 + i] = low | high << 4;
    }
}

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    const size_t blocks = m * k / 32;
    const unsigned threads = 256;
    quantize<<<unsigned((blocks + threads - 1) / threads), threads>>>(a, q, scale, blocks);
}
