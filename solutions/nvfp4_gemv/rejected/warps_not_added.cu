// expect: wrong_answer last_of_4_parts
//! problem = "nvfp4_gemv"
//
// Four warps share a row, a quarter each, and each writes its sum. Nobody adds the four: the last
// one stays.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

// The two codes of a byte, as halves: three bits of a code, put under the exponent of a half, are its
// value times 2^-14.
__device__ __half2 decode(unsigned byte) {
    const unsigned both = byte * 0x1001u & 0x000f000fu;
    const unsigned pair = (both << 9 & 0x0e000e00u) | (both << 12 & 0x80008000u);
    return __hmul2(*reinterpret_cast<const __half2*>(&pair), __float2half2_rn(16384.0f));
}

// Value of an E4M3 scale.
__device__ float scale(unsigned byte) {
    return __uint_as_float(byte << 20) * 0x1p120f;
}

// The product of eight codes with eight others.
__device__ float dot(uint32_t a, uint32_t b) {
    __half2 sum = __float2half2_rn(0.0f);
    for (int i = 0; i < 32; i += 8) sum = __hfma2(decode(a >> i & 0xff), decode(b >> i & 0xff), sum);
    return __low2float(sum) + __high2float(sum);
}

__device__ __forceinline__ float warp_sum(float x) {
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, __half* c,
                         size_t m, size_t k) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned part = threadIdx.x / 32;
    const size_t batch = blockIdx.y;
    const size_t output = batch * m + blockIdx.x;
    const uint32_t* a_words = reinterpret_cast<const uint32_t*>(a + output * (k / 2));
    const uint32_t* b_words = reinterpret_cast<const uint32_t*>(b + batch * 128 * (k / 2));
    sfa += output * (k / 16);
    sfb += batch * 128 * (k / 16);

    const size_t words = k / 8;
    float sum = 0.0f;
    for (size_t i = words * part / 4 + lane; i < words * (part + 1) / 4; i += 32) {
        sum += dot(a_words[i], b_words[i]) * (scale(sfa[i / 2]) * scale(sfb[i / 2]));
    }
    sum = warp_sum(sum);
    // So that the last part is indeed the last.
    for (unsigned turn = 0; turn < 4; turn++) {
        if (turn == part && lane == 0) c[output] = __float2half(sum);
        __syncthreads();
    }
}

extern "C" void solution(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb,
                         const uint8_t* sfa_blocked, const uint8_t* sfb_blocked, __half* c, size_t m, size_t k,
                         size_t l) {
    multiply<<<dim3(unsigned(m), unsigned(l)), 128>>>(a, b, sfa, sfb, c, m, k);
}
