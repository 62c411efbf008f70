// expect: wrong_answer unwritten_q_last_rows
//! problem = "mxfp4_quantize"
//
// The number of CTAs is rounded down: whatever does not fill the last one is never written.

#include <cstddef>
#include <cstdint>

// E2M1 code nearest to x; at a midpoint the even code wins.
__device__ unsigned encode(float x) {
    const float y = fabsf(x);
    const unsigned magnitude = (y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f)
                             + (y >= 3.5f) + (y > 5.0f);
    return magnitude | __float_as_uint(x) >> 31 << 3;
}

__device__ unsigned scale_of(unsigned amax) {
    return amax > 0x7f800000u ? 255 : max(amax >> 23, 2u) - 2;
}

__global__ void quantize(const float* a, uint8_t* q, uint8_t* scale, size_t blocks) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;

    const float* x = a + block * 32;
    unsigned amax = 0;
    for (int i = 0; i < 32; i++) amax = max(amax, __float_as_uint(x[i]) & 0x7fffffffu);

    const unsigned byte = scale_of(amax);
    const float inverse = __uint_as_float((254 - min(max(byte, 1u), 253u)) << 23);
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
    quantize<<<unsigned(max(blocks / threads, size_t(1))), threads>>>(a, q, scale, blocks);
}
