// What is right: plain before it is fast. One thread takes one block.

#include <cstddef>

__global__ void find_amax(const float* a, float* amax, size_t blocks, size_t known_bug) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;
    const int elements = known_bug == 2 ? 16 : 32;
    float largest = 0.0f;
    for (int i = 0; i < elements; i++) {
        const float value = a[block * 32 + i];
        largest = fmaxf(largest, known_bug == 1 ? value : fabsf(value));
    }
    amax[block] = largest;
}

// The parameters of the signature, and the number of the known bug to make, 0 for none.
extern "C" void solution(const float* a, float* amax, size_t m, size_t k, size_t known_bug) {
    const size_t blocks = m * k / 32;
    const unsigned threads = 128;
    find_amax<<<unsigned((blocks + threads - 1) / threads), threads>>>(a, amax, blocks, known_bug);
}
