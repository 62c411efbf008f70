// Host code that reads a device pointer's neighbourhood at address zero.
#include <cstddef>
#include <cstdint>

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    *(volatile int*)nullptr = 1;
}
