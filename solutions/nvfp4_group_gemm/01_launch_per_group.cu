//! problem = "nvfp4_group_gemm"
// check: quick
//
// Rung 1: one launch for each group, one thread for each product of two rows.
//
// The arrays of pointers and of sizes are on the host, what they point to on the device.
//
// Within a block of 16 nothing is lost in half precision: products of codes are quarters up to 36,
// and 16 of them at most 576. So two at a time are multiplied and added in `__half2`, and only the
// block's sum meets its scales, in float32.
//
//   code    s e e m          half   s 00000eem 00000000…     that is the value times 2^-14
//
// Codes are taken from a word of eight as nibbles q and q + 4; both operands in the same order, so
// the sum is the same.
//
// Seen on an H200 (2026-11-23, sm_90a, cold L2, microseconds): 10078 for the first of the competition's sizes.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

// Nibbles q and q + 4 of a word, times 2^-14.
__device__ __forceinline__ __half2 pair(unsigned word, int q) {
    const unsigned codes = word >> (4 * q);
    const unsigned bits = (codes & 0x00070007) << 9 | (codes & 0x00080008) << 12;
    return *reinterpret_cast<const __half2*>(&bits);
}

// Value of an E4M3 scale: put under the exponent of a half it is 2^-8 times that.
__device__ __forceinline__ float decode_scale(unsigned byte) {
    const unsigned short bits = byte << 7;
    return __half2float(*reinterpret_cast<const __half*>(&bits)) * 256.0f;
}

// The place of a scale in the 128x4 layout.
__device__ __forceinline__ size_t place(size_t row, size_t column, size_t columns) {
    const size_t tile = row / 128 * (columns / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

__global__ void multiply(const uint2* a, const uint2* b, const uint8_t* sfa, const uint8_t* sfb,
                         __half* c, size_t n, size_t blocks) {
    const size_t j = size_t(blockIdx.x) * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    const uint2 *x = a + i * blocks, *y = b + j * blocks;
    const __half2 up = __float2half2_rn(16384.0f);
    float sum = 0.0f;
    for (size_t block = 0; block < blocks; block++) {
        const unsigned xs[2] = {x[block].x, x[block].y}, ys[2] = {y[block].x, y[block].y};
        __half2 part = __float2half2_rn(0.0f);
#pragma unroll
        for (int word = 0; word < 2; word++) {
#pragma unroll
            for (int q = 0; q < 4; q++) {
                part = __hfma2(__hmul2(pair(xs[word], q), up), pair(ys[word], q), part);
            }
        }
        const float both = __low2float(part) + __high2float(part);
        const float s = decode_scale(sfa[place(i, block, blocks)]);
        const float t = decode_scale(sfb[place(j, block, blocks)]);
        sum += both * 16384.0f * (s * t);
    }
    c[i * n + j] = __float2half(sum);
}

extern "C" void solution(const uint8_t* const* a, const uint8_t* const* b,
                         const uint8_t* const* sfa_blocked, const uint8_t* const* sfb_blocked,
                         __half* const* c, const size_t* m, const size_t* n, const size_t* k, size_t g) {
    for (size_t i = 0; i < g; i++) {
        const dim3 grid(unsigned((n[i] + 127) / 128), unsigned(m[i]));
        multiply<<<grid, 128>>>(reinterpret_cast<const uint2*>(a[i]),
                                reinterpret_cast<const uint2*>(b[i]), sfa_blocked[i], sfb_blocked[i], c[i],
                                n[i], k[i] / 16);
    }
}
