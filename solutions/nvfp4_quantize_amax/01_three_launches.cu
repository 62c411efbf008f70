//! problem = "nvfp4_quantize_amax"
//
// Rung 1: three launches, of which each needs the one before whole.
//
//   find_amax    all of a ──► one number        the grid has to agree on it
//   make_scale   448 · 6 / amax, or 1 for a tensor of zeros
//   quantize     as in nvfp4_quantize, a thread for each block
//
// Nothing can be quantized before everything was seen. Between launches of a stream nothing is
// running, so what one wrote the next can read: that is the barrier, and it costs a few
// microseconds.
//
// There is no atomicMax for floats, and none is needed: floats that are not negative are ordered
// like their bits. The output sf_g serves as the meeting place, and is cleared first, in every
// call, because outputs hold whatever was there before.
//
// What to expect: slow like the first rung of nvfp4_quantize, and a first pass that is slow in its
// own way: half a million threads, a load of two bytes at a time, an atomic each.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 24.5 for 1024 x
// 1024, 35.7 for 2048 x 2048, 142 for 4096 x 8192, 265 for 8192 x 8192. The last is 0.16 of the
// bandwidth of a device-to-device copy of as many bytes.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void find_amax(const __half* a, unsigned* amax, size_t count) {
    const size_t step = gridDim.x * size_t(blockDim.x);
    float largest = 0.0f;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += step) {
        largest = fmaxf(largest, fabsf(__half2float(a[i])));
    }
    atomicMax(amax, __float_as_uint(largest));
}

// In place: the bits of amax become the global scale.
__global__ void make_scale(float* sf_g) {
    const float amax = *sf_g;
    *sf_g = amax == 0.0f ? 1.0f : 448.0f * 6.0f / amax;
}

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

__global__ void quantize(const __half* a, const float* global, uint8_t* q, uint8_t* scale, size_t m,
                         size_t columns) {
    const size_t padded = (columns + 3) / 4 * 4;
    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = thread / padded, column = thread % padded;
    if (row >= (m + 127) / 128 * 128) return;
    if (row >= m || column >= columns) {
        scale[swizzled(row, column, columns)] = 0;
        return;
    }

    const float sf_g = *global;
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

extern "C" void solution(const __half* a, uint8_t* q, uint8_t* scale, float* sf_g, size_t m,
                         size_t k) {
    const unsigned threads = 256;
    cudaMemsetAsync(sf_g, 0, sizeof(float));
    find_amax<<<2048, threads>>>(a, reinterpret_cast<unsigned*>(sf_g), m * k);
    make_scale<<<1, 1>>>(sf_g);
    const size_t columns = k / 16;
    const size_t scales = (m + 127) / 128 * 128 * ((columns + 3) / 4 * 4);
    quantize<<<unsigned((scales + threads - 1) / threads), threads>>>(a, sf_g, q, scale, m, columns);
}
