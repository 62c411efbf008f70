// The sizes are 32 bits wide.
#include <cstddef>
#include <cstdint>

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, int m, int k) {}
