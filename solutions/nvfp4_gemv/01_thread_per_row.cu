//! problem = "nvfp4_gemv"
//
// Rung 1: one thread takes one row, from the first element to the last.
//
// The formula, written down and nothing else: decode two codes, multiply, add, and at the end of
// each block of 16 multiply by the two scales. Sums within a block are exact in float32, so only the
// additions of blocks round.
//
// What to expect: a disaster, for two reasons. Neighbouring threads read addresses k/2 bytes apart,
// so each load of a warp touches 32 cache lines and uses one byte of each; they had better stay in
// L1. And there are only m * l threads, 7168 for the first size: two warps for each SM's schedulers,
// with nothing to do while they wait.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// Value of an E2M1 code.
__device__ float decode(unsigned code) {
    const unsigned exponent = code >> 1 & 3;
    const unsigned mantissa = code & 1;
    // Exponent 0 has no hidden bit.
    const float magnitude = exponent == 0 ? 0.5f * mantissa
                                          : (1.0f + 0.5f * mantissa) * float(1u << (exponent - 1));
    return code & 8 ? -magnitude : magnitude;
}

__device__ float scale(uint8_t byte) {
    __nv_fp8_e4m3 stored;
    stored.__x = byte;
    return float(stored);
}

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c,
                         size_t m, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t batch = blockIdx.y;
    if (row >= m) return;

    // A batch of b has 128 rows, of which the first counts.
    a += (batch * m + row) * (k / 2);
    sfa += (batch * m + row) * (k / 16);
    b += batch * 128 * (k / 2);
    sfb += batch * 128 * (k / 16);

    float sum = 0.0f;
    for (size_t block = 0; block < k / 16; block++) {
        float products = 0.0f;
        for (size_t i = block * 8; i < block * 8 + 8; i++) {
            products += decode(a[i] & 15) * decode(b[i] & 15) + decode(a[i] >> 4) * decode(b[i] >> 4);
        }
        sum += products * scale(sfa[block]) * scale(sfb[block]);
    }
    c[batch * m + row] = __float2half(sum);
}

extern "C" void solution(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb,
                         const uint8_t* sfa_blocked, const uint8_t* sfb_blocked, __half* c, size_t m, size_t k,
                         size_t l) {
    const unsigned threads = 128;
    const dim3 grid(unsigned((m + threads - 1) / threads), unsigned(l));
    multiply<<<grid, threads>>>(a, b, sfa, sfb, c, m, k);
}
