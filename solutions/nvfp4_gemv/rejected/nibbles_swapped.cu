// expect: wrong_answer nibbles_swapped
//! problem = "nvfp4_gemv"
//
// The words of a are taken apart from their high nibbles, those of b from their low ones. Swapped
// in both, the sum would be the same.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

// The two codes of a byte, as halves: three bits of a code, put under the exponent of a half, are its
// value times 2^-14.
__device__ __half2 decode(unsigned byte) {
    const unsigned both = byte * 0x1001u & 0x000f000fu;
    const unsigned pair = (both << 9 & 0x0e000e00u) | (both << 12 & 0x80008000u);
    return __hmul2(*reinterpret_cast<const __half2*>(&pair), __float2half2_rn(16384.0f));
}

// Value of an E4M3 scale.
__device__ float scale(unsigned byte) {
    return __uint_as_float(byte << 20) * 0x1p120f;
}

// The product of eight codes with eight others.
__device__ float dot(uint32_t a, uint32_t b) {
    __half2 sum = __float2half2_rn(0.0f);
    for (int i = 0; i < 32; i += 8) sum = __hfma2(__lowhigh2highlow(decode(a >> i & 0xff)), decode(b >> i & 0xff), sum);
    return __low2float(sum) + __high2float(sum);
}

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c,
                         size_t m, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t batch = blockIdx.y;
    if (row >= m) return;
    const size_t output = batch * m + row;
    const uint32_t* a_words = reinterpret_cast<const uint32_t*>(a + output * (k / 2));
    const uint32_t* b_words = reinterpret_cast<const uint32_t*>(b + batch * 128 * (k / 2));
    sfa += output * (k / 16);
    sfb += batch * 128 * (k / 16);

    float sum = 0.0f;
    for (size_t block = 0; block < k / 16; block++) {
        const float products = dot(a_words[2 * block], b_words[2 * block])
                             + dot(a_words[2 * block + 1], b_words[2 * block + 1]);
        sum += products * (scale(sfa[block]) * scale(sfb[block]));
    }
    c[output] = __float2half(sum);
}

extern "C" void solution(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb,
                         const uint8_t* sfa_blocked, const uint8_t* sfb_blocked, __half* c, size_t m, size_t k,
                         size_t l) {
    const unsigned threads = 128;
    const dim3 grid(unsigned((m + threads - 1) / threads), unsigned(l));
    multiply<<<grid, threads>>>(a, b, sfa, sfb, c, m, k);
}
