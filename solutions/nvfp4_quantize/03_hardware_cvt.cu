//! problem = "nvfp4_quantize"
//
// Rung 3: the hardware rounds.
//
// What changed, against rung 2:
//
//   encoder  cvt.rn.satfinite.e2m1x2.f32 rounds, clips and packs two floats in one instruction; four
//            of them replace some hundred. Ties to even is its only mode, -0 stays, and its first
//            operand goes to the *high* nibble.
//   amax     two halves at a time: halves order like floats, and the hardware compares pairs.
//   factor   a reciprocal of the hardware's and no division, which is a dozen instructions. The
//            problem's truth is made of the same reciprocals.
//
// The guard: the instruction exists on sm_100a and sm_120a and not on sm_100 and sm_120, whose code
// must run on later chips as well. `__CUDA_ARCH_FEAT_SM100_ALL` says that the `a` was given;
// families (`sm_100f`) have a macro of their own. Elsewhere rung 2's encoder stands in.
//
// What to expect: on Blackwell a third of the instructions, and DRAM as the limit. On older chips
// the encoder remains, and with it most of the work.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 5.3 for 1024 x
// 1024, 9.4 for 2048 x 2048, 47.8 for 4096 x 8192, 92.0 for 8192 x 8192. The last is 0.45 of the
// bandwidth of a device-to-device copy of as many bytes. That is as good as rung 2: here the
// instruction does not exist, and what is left to change is the encoder.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__device__ unsigned encode(float x) {
    const float y = fabsf(x);
    const unsigned magnitude = (y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f)
                             + (y >= 3.5f) + (y > 5.0f);
    return magnitude | __float_as_uint(x) >> 31 << 3;
}

// Codes of eight elements times `factor`, the first in the lowest nibble.
__device__ uint32_t pack(const __half2* pairs, float factor) {
    float x[8];
    for (int i = 0; i < 4; i++) {
        const float2 pair = __half22float2(pairs[i]);
        x[2 * i] = pair.x * factor, x[2 * i + 1] = pair.y * factor;
    }
    uint32_t codes = 0;
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL) \
    || (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000)
    asm("{\n"
        ".reg .b8 b0, b1, b2, b3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b0, %2, %1;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b1, %4, %3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b2, %6, %5;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b3, %8, %7;\n"
        "mov.b32 %0, {b0, b1, b2, b3};\n"
        "}"
        : "=r"(codes)
        : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7]));
#else
    for (int i = 0; i < 8; i++) codes |= encode(x[i]) << 4 * i;
#endif
    return codes;
}

// Where the scale of block `column` of `row` lies, in 32 bits: the layout of a tensor of 64 GB.
__device__ unsigned swizzled(unsigned row, unsigned column, unsigned columns) {
    const unsigned tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

__device__ float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

__global__ void quantize(const uint4* a, float sf_g, uint32_t* q, uint8_t* scale, unsigned m,
                         unsigned columns) {
    const unsigned padded = (columns + 3) / 4 * 4;
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = thread / 2 / padded, column = thread / 2 % padded, half = thread % 2;

    const bool inside = row < m && column < columns;
    const size_t eighth = (size_t(row) * columns + column) * 2 + half;
    uint4 words = {};
    if (inside) words = a[eighth];
    const __half2* pairs = reinterpret_cast<const __half2*>(&words);

    const __half2 largest = __hmax2(__hmax2(__habs2(pairs[0]), __habs2(pairs[1])),
                                    __hmax2(__habs2(pairs[2]), __habs2(pairs[3])));
    float amax = __half2float(__hmax(__low2half(largest), __high2half(largest)));
    amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, 1));

    const __nv_fp8_e4m3 byte(sf_g * (amax * (1.0f / 6.0f)));
    const float stored = float(byte);
    // A block whose scale vanished has the value 0 whatever its codes are.
    const float factor = stored == 0.0f ? 0.0f : reciprocal(stored * reciprocal(sf_g));
    if (inside) q[eighth] = pack(pairs, factor);
    if (half == 0) scale[swizzled(row, column, columns)] = byte.__x;
}

extern "C" void solution(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m,
                         size_t k) {
    const size_t columns = k / 16;
    // Whole tiles of 128 rows by 4 columns, so there is no rest.
    const size_t lanes = (m + 127) / 128 * 128 * ((columns + 3) / 4 * 4) * 2;
    const unsigned threads = 256;
    quantize<<<unsigned(lanes / threads), threads>>>(
        reinterpret_cast<const uint4*>(a), sf_g, reinterpret_cast<uint32_t*>(q), scale,
        unsigned(m), unsigned(columns));
}
