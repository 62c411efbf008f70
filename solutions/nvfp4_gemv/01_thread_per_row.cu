//! problem = "nvfp4_gemv"
//
// Rung 1: one thread takes one row, from the first element to the last.
//
// The formula, written down and nothing else: decode two codes, multiply, add, and at the end of
// each block of 16 multiply by the two scales. Sums within a block are exact, so only the additions
// of blocks round.
//
// What to expect: a disaster, for two reasons. Neighbouring threads read addresses k/2 bytes apart,
// so each load of a warp touches 32 cache lines and uses 8 bytes of each; the lines had better stay
// in L1. And there are only m * l threads, 7168 for the first size: two warps for each SM, with
// nothing to do while they wait.
//
// Measured on an H200 (sm_90a, cold L2, medians by events, 20 November 2026, microseconds; its
// memory's floor is 13.8, 27.5 and 6.9): 295, 160 and 50.2 for the three sizes.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

// The two codes of a byte, as halves. Blackwell has an instruction. Elsewhere: three bits of a code,
// put under the exponent of a half, are its value times 2^-14, zero and subnormal included.
__device__ __forceinline__ __half2 decode(unsigned byte) {
    unsigned pair;
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL) \
    || (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000)
    asm("{\n"
        ".reg .b8 codes;\n"
        "cvt.u8.u32 codes, %1;\n"
        "cvt.rn.f16x2.e2m1x2 %0, codes;\n"
        "}"
        : "=r"(pair)
        : "r"(byte));
    return *reinterpret_cast<__half2*>(&pair);
#else
    const unsigned both = byte * 0x1001u & 0x000f000fu;
    pair = (both << 9 & 0x0e000e00u) | (both << 12 & 0x80008000u);
    return __hmul2(*reinterpret_cast<__half2*>(&pair), __float2half2_rn(16384.0f));
#endif
}

// Value of an E4M3 scale. Shifted under the exponent of a float it is the value times 2^-120, as a
// subnormal float where it is subnormal itself.
__device__ __forceinline__ float scale(unsigned byte) {
    return __uint_as_float(byte << 20) * 0x1p120f;
}

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c,
                         size_t m, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t batch = blockIdx.y;
    if (row >= m) return;

    // A batch of b has 128 rows, of which the first counts.
    const size_t output = batch * m + row;
    const uint2* a_blocks = reinterpret_cast<const uint2*>(a + output * (k / 2));
    const uint2* b_blocks = reinterpret_cast<const uint2*>(b + batch * 128 * (k / 2));
    sfa += output * (k / 16);
    sfb += batch * 128 * (k / 16);

    float sum = 0.0f;
    for (size_t block = 0; block < k / 16; block++) {
        const uint32_t in_a[2] = {a_blocks[block].x, a_blocks[block].y};
        const uint32_t in_b[2] = {b_blocks[block].x, b_blocks[block].y};
        // Each half has eight terms of at most 36, in quarters: exact.
        __half2 products = __float2half2_rn(0.0f);
        for (int i = 0; i < 8; i++) {
            const unsigned shift = i % 4 * 8;
            products = __hfma2(decode(in_a[i / 4] >> shift & 0xff), decode(in_b[i / 4] >> shift & 0xff), products);
        }
        sum += (__low2float(products) + __high2float(products)) * scale(sfa[block]) * scale(sfb[block]);
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
