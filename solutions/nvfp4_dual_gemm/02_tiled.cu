//! problem = "nvfp4_dual_gemm"
// check: quick
//
// Rung 2: tiles in shared memory, decoded once.
//
// A CTA of 256 threads makes 64 x 32 values. In each step it decodes 32 columns of 64 rows of a and of
// 32 of b1 and of b2 to floats, scales included, in shared memory. The rows of b1 and b2 share one tile: a
// thread takes four rows of a, two of b1 and the same two of b2, so that it has both sums of a value.
//
//   tile    value[column][row]: the rows of a column lie together, and a thread takes four of a as one
//           float4, two of b1 and of b2 as one float2 each
//
// The float32 pipe is the limit now: one instruction for each product. Tensor cores take them 2048 at a
// time.
//
// Seen on an H200 (2026-11-23, sm_90a, cold L2, microseconds): 1101 for 256 x 4096 x 7168, 2158 for 512 x 4096 x
// 7168, 483 for 256 x 3072 x 4096, 1629 for 512 x 3072 x 7168.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

constexpr int kTile = 64;   // rows of a, and of b1 and b2 together
constexpr int kHalf = 32;   // of each of those
constexpr int kStep = 32;   // columns

struct Tile {
    float value[kStep][kTile + 4];
};

__device__ __forceinline__ __half2 pair(unsigned word, int q) {
    const unsigned codes = word >> (4 * q);
    const unsigned bits = (codes & 0x00070007) << 9 | (codes & 0x00080008) << 12;
    return *reinterpret_cast<const __half2*>(&bits);
}

__device__ __forceinline__ float decode_scale(unsigned byte) {
    const unsigned short bits = byte << 7;
    return __half2float(*reinterpret_cast<const __half*>(&bits)) * 256.0f;
}

// Four threads take a row, a word of eight codes each. `codes` and `scales` are the row's own.
__device__ void stage(Tile& tile, const uint8_t* codes, const uint8_t* scales, size_t first) {
    const int row = threadIdx.x / 4, part = threadIdx.x % 4;
    const unsigned word = *reinterpret_cast<const unsigned*>(codes + first / 2 + part * 4);
    const float scale = decode_scale(scales[first / 16 + part / 2]) * 16384.0f;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        const float2 values = __half22float2(pair(word, q));
        tile.value[part * 8 + q][row] = values.x * scale;
        tile.value[part * 8 + q + 4][row] = values.y * scale;
    }
}

// exp(-x) is infinite below -88, and the quotient then -0: what it should be.
__device__ __forceinline__ float silu(float x) { return x / (1.0f + __expf(-x)); }

__global__ void __launch_bounds__(256)
    multiply(const uint8_t* a, const uint8_t* b1, const uint8_t* b2, const uint8_t* sfa,
             const uint8_t* sfb1, const uint8_t* sfb2, __half* c, size_t n, size_t k) {
    __shared__ Tile x, y;
    const size_t top = size_t(blockIdx.y) * kTile, left = size_t(blockIdx.x) * kHalf;
    const int i = threadIdx.x / 16 * 4, j = threadIdx.x % 16 * 2;
    // The row of a, and of b1 or b2, that this thread stages.
    const int row = threadIdx.x / 4;
    const size_t of_a = top + row, of_b = left + row % kHalf;
    const uint8_t *b = row < kHalf ? b1 : b2, *sfb = row < kHalf ? sfb1 : sfb2;
    float sum[4][4] = {};
    for (size_t first = 0; first < k; first += kStep) {
        stage(x, a + of_a * (k / 2), sfa + of_a * (k / 16), first);
        stage(y, b + of_b * (k / 2), sfb + of_b * (k / 16), first);
        __syncthreads();
#pragma unroll 4
        for (int column = 0; column < kStep; column++) {
            const float4 u = *reinterpret_cast<const float4*>(&x.value[column][i]);
            const float2 v = *reinterpret_cast<const float2*>(&y.value[column][j]);
            const float2 w = *reinterpret_cast<const float2*>(&y.value[column][kHalf + j]);
            const float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, w.x, w.y};
#pragma unroll
            for (int p = 0; p < 4; p++) {
#pragma unroll
                for (int q = 0; q < 4; q++) sum[p][q] += us[p] * vs[q];
            }
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++) {
        for (int q = 0; q < 2; q++) {
            c[(top + i + p) * n + left + j + q] = __float2half(silu(sum[p][q]) * sum[p][q + 2]);
        }
    }
}

extern "C" void solution(const uint8_t* a, const uint8_t* b1, const uint8_t* b2, const uint8_t* sfa,
                         const uint8_t* sfb1, const uint8_t* sfb2, const uint8_t*, const uint8_t*,
                         const uint8_t*, __half* c, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned(n / kHalf), unsigned(m / kTile));
    multiply<<<grid, 256>>>(a, b1, b2, sfa, sfb1, sfb2, c, n, k);
}
