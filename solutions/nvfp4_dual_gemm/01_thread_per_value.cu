//! problem = "nvfp4_dual_gemm"
// check: quick
//
// Rung 1: one thread, one value of c: two products of two rows, and the gate.
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
// What it costs: every thread reads three whole rows. A row of a is broadcast to a warp, and decoded
// once for both products; rows of b1 and b2 are k/2 bytes apart: 32 sectors for each load.
//
// Seen on an H200 (2026-11-23, sm_90a, cold L2, microseconds): 10804 for 256 x 4096 x 7168, 22404 for 512 x 4096 x
// 7168, 4209 for 256 x 3072 x 4096, 16347 for 512 x 3072 x 7168.

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

// The exact sum of a block's products.
__device__ __forceinline__ float dot(uint2 x, uint2 y) {
    const __half2 up = __float2half2_rn(16384.0f);
    const unsigned xs[2] = {x.x, x.y}, ys[2] = {y.x, y.y};
    __half2 part = __float2half2_rn(0.0f);
#pragma unroll
    for (int word = 0; word < 2; word++) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            part = __hfma2(__hmul2(pair(xs[word], q), up), pair(ys[word], q), part);
        }
    }
    return (__low2float(part) + __high2float(part)) * 16384.0f;
}

// exp(-x) is infinite below -88, and the quotient then -0: what it should be.
__device__ __forceinline__ float silu(float x) { return x / (1.0f + __expf(-x)); }

__global__ void multiply(const uint2* a, const uint2* b1, const uint2* b2, const uint8_t* sfa,
                         const uint8_t* sfb1, const uint8_t* sfb2, __half* c, size_t n, size_t blocks) {
    const size_t j = size_t(blockIdx.x) * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    const size_t row = i * blocks, column = j * blocks;
    float first = 0.0f, second = 0.0f;
    for (size_t block = 0; block < blocks; block++) {
        const uint2 x = a[row + block];
        const float scale = decode_scale(sfa[row + block]);
        first += dot(x, b1[column + block]) * (scale * decode_scale(sfb1[column + block]));
        second += dot(x, b2[column + block]) * (scale * decode_scale(sfb2[column + block]));
    }
    c[i * n + j] = __float2half(silu(first) * second);
}

extern "C" void solution(const uint8_t* a, const uint8_t* b1, const uint8_t* b2, const uint8_t* sfa,
                         const uint8_t* sfb1, const uint8_t* sfb2, const uint8_t*, const uint8_t*,
                         const uint8_t*, __half* c, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned((n + 127) / 128), unsigned(m));
    multiply<<<grid, 128>>>(reinterpret_cast<const uint2*>(a), reinterpret_cast<const uint2*>(b1),
                            reinterpret_cast<const uint2*>(b2), sfa, sfb1, sfb2, c, n, k / 16);
}
