//! problem = "nvfp4_gemv"
//
// Rung 8, an experiment that failed: ask for the next words before working on these.
//
// Changed: the loop keeps two sets of operands, one that is worked on and one that is on its way.
//
// What was expected: loads travel while a lane decodes. What comes of it: an SM has 64 warps for
// exactly that purpose, and what one of them does not hide the others do. The copies between the
// two sets are instructions, and instructions are what this loop seems to be short of.
//
// Measured on an H200 (sm_90a, cold L2, medians by events, 20 November 2026, microseconds; its
// memory's floor is 13.8, 27.5 and 6.9): 69.8, 120 and 35.5 for the three sizes. Between 3 and 9 %
// more than rung 3.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

constexpr unsigned kWarps = 8;  // of a CTA, one row each

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

// The product of eight codes with eight others. Each half of the sum has four terms of at most 36, in
// quarters: exact.
__device__ __forceinline__ float dot(uint32_t a, uint32_t b) {
    __half2 sum = __float2half2_rn(0.0f);
#pragma unroll
    for (int i = 0; i < 32; i += 8) sum = __hfma2(decode(a >> i & 0xff), decode(b >> i & 0xff), sum);
    return __low2float(sum) + __high2float(sum);
}

__device__ __forceinline__ float warp_sum(float x) {
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

struct Operands {
    uint32_t a, b;
    uint8_t sfa, sfb;
};

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c,
                         size_t m, size_t k) {
    const unsigned lane = threadIdx.x % 32;
    const size_t row = blockIdx.x * size_t(kWarps) + threadIdx.x / 32;
    const size_t batch = blockIdx.y;
    if (row >= m) return;

    // A batch of b has 128 rows, of which the first counts.
    const size_t output = batch * m + row;
    const uint32_t* a_words = reinterpret_cast<const uint32_t*>(a + output * (k / 2));
    const uint32_t* b_words = reinterpret_cast<const uint32_t*>(b + batch * 128 * (k / 2));
    sfa += output * (k / 16);
    sfb += batch * 128 * (k / 16);

    const size_t words = k / 8;
    const auto load = [=](size_t i) { return Operands{a_words[i], b_words[i], sfa[i / 2], sfb[i / 2]}; };
    float sum = 0.0f;
    Operands next = load(lane);
    for (size_t i = lane; i < words; i += 32) {
        const Operands now = next;
        // Behind the end the last words are read again, and not used.
        next = load(i + 32 < words ? i + 32 : i);
        sum += dot(now.a, now.b) * (scale(now.sfa) * scale(now.sfb));
    }
    sum = warp_sum(sum);
    if (lane == 0) c[output] = __float2half(sum);
}

extern "C" void solution(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb,
                         const uint8_t* sfa_blocked, const uint8_t* sfb_blocked, __half* c, size_t m, size_t k,
                         size_t l) {
    const dim3 grid(unsigned((m + kWarps - 1) / kWarps), unsigned(l));
    multiply<<<grid, kWarps * 32>>>(a, b, sfa, sfb, c, m, k);
}
