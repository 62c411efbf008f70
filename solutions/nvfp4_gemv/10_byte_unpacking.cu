//! problem = "nvfp4_gemv"
//
// Rung 10: 256-bit loads, and bytes that cost nothing.
//
// Changed: a lane reads 32 bytes of a, 64 codes with four scales, in one instruction where the
// hardware has it (sm_100 and later). And a word is taken apart by PTX's `mov.b32 {b0, b1, b2,
// b3}`, whose bytes go straight into the conversion: the shift and mask of every byte, and the
// 16-bit detour that C++ makes of a byte, are gone. Without the conversion, pairs are the codes
// four places apart, so that one mask serves both.
//
// What to expect: rungs 4 to 8 looked for time where there was none. Here some forty instructions
// for eight codes become some twenty, and the loop gets shorter by about as much.
//
// Measured on an H200 (sm_90a, cold L2, medians by events, 20 November 2026, microseconds; its
// memory's floor is 13.8, 27.5 and 6.9): 38.3, 70.1 and 20.9 for the three sizes. By the path
// without the conversion.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

constexpr unsigned kWarps = 8;  // of a CTA, one row each

// Value of an E4M3 scale. Shifted under the exponent of a float it is the value times 2^-120, as a
// subnormal float where it is subnormal itself.
__device__ __forceinline__ float scale(unsigned byte) {
    return __uint_as_float(byte << 20) * 0x1p120f;
}

struct Octet {
    uint32_t word[8];
};

// 32 bytes; p is aligned to them. Read once: they take no place in L1.
__device__ __forceinline__ Octet stream(const Octet* p) {
    Octet v;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && __CUDACC_VER_MAJOR__ >= 13
    asm volatile("ld.global.nc.L1::no_allocate.L2::evict_first.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3]), "=r"(v.word[4]),
                   "=r"(v.word[5]), "=r"(v.word[6]), "=r"(v.word[7])
                 : "l"(p));
#else
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%8];\n"
                 "ld.global.nc.L1::no_allocate.v4.u32 {%4, %5, %6, %7}, [%8+16];"
                 : "=&r"(v.word[0]), "=&r"(v.word[1]), "=&r"(v.word[2]), "=&r"(v.word[3]), "=r"(v.word[4]),
                   "=r"(v.word[5]), "=r"(v.word[6]), "=r"(v.word[7])
                 : "l"(p));
#endif
    return v;
}

// The same for what every warp reads: it is the last to leave L1.
__device__ __forceinline__ Octet keep(const Octet* p) {
    Octet v;
    asm volatile("ld.global.nc.L1::evict_last.v4.u32 {%0, %1, %2, %3}, [%8];\n"
                 "ld.global.nc.L1::evict_last.v4.u32 {%4, %5, %6, %7}, [%8+16];"
                 : "=&r"(v.word[0]), "=&r"(v.word[1]), "=&r"(v.word[2]), "=&r"(v.word[3]), "=r"(v.word[4]),
                   "=r"(v.word[5]), "=r"(v.word[6]), "=r"(v.word[7])
                 : "l"(p));
    return v;
}

// The product of eight codes with eight others. Each half of the sum has four terms of at most 36, in
// quarters: exact.
__device__ __forceinline__ float dot(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL) \
    || (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000)
    uint32_t sum;
    asm("{\n"
        ".reg .b8 a0, a1, a2, a3, b0, b1, b2, b3;\n"
        ".reg .b32 x0, x1, x2, x3, y0, y1, y2, y3;\n"
        "mov.b32 {a0, a1, a2, a3}, %1;\n"
        "mov.b32 {b0, b1, b2, b3}, %2;\n"
        "cvt.rn.f16x2.e2m1x2 x0, a0;\n"
        "cvt.rn.f16x2.e2m1x2 x1, a1;\n"
        "cvt.rn.f16x2.e2m1x2 x2, a2;\n"
        "cvt.rn.f16x2.e2m1x2 x3, a3;\n"
        "cvt.rn.f16x2.e2m1x2 y0, b0;\n"
        "cvt.rn.f16x2.e2m1x2 y1, b1;\n"
        "cvt.rn.f16x2.e2m1x2 y2, b2;\n"
        "cvt.rn.f16x2.e2m1x2 y3, b3;\n"
        "mul.rn.f16x2 x0, x0, y0;\n"
        "fma.rn.f16x2 x0, x1, y1, x0;\n"
        "fma.rn.f16x2 x0, x2, y2, x0;\n"
        "fma.rn.f16x2 %0, x3, y3, x0;\n"
        "}"
        : "=r"(sum)
        : "r"(a), "r"(b));
    const __half2 pair = *reinterpret_cast<__half2*>(&sum);
    return __low2float(pair) + __high2float(pair);
#else
    // Codes 0 and 4, 1 and 5, 2 and 6, 3 and 7 of a word are pairs as good as any: three bits of each,
    // put under the exponent of a half, are its value times 2^-14, zero and subnormal included. One
    // side is multiplied by 2^14, the other by 2^14 at the end.
    __half2 total = __float2half2_rn(0.0f);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t shifted_a = i == 3 ? a >> 3 : a << (9 - 4 * i);
        const uint32_t shifted_b = i == 3 ? b >> 3 : b << (9 - 4 * i);
        const uint32_t x = (shifted_a & 0x0e000e00u) | (a << (12 - 4 * i) & 0x80008000u);
        const uint32_t y = (shifted_b & 0x0e000e00u) | (b << (12 - 4 * i) & 0x80008000u);
        const __half2 large = __hmul2(*reinterpret_cast<const __half2*>(&y), __float2half2_rn(16384.0f));
        total = __hfma2(*reinterpret_cast<const __half2*>(&x), large, total);
    }
    return (__low2float(total) + __high2float(total)) * 16384.0f;
#endif
}

__device__ __forceinline__ float warp_sum(float x) {
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c,
                         size_t m, size_t k) {
    const unsigned lane = threadIdx.x % 32;
    const size_t row = blockIdx.x * size_t(kWarps) + threadIdx.x / 32;
    const size_t batch = blockIdx.y;
    if (row >= m) return;

    // A batch of b has 128 rows, of which the first counts.
    const size_t output = batch * m + row;
    const Octet* a_octets = reinterpret_cast<const Octet*>(a + output * (k / 2));
    const Octet* b_octets = reinterpret_cast<const Octet*>(b + batch * 128 * (k / 2));
    const uint32_t* a_scales = reinterpret_cast<const uint32_t*>(sfa + output * (k / 16));
    const uint32_t* b_scales = reinterpret_cast<const uint32_t*>(sfb + batch * 128 * (k / 16));

    float sum = 0.0f;
    for (size_t i = lane; i < k / 64; i += 32) {
        const Octet in_a = stream(a_octets + i);
        const Octet in_b = keep(b_octets + i);
        const uint32_t of_a = __ldcs(a_scales + i);
        const uint32_t of_b = __ldg(b_scales + i);
#pragma unroll
        for (int block = 0; block < 4; block++) {
            const float products = dot(in_a.word[2 * block], in_b.word[2 * block])
                                 + dot(in_a.word[2 * block + 1], in_b.word[2 * block + 1]);
            sum += products * (scale(of_a >> 8 * block & 0xff) * scale(of_b >> 8 * block & 0xff));
        }
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
