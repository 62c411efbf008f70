//! problem = "mxfp4_quantize"
// A float at an odd address.
#include <cstddef>
#include <cstdint>

__global__ void kernel(uint8_t* q) { *reinterpret_cast<float*>(q + 1) = 1.0f; }

extern "C" void solution(const float*, uint8_t* q, uint8_t*, size_t, size_t) {
    kernel<<<1, 1>>>(q);
}
