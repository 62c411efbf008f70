//! problem = "nvfp4_gemv"
//
// Rung 4, an experiment that failed: split k once more, this time without atomics.
//
// Changed: each row is cut into up to eight parts of at least 2048 elements, a warp for each, and a
// second kernel adds the parts and rounds.
//
// What was expected: more warps, hence more loads in flight. What comes of it: rung 3 had warps
// enough for every SM at all sizes, so there is hardly anything to hide that was not hidden. The
// second launch, and the way of the parts to memory and back, are paid for nearly nothing.
//
// Measured on an H200 (sm_90a, cold L2, medians by events, 20 November 2026, microseconds; its
// memory's floor is 13.8, 27.5 and 6.9): 65.8, 128 and 37.4 for the three sizes. A gain of 3 %
// where rows are longest and fewest; 14 to 16 % lost elsewhere.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

constexpr unsigned kWarps = 8;  // of a CTA, one row each
constexpr unsigned kParts = 8;          // at most
constexpr size_t kOutputs = 1 << 17;   // at most

__device__ float partial[kParts * kOutputs];

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

__global__ void multiply(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, size_t m,
                         size_t k) {
    const unsigned lane = threadIdx.x % 32;
    const size_t row = blockIdx.x * size_t(kWarps) + threadIdx.x / 32;
    const size_t batch = blockIdx.y;
    if (row >= m) return;

    // A batch of b has 128 rows, of which the first counts.
    const size_t output = batch * m + row;
    const uint32_t* a_words = reinterpret_cast<const uint32_t*>(a + output * (k / 2));
    const uint32_t* b_words = reinterpret_cast<const uint32_t*>(b + batch * 128 * (k / 2));
    sfa += output * (k / 16);
    sfb += batch * 128 * (k / 16);

    const size_t words = k / 8;
    const size_t end = words * (blockIdx.z + 1) / gridDim.z;
    float sum = 0.0f;
    for (size_t i = words * blockIdx.z / gridDim.z + lane; i < end; i += 32) {
        sum += dot(a_words[i], b_words[i]) * (scale(sfa[i / 2]) * scale(sfb[i / 2]));
    }
    sum = warp_sum(sum);
    if (lane == 0) partial[blockIdx.z * kOutputs + output] = sum;
}

__global__ void add(__half* c, size_t outputs, unsigned parts) {
    const size_t output = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (output >= outputs) return;
    float sum = 0.0f;
    for (unsigned part = 0; part < parts; part++) sum += partial[part * kOutputs + output];
    c[output] = __float2half(sum);
}

extern "C" void solution(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb,
                         const uint8_t* sfa_blocked, const uint8_t* sfb_blocked, __half* c, size_t m, size_t k,
                         size_t l) {
    if (m * l > kOutputs) return;
    const unsigned parts = k >= kParts * 2048 ? kParts : k < 2048 ? 1 : unsigned(k / 2048);
    const dim3 grid(unsigned((m + kWarps - 1) / kWarps), unsigned(l), parts);
    multiply<<<grid, kWarps * 32>>>(a, b, sfa, sfb, m, k);
    const unsigned threads = 256;
    add<<<unsigned((m * l + threads - 1) / threads), threads>>>(c, m * l, parts);
}
