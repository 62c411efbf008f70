#include <cstddef>
#include <cstdint>

__global__ void quantize(const float* a, uint8_t* q) { q[threadIdx.x] = encode(a[threadIdx.x], scal); }

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    quantize<<<1, 32>>>(a, q);
}
