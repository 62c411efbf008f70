//! problem = "nvfp4_quantize"
//
// Rung 2: two lanes take one block, eight elements each, and trade one number.
//
// What changed: eight halves are 16 bytes, the widest load a lane had before Blackwell. So a block is
// two lanes, a warp reads 512 bytes without a gap, and one shuffle with the neighbour completes the
// amax. Both lanes then compute the same scale, which costs less than sending it. Eight codes are 32
// bits: each lane packs and stores its own, with no byte shared between lanes.
//
// What to expect: the loads fetch what they use, a warp has sixteen times the bytes in flight, and
// memory is the limit where arithmetic does not get in the way. Here it does: with two bytes of
// input to an element, where MXFP4 has four, the seven comparisons of the encoder weigh double.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 5.3 for 1024 x
// 1024, 9.5 for 2048 x 2048, 48.9 for 4096 x 8192, 93.4 for 8192 x 8192. The last is 0.44 of the
// bandwidth of a device-to-device copy of as many bytes.

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

// Where the scale of block `column` of `row` lies, in 32 bits: the layout of a tensor of 64 GB.
__device__ unsigned swizzled(unsigned row, unsigned column, unsigned columns) {
    const unsigned tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

__global__ void quantize(const uint4* a, float sf_g, uint32_t* q, uint8_t* scale, unsigned m,
                         unsigned columns) {
    const unsigned padded = (columns + 3) / 4 * 4;
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = thread / 2 / padded, column = thread / 2 % padded, half = thread % 2;

    // Outside the matrix everything is zero, and so is then the scale. Lanes stay for the shuffle.
    const bool inside = row < m && column < columns;
    const size_t eighth = (size_t(row) * columns + column) * 2 + half;
    uint4 words = {};
    if (inside) words = a[eighth];
    const __half2* pairs = reinterpret_cast<const __half2*>(&words);

    float x[8];
    float amax = 0.0f;
    for (int i = 0; i < 4; i++) {
        const float2 pair = __half22float2(pairs[i]);
        x[2 * i] = pair.x, x[2 * i + 1] = pair.y;
        amax = fmaxf(amax, fmaxf(fabsf(pair.x), fabsf(pair.y)));
    }
    amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, 1));

    const __nv_fp8_e4m3 byte(sf_g * (amax * (1.0f / 6.0f)));
    const float stored = float(byte);
    const float factor = stored == 0.0f ? 0.0f : sf_g / stored;
    uint32_t codes = 0;
    for (int i = 0; i < 8; i++) codes |= encode(x[i] * factor) << 4 * i;
    if (inside) q[eighth] = codes;
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
