//! problem = "mxfp4_quantize"
//
// Rung 4: keep the memory system full, and let the hardware round.
//
// A B200 moves about 8 TB/s with a latency near 0.8 us: 6 MB must be on their way at every moment,
// 43 KB for each of its 148 SMs. So a lane asks for all it needs before it looks at any of it:
//
//   in     a lane reads 32 bytes with one 256-bit load (sm_100 and later), a warp 1 KB without a
//          gap, and issues four of them: at 32 warps to an SM (64 registers) 128 KB in flight
//   hints  the input is read once: it takes no place in L1 and is the first to leave L2, so that
//          the output, which the next kernel wants, stays
//   math   cvt.rn.satfinite.e2m1x2 rounds, clips and packs two floats in one instruction: four of
//          them do what took some hundred, and ties to even is its only mode
//   out    32 bits of codes a lane, 128 bytes a warp; the scales of all groups leave in one store
//
//   warp of 32 lanes, 32 blocks            lane 4b+j reads elements 8j to 8j+7 of blocks b, 8+b,
//   group 0: blocks 0- 7, 4 lanes each     16+b and 24+b, and stores the scale of block 8j+b
//   group 1: blocks 8-15 …
//
// Without the instruction the adder rounds. A scaled magnitude y has the code
//
//   2y for y up to 2, y + 2 up to 4, y/2 + 4 above        rounded to nearest, ties to even
//
// and of the three lines the least is always the right one. A float of 2^23 or more has no
// fractional bits, so fma(|x|, 1/scale, 2^23 + 2) rounds y + 2 to the nearest integer, once, and
// ties to even; its low bits are the code. (Doubling and halving are exact, and so is the product,
// inside the FMA.) Three FMAs, a minimum of three and one that clips at 7: five instructions.
//
// The second number of __launch_bounds__ tells ptxas that registers for 4 CTAs will do. Asked for
// more CTAs, it moves the later loads behind the first results, to save registers, and nothing in
// CUDA C++ stops it. Always look at the machine code.
//
// What to expect: the instruction count falls to a fraction of rung 3, which a matrix in DRAM
// hardly notices; loads in flight are what brings it the last percents. The two small sizes take
// less time than their launch.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 5.2 for 1024 x
// 1024, 8.6 for 2048 x 2048, 35.3 for 4096 x 8192, 69.7 for 8192 x 8192. The last is 1.04 of the
// bandwidth of a device-to-device copy of as many bytes. (Reading is cheaper than the writing that
// half of a copy is.) Rounded by a dozen integer operations instead, in two groups, the last one
// takes 71.1.

#include <cstddef>
#include <cstdint>

constexpr unsigned kThreads = 256;
constexpr unsigned kGroups = 4;          // of blocks, for each warp: one scale a lane
constexpr unsigned kBlocksPerGroup = 8;  // 32 lanes, 4 to a block

struct Eight {
    float x[8];
};

// 32 bytes of a lane; p is aligned to them.
__device__ __forceinline__ Eight load(const float* p) {
    Eight v;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && __CUDACC_VER_MAJOR__ >= 13
    asm volatile("ld.global.nc.L1::no_allocate.L2::evict_first.v8.f32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(v.x[0]), "=f"(v.x[1]), "=f"(v.x[2]), "=f"(v.x[3]), "=f"(v.x[4]),
                   "=f"(v.x[5]), "=f"(v.x[6]), "=f"(v.x[7])
                 : "l"(p));
#else
    const float4 low = __ldcs(reinterpret_cast<const float4*>(p));
    const float4 high = __ldcs(reinterpret_cast<const float4*>(p) + 1);
    v.x[0] = low.x, v.x[1] = low.y, v.x[2] = low.z, v.x[3] = low.w;
    v.x[4] = high.x, v.x[5] = high.y, v.x[6] = high.z, v.x[7] = high.w;
#endif
    return v;
}

// The larger magnitude; NaN where either is, which fmaxf would lose.
__device__ __forceinline__ float larger(float a, float b) {
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(fabsf(a)), "f"(fabsf(b)));
    return r;
}

