#include <cstddef>
#include <cstdint>

__global__ void quantize(const float* a, uint8_t* q, size_t n) {
    size_t i = threadIdx.x;
    q[i % (n / 2)] = a[n + i] > 0;
}

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    quantize<<<1, 32>>>(a, q, m * k);
}
