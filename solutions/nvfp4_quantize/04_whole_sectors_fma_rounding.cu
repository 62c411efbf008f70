//! problem = "nvfp4_quantize"
//
// Rung 4: every byte of every sector counts, and where the hardware cannot round to E2M1, its adder
// can.
//
// A lane takes a block again, as in rung 1: it has the amax alone, with no shuffle, and the scale is
// computed once. What changed is which block. Memory moves in sectors of 32 bytes, and one sector of
// the scales holds two neighbouring rows, four groups of 32 rows, four columns:
//
//   byte of the sector   0  1  2  3 | 4  5  6  7 | 8 … 11 |12 … 15 |16 …19 | …
//   row                  r  r  r  r | r+32       | r+64   | r+96   | r+1   | r+33 …
//   column               c c+1 c+2 c+3 …
//
// That is 32 blocks, so lane i takes the block whose scale is byte i, and a warp fills one sector
// with one store, in which rung 3 left 28 bytes of each to others. The other way it looks as good:
// four lanes side by side read 128 bytes of a row and write 32 bytes of codes, and tiles along the
// row follow each other. A warp takes two tiles and asks for both before it looks at either.
//
// CTAs count along the rows first. Down the tile they would complete lines of scales sooner; but
// DRAM wants long pieces of few rows: that takes 4 % longer.
//
// Rounding without the instruction. An element y = |x| * factor has the code
//
//   2y for y up to 2, y + 2 up to 4, y/2 + 4 above        rounded to nearest, ties to even
//
// and of the three lines the least is always the right one. A float of 2^23 or more has no
// fractional bits, so fma(|x|, factor, 2^23 + 2) rounds y + 2 to the nearest integer, once, and ties
// to even; the low bits of the float are the code. Three FMAs, a minimum of three and one that clips
// at 7: five instructions, of which the FMAs run on the pipe that is otherwise idle. Rung 3's seven
// comparisons and six additions are more than twice as many.
//
// What to expect: on Blackwell what is left is DRAM's. On Hopper about 12 instructions an element,
// less than what it has time for while the 2.56 bytes move.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 4.8 for 1024 x
// 1024, 7.3 for 2048 x 2048, 22.6 for 4096 x 8192, 42.1 for 8192 x 8192. The last is 0.98 of the
// bandwidth of a device-to-device copy of as many bytes. Of the way there from rung 3, 92.0, the
// arithmetic alone makes 48.3 (a thread for each block, lanes along the row), whole sectors 44.7,
// counting along the rows first 42.9, and registers for six CTAs the rest.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

constexpr unsigned kWarps = 8;  // of a CTA
constexpr unsigned kTiles = 2;  // of scales, for each warp

// Sixteen halves.
struct Block {
    uint32_t pairs[8];
};

// p is aligned to 32 bytes.
__device__ __forceinline__ Block load(const Block* p) {
    Block b;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && __CUDACC_VER_MAJOR__ >= 13
    asm volatile("ld.global.nc.L1::no_allocate.L2::evict_first.v8.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(b.pairs[0]), "=r"(b.pairs[1]), "=r"(b.pairs[2]), "=r"(b.pairs[3]),
                   "=r"(b.pairs[4]), "=r"(b.pairs[5]), "=r"(b.pairs[6]), "=r"(b.pairs[7])
                 : "l"(p));
#else
    const uint4 low = __ldcs(reinterpret_cast<const uint4*>(p));
    const uint4 high = __ldcs(reinterpret_cast<const uint4*>(p) + 1);
    b.pairs[0] = low.x, b.pairs[1] = low.y, b.pairs[2] = low.z, b.pairs[3] = low.w;
    b.pairs[4] = high.x, b.pairs[5] = high.y, b.pairs[6] = high.z, b.pairs[7] = high.w;
#endif
    return b;
}

__device__ __forceinline__ __half2 halves(uint32_t pair) {
    return *reinterpret_cast<const __half2*>(&pair);
}

__device__ __forceinline__ float amax_of(const Block& b) {
    __half2 largest = __habs2(halves(b.pairs[0]));
#pragma unroll
    for (int i = 1; i < 8; i++) largest = __hmax2(largest, __habs2(halves(b.pairs[i])));
    return __half2float(__hmax(__low2half(largest), __high2half(largest)));
}

