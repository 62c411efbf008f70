//! problem = "mxfp4_quantize"
// Writes where no memory is: a sticky error, which ends the worker. On a GPU only: see scripts/gpu.
#include <cstddef>
#include <cstdint>

__global__ void kernel(uint8_t* q) { q[size_t(1) << 44] = 1; }

extern "C" void solution(const float*, uint8_t* q, uint8_t*, size_t, size_t) {
    kernel<<<1, 1>>>(q);
}
