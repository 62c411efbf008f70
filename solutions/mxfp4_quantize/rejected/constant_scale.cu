// expect: wrong_answer constant_scale
//! problem = "mxfp4_quantize"
//
// The competition's data is uniform in [-1, 1), where the largest of 32 lies in [0.5, 1) but for
// one block in four billion. So this kernel passes there without computing a scale.

#include <cstddef>
#include <cstdint>

// E2M1 code nearest to x; at a midpoint the even code wins.
__device__ unsigned encode(float x) {
    const float y = fabsf(x);
    const unsigned magnitude = (y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f)
                             + (y >= 3.5f) + (y > 5.0f);
    return magnitude | __float_as_uint(x) >> 31 << 3;
}

__global__ void quantize(const float* a, uint8_t* q, uint8_t* scale, size_t blocks) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;

    const float* x = a + block * 32;
    const unsigned byte = 124;
    const float inverse = 8.0f;
    scale[block] = byte;
    for (int i = 0; i < 16; i++) {
        const unsigned even = encode(x[2 * i] * inverse);
        const unsigned odd = encode(x[2 * i + 1] * inverse);
        q[block * 16 + i] = even | odd << 4;
    }
}

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    const size_t blocks = m * k / 32;
    const unsigned threads = 256;
    quantize<<<unsigned((blocks + threads - 1) / threads), threads>>>(a, q, scale, blocks);
}