__device__ __forceinline__ float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// Code of |x * factor|, as above. Floats that are not negative are ordered like their bits.
__device__ __forceinline__ unsigned magnitude(float x, float factor) {
    const float y = fabsf(x);
    const int halves = __float_as_int(fmaf(y, 2.0f * factor, 8388608.0f));
    const int ones = __float_as_int(fmaf(y, factor, 8388610.0f));
    const int twos = __float_as_int(fmaf(y, 0.5f * factor, 8388612.0f));
    return min(min(min(halves, ones), twos) - 0x4b000000, 7);
}

// Codes of eight elements times `factor`, the first in the lowest nibble.
__device__ __forceinline__ uint32_t pack(const uint32_t* pairs, float factor) {
    uint32_t codes = 0;
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL) \
    || (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000)
    const float2 x0 = __half22float2(halves(pairs[0])), x1 = __half22float2(halves(pairs[1]));
    const float2 x2 = __half22float2(halves(pairs[2])), x3 = __half22float2(halves(pairs[3]));
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
        : "f"(x0.x * factor), "f"(x0.y * factor), "f"(x1.x * factor), "f"(x1.y * factor),
          "f"(x2.x * factor), "f"(x2.y * factor), "f"(x3.x * factor), "f"(x3.y * factor));
    return codes;
#else
    // The signs travel apart: a funnel shift takes the upper four bits of a float, of which the
    // first is the sign, and one mask at the end cleans all eight.
    uint32_t signs = 0;
#pragma unroll
    for (int i = 3; i >= 0; i--) {
        const float2 x = __half22float2(halves(pairs[i]));
        signs = __funnelshift_l(__float_as_uint(x.y), signs, 4);
        signs = __funnelshift_l(__float_as_uint(x.x), signs, 4);
        codes = codes * 16 + magnitude(x.y, factor);
        codes = codes * 16 + magnitude(x.x, factor);
    }
    return codes | (signs & 0x88888888u);
#endif
}

__global__ void __launch_bounds__(32 * kWarps, 6)
    quantize(const Block* a, float sf_g, uint2* q, uint8_t* scale, unsigned m, unsigned columns) {
    const unsigned lane = threadIdx.x;
    const unsigned tiles = (columns + 3) / 4;
    const unsigned first = (blockIdx.x * blockDim.y + threadIdx.y) * kTiles;
    const unsigned row = blockIdx.y / 16 * 128 + lane / 4 % 4 * 32 + blockIdx.y % 16 * 2 + lane / 16;

    // Tiles along the row in which this lane has a block. Outside the matrix everything is zero, and
    // so are then the scales: the pads.
    const unsigned own = row < m ? (columns + 3 - lane % 4) / 4 : 0;
    const size_t block = size_t(row) * columns + lane % 4;
    Block blocks[kTiles];
#pragma unroll
    for (unsigned u = 0; u < kTiles; u++) {
        blocks[u] = first + u < own ? load(a + block + (first + u) * 4) : Block{};
    }

    const float inverse = reciprocal(sf_g);
#pragma unroll
    for (unsigned u = 0; u < kTiles; u++) {
        if (first + u >= tiles) return;
        const __nv_fp8_e4m3 byte(sf_g * (amax_of(blocks[u]) * (1.0f / 6.0f)));
        const float stored = float(byte);
        // A block whose scale vanished has the value 0 whatever its codes are.
        const float factor = stored == 0.0f ? 0.0f : reciprocal(stored * inverse);
        if (first + u < own) {
            q[block + (first + u) * 4] =
                make_uint2(pack(blocks[u].pairs, factor), pack(blocks[u].pairs + 4, factor));
        }
        const size_t tile = size_t(blockIdx.y / 16) * tiles + first + u;
        scale[tile * 512 + blockIdx.y % 16 * 32 + lane] = byte.__x;
    }
}

extern "C" void solution(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m,
                         size_t k) {
    const unsigned columns = unsigned(k / 16), tiles = (columns + 3) / 4;
    const unsigned per_cta = kWarps * kTiles;
    // The second dimension ends at 65,535: half a million rows.
    const dim3 grid((tiles + per_cta - 1) / per_cta, unsigned((m + 127) / 128 * 16));
    quantize<<<grid, dim3(32, kWarps)>>>(reinterpret_cast<const Block*>(a), sf_g,
                                 reinterpret_cast<uint2*>(q), scale, unsigned(m), columns);
}
