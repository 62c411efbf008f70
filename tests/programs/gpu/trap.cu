//! problem = "mxfp4_quantize"
// A kernel that gives up.
#include <cstddef>
#include <cstdint>

__global__ void kernel() { __trap(); }

extern "C" void solution(const float*, uint8_t*, uint8_t*, size_t, size_t) {
    kernel<<<1, 1>>>();
}
