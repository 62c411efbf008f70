// expect: wrong_answer ties_toward_zero
//! problem = "mxfp4_quantize"
//
// The nearest entry of the table, found with a strict `<`: of two that are equally near, the first
// one stays, which is the smaller. Three of the seven midpoints should go up.

#include <cstddef>
#include <cstdint>

__device__ unsigned encode(float x) {
    const float table[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    const float y = fabsf(x);
    unsigned nearest = 0;
    for (unsigned code = 1; code < 8; code++) {
        if (fabsf(y - table[code]) < fabsf(y - table[nearest])) nearest = code;
    }
    return nearest | __float_as_uint(x) >> 31 << 3;
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
    quantize<<<unsigned((blocks + threads - 1) / threads), threads>>>(a, q, scale, blocks);
}
