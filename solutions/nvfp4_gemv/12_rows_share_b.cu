//! problem = "nvfp4_gemv"
//
// Rung 12: rows share b, and bytes are multiplied as bytes.
//
// Changed: a CTA decodes b once, to shared memory, and every warp takes several rows of a at a
// time, so that what it reads of b serves all of them. Codes become bytes instead of halves, twice
// their values: 0, 1, 2, 3, 4, 6, 8, 12. One instruction looks up four of them (prmt: the codes are
// its selector, two registers the table), one multiplies and adds four (dp4a). Sums of a block are
// integers, exact. It is the same on every architecture since sm_61, and needs no conversion.
//
// Signs cost one instruction more. The high bit of a selector, a code's sign, asks prmt for the
// sign of the byte instead of the byte, and no byte of the table has one. So a look-up with the
// codes gives the positive elements and zeros for the others; with all signs turned, the negative
// ones:
//
//     codes       3    c    5    0        1.5   -2    3    0
//     positive   03   00   06   00
//     negative   00   04   00   00        a . b = dp4a(positive, b) - dp4a(negative, b)
//
// The first words of a are asked for before b is decoded, the words of the next step before those
// of this one are used.
//
// What to expect: seven look-ups, shifts and the like for eight codes, where rung 10 has some
// thirty on an architecture without the conversion. Integer units are what was short there; now
// loads are.
//
// Measured on an H200 (sm_90a, cold L2, medians by events, 20 November 2026, microseconds; its
// memory's floor is 13.8, 27.5 and 6.9): 21.9, 35.5 and 13.5 for the three sizes. That is 0.63 of
// the floor in the geometric mean. An empty kernel takes 2.7 by the same events; without it, 0.73.
// One after the other on inputs that take turns: 20.0, 34.1 and 11.9.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

constexpr unsigned kWarps = 8;  // of a CTA
constexpr unsigned kRows = 2;   // of a warp

