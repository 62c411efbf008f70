#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) { abort(); }