// Code of |x * inverse|, as above. Floats that are not negative are ordered like their bits.
__device__ __forceinline__ unsigned magnitude(float x, float inverse) {
    const float y = fabsf(x);
    const int halves = __float_as_int(fmaf(y, 2.0f * inverse, 8388608.0f));
    const int ones = __float_as_int(fmaf(y, inverse, 8388610.0f));
    const int twos = __float_as_int(fmaf(y, 0.5f * inverse, 8388612.0f));
    return min(min(min(halves, ones), twos) - 0x4b000000, 7);
}

// Eight codes, the first in the lowest nibble.
__device__ __forceinline__ uint32_t pack(const Eight& v, float inverse) {
    uint32_t codes = 0;
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL) \
    || (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000)
    // The first operand goes to the high nibble.
    asm("{\n"
        ".reg .b8 b0, b1, b2, b3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b0, %2, %1;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b1, %4, %3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b2, %6, %5;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b3, %8, %7;\n"
        "mov.b32 %0, {b0, b1, b2, b3};\n"
        "}"
        : "=r"(codes)
        : "f"(v.x[0] * inverse), "f"(v.x[1] * inverse), "f"(v.x[2] * inverse),
          "f"(v.x[3] * inverse), "f"(v.x[4] * inverse), "f"(v.x[5] * inverse),
          "f"(v.x[6] * inverse), "f"(v.x[7] * inverse));
#else
    // The signs travel apart: a funnel shift takes the upper four bits of a float, of which the
    // first is the sign, and one mask at the end cleans all eight.
    uint32_t signs = 0;
#pragma unroll
    for (int i = 7; i >= 0; i--) {
        signs = __funnelshift_l(__float_as_uint(v.x[i]), signs, 4);
        codes = codes * 16 + magnitude(v.x[i], inverse);
    }
    codes |= signs & 0x88888888u;
#endif
    return codes;
}

__global__ void __launch_bounds__(kThreads, 4)
    quantize(const float* a, uint32_t* q, uint8_t* scale, unsigned blocks) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    const unsigned first = warp * (kGroups * kBlocksPerGroup);
    // Lanes behind the end repeat the last block: they read what is there and write, again, the
    // same bytes. That costs nothing in the middle of the matrix, where a branch would.
    const auto block_of = [=](unsigned group, unsigned place) {
        return min(first + group * kBlocksPerGroup + place, blocks - 1);
    };

    Eight v[kGroups];
#pragma unroll
    for (unsigned u = 0; u < kGroups; u++) {
        v[u] = load(a + size_t(block_of(u, lane / 4)) * 32 + lane % 4 * 8);
    }

    unsigned own = 0;
#pragma unroll
    for (unsigned u = 0; u < kGroups; u++) {
        const float* x = v[u].x;
        float amax = larger(larger(larger(x[0], x[1]), larger(x[2], x[3])),
                            larger(larger(x[4], x[5]), larger(x[6], x[7])));
        amax = larger(amax, __shfl_xor_sync(0xffffffffu, amax, 1));
        amax = larger(amax, __shfl_xor_sync(0xffffffffu, amax, 2));

        // Floor of the logarithm, less E2M1's two binades; 255, which is NaN, for a block with NaN.
        const unsigned bits = __float_as_uint(amax);
        const unsigned byte = bits > 0x7f800000u ? 255 : max(bits >> 23, 2u) - 2;
        const float inverse = __uint_as_float((254 - min(max(byte, 1u), 253u)) << 23);
        q[size_t(block_of(u, lane / 4)) * 4 + lane % 4] = pack(v[u], inverse);
        if (lane % 4 == u) own = byte;
    }
    scale[block_of(lane % 4, lane / 4)] = own;
}

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    // 32 bits number the blocks of 512 GB.
    const unsigned blocks = unsigned(m * k / 32);
    const unsigned per_cta = kThreads / 32 * kGroups * kBlocksPerGroup;
    quantize<<<(blocks + per_cta - 1) / per_cta, kThreads>>>(
        a, reinterpret_cast<uint32_t*>(q), scale, blocks);
}
