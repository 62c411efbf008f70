//! problem = "{name}"
//
// One thread takes one block of 32 elements. Right, and slow: neighbouring threads read addresses
// 128 bytes apart.

#include <cstddef>

__global__ void find_amax(const float* a, float* amax, size_t blocks) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;
    float largest = 0.0f;
    for (int i = 0; i < 32; i++) largest = fmaxf(largest, fabsf(a[block * 32 + i]));
    amax[block] = largest;
}

extern "C" void solution(const float* a, float* amax, size_t m, size_t k) {
    const size_t blocks = m * k / 32;
    const unsigned threads = 256;
    find_amax<<<unsigned((blocks + threads - 1) / threads), threads>>>(a, amax, blocks);
}