__device__ __forceinline__ float warp_sum(float x) {
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

// Read once: it takes no place in L1.
__device__ __forceinline__ uint4 stream(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

// Twice the magnitudes of the four codes in the low half of `codes`; zero where the sign bit is set.
__device__ __forceinline__ uint32_t look_up(uint32_t codes) {
    uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(0x03020100u), "r"(0x0c080604u), "r"(codes));
    return bytes;
}

struct Sums {
    int positive, negative;
};

// Four times the product of eight codes with eight decoded ones, added.
__device__ __forceinline__ void dot(Sums& sums, uint32_t word, int b_low, int b_high) {
    const uint32_t turned = word ^ 0x88888888u;
    sums.positive = __dp4a(int(look_up(word)), b_low, sums.positive);
    sums.negative = __dp4a(int(look_up(turned)), b_low, sums.negative);
    sums.positive = __dp4a(int(look_up(word >> 16)), b_high, sums.positive);
    sums.negative = __dp4a(int(look_up(turned >> 16)), b_high, sums.negative);
}

// An E4M3 scale under the exponent of a float: its value times 2^-120, subnormal where it is.
__device__ __forceinline__ float raw_scale(unsigned byte) {
    return __uint_as_float(byte << 20);
}

// What a lane needs of a row for 32 elements.
struct Quad {
    uint4 words;
    unsigned scales;
};

// K is 0 where it is not known.
template <unsigned K>
__global__ void __launch_bounds__(kWarps * 32, 4)
    multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c, unsigned m,
             unsigned any_k) {
    const unsigned k = K > 0 ? K : any_k;
    const unsigned quads = k / 32;
    const unsigned lane = threadIdx.x % 32;
    const unsigned first = (blockIdx.x * kWarps + threadIdx.x / 32) * kRows;
    const size_t batch = blockIdx.y;

    // Rows behind the end repeat the last one: they read what is there, and are not written.
    const uint8_t* a_row[kRows];
    const uint8_t* sfa_row[kRows];
#pragma unroll
    for (unsigned r = 0; r < kRows; r++) {
        const size_t output = batch * m + min(first + r, m - 1);
        a_row[r] = a + output * (k / 2);
        sfa_row[r] = sfa + output * (k / 16);
    }
    Quad next[kRows];
    const auto load = [&](unsigned i) {
#pragma unroll
        for (unsigned r = 0; r < kRows; r++) {
            next[r].words = stream(reinterpret_cast<const uint4*>(a_row[r]) + i);
            next[r].scales = __ldcs(reinterpret_cast<const uint16_t*>(sfa_row[r]) + i);
        }
    };
    if (lane < quads) load(lane);

    // b's bytes, four codes to a word, in two halves so that lanes side by side read words side by
    // side; then its scales. A batch of b has 128 rows, of which the first counts.
    extern __shared__ uint4 shared[];
    uint4* const low = shared;
    uint4* const high = shared + quads;
    float2* const factors = reinterpret_cast<float2*>(shared + 2 * quads);
    const uint2* b_pairs = reinterpret_cast<const uint2*>(b + batch * 128 * (k / 2));
    for (unsigned i = threadIdx.x; i < 2 * quads; i += kWarps * 32) {
        const uint2 pair = b_pairs[i];
        const auto bytes = [](uint32_t codes) { return __vsub4(look_up(codes), look_up(codes ^ 0x8888u)); };
        uint4* half = i % 2 == 0 ? low : high;
        half[i / 2] = {bytes(pair.x), bytes(pair.x >> 16), bytes(pair.y), bytes(pair.y >> 16)};
    }
    const uint16_t* b_scales = reinterpret_cast<const uint16_t*>(sfb + batch * 128 * (k / 16));
    for (unsigned i = threadIdx.x; i < quads; i += kWarps * 32) {
        const unsigned scales = b_scales[i];
        // A quarter for the two doubled factors of each product, and what raw scales lack.
        factors[i] = {raw_scale(scales & 0xff) * 0x1p120f * 0x1p118f, raw_scale(scales >> 8) * 0x1p120f * 0x1p118f};
    }
    __syncthreads();

    float sums[kRows] = {};
    const auto step = [&](unsigned i) {
        Quad now[kRows];
#pragma unroll
        for (unsigned r = 0; r < kRows; r++) now[r] = next[r];
        if (i + 32 < quads) load(i + 32);
        const uint4 b_low = low[i];
        const uint4 b_high = high[i];
        const float2 factor = factors[i];
#pragma unroll
        for (unsigned r = 0; r < kRows; r++) {
            Sums left = {}, right = {};
            dot(left, now[r].words.x, int(b_low.x), int(b_low.y));
            dot(left, now[r].words.y, int(b_low.z), int(b_low.w));
            dot(right, now[r].words.z, int(b_high.x), int(b_high.y));
            dot(right, now[r].words.w, int(b_high.z), int(b_high.w));
            sums[r] += float(left.positive - left.negative) * (raw_scale(now[r].scales & 0xff) * factor.x);
            sums[r] += float(right.positive - right.negative) * (raw_scale(now[r].scales >> 8) * factor.y);
        }
    };
    if constexpr (K > 0) {
#pragma unroll
        for (unsigned i = 0; i < K / 1024; i++) step(lane + 32 * i);
    } else {
        for (unsigned i = lane; i < quads; i += 32) step(i);
    }
#pragma unroll
    for (unsigned r = 0; r < kRows; r++) {
        const float sum = warp_sum(sums[r]);
        if (lane == r && first + r < m) c[batch * m + first + r] = __float2half(sum);
    }
}

template <unsigned K>
void launch(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c, size_t m, size_t k,
            size_t l) {
    const unsigned rows = kWarps * kRows;
    const dim3 grid(unsigned((m + rows - 1) / rows), unsigned(l));
    const size_t shared = k + k / 4;  // bytes: up to k = 39,000 there is room for them
    multiply<K><<<grid, kWarps * 32, shared>>>(a, b, sfa, sfb, c, unsigned(m), unsigned(k));
}

extern "C" void solution(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb,
                         const uint8_t* sfa_blocked, const uint8_t* sfb_blocked, __half* c, size_t m, size_t k,
                         size_t l) {
    const auto run = k == 16384 ? launch<16384>
                   : k == 7168  ? launch<7168>
                   : k == 2048  ? launch<2048>
                                : launch<0>;
    run(a, b, sfa, sfb, c, m, k, l);
}
