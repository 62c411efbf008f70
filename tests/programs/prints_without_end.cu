// A gigabyte of output: it is read, so that the solution does not stall, and most is dropped.
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    static char line[1 << 20];
    for (char& c : line) c = 'x';
    line[sizeof line - 2] = '\n';
    line[sizeof line - 1] = 0;
    for (int i = 0; i < 1024; ++i) fputs(line, stdout);
}
