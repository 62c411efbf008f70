//! problem = "nvfp4_quantize"
//
// Rung 1: one thread takes one block of 16 elements, alone from end to end.
//
// Two levels of scales: the caller's float `sf_g` moves the tensor into E4M3's range, and each block
// has a byte of its own. The elements' factor comes from that byte as it was stored, after rounding;
// whoever reads the tensor knows no other.
//
// The byte does not go where the block is. The layout has tiles of 128 rows by 4 columns, in which
// rows 32 apart stand side by side, and it is padded to whole tiles. Threads are therefore counted
// over the padded matrix of scales: those outside the real one write the zeros that belong there,
// and nobody has to clear anything before.
//
// What to expect: slow. In each step of the loops, neighbouring threads touch addresses 32 bytes
// apart and take 2 bytes of each; one load of a warp is 32 sectors. Every scale of a row lies in its
// own corner of a tile, too.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 6.6 for 1024 x
// 1024, 14.0 for 2048 x 2048, 80.7 for 4096 x 8192, 155 for 8192 x 8192. The last is 0.27 of the
// bandwidth of a device-to-device copy of as many bytes.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// E2M1 code nearest to x (magnitudes 0 0.5 1 1.5 2 3 4 6). At a midpoint the even code wins, which
// is why `>` and `>=` alternate. The sign bit is copied, not compared: -0 is code 8.
__device__ unsigned encode(float x) {
    const float y = fabsf(x);
    const unsigned magnitude = (y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f)
                             + (y >= 3.5f) + (y > 5.0f);
    return magnitude | __float_as_uint(x) >> 31 << 3;
}

// Where the scale of block `column` of `row` lies, with `columns` blocks in a row.
__device__ size_t swizzled(size_t row, size_t column, size_t columns) {
    const size_t tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

__global__ void quantize(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m,
                         size_t columns) {
    const size_t padded = (columns + 3) / 4 * 4;
    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = thread / padded, column = thread % padded;
    if (row >= (m + 127) / 128 * 128) return;
    if (row >= m || column >= columns) {
        scale[swizzled(row, column, columns)] = 0;
        return;
    }

    const size_t block = row * columns + column;
    const __half* x = a + block * 16;
    float amax = 0.0f;
    for (int i = 0; i < 16; i++) amax = fmaxf(amax, fabsf(__half2float(x[i])));

    // To nearest even, at most 448. The largest element of a block becomes about 6, E2M1's largest.
    const __nv_fp8_e4m3 byte(sf_g * (amax * (1.0f / 6.0f)));
    const float stored = float(byte);
    const float factor = stored == 0.0f ? 0.0f : sf_g / stored;

    scale[swizzled(row, column, columns)] = byte.__x;
    for (int i = 0; i < 8; i++) {
        const unsigned even = encode(__half2float(x[2 * i]) * factor);
        const unsigned odd = encode(__half2float(x[2 * i + 1]) * factor);
        q[block * 8 + i] = even | odd << 4;
    }
}

extern "C" void solution(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m,
                         size_t k) {
    const size_t columns = k / 16;
    const size_t scales = (m + 127) / 128 * 128 * ((columns + 3) / 4 * 4);
    const unsigned threads = 256;
    quantize<<<unsigned((scales + threads - 1) / threads), threads>>>(a, sf_g, q, scale, m, columns);
}
