// Host code that mixes every byte of a row into its result, each input with another weight: an
// exported submission that confuses two of them, a group or a size gives something else.
#include <cuda_fp16.h>
#include <stddef.h>
#include <stdint.h>

extern "C" void solution(const uint8_t* const* a, const uint8_t* const* b, const uint8_t* const* sfa_blocked,
                         const uint8_t* const* sfb_blocked, __half* const* c, const size_t* m,
                         const size_t* n, const size_t* k, size_t g) {
    for (size_t z = 0; z < g; z++) {
        uint16_t* out = reinterpret_cast<uint16_t*>(c[z]);
        size_t columns = k[z] / 64;
        auto place = [&](size_t row, size_t x) {
            return (row / 128 * columns + x / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + x % 4;
        };
        for (size_t i = 0; i < m[z]; i++) {
            for (size_t j = 0; j < n[z]; j++) {
                uint32_t sum = 0;
                for (size_t x = 0; x < k[z] / 2; x++) {
                    sum += a[z][i * (k[z] / 2) + x] + 3 * b[z][j * (k[z] / 2) + x];
                }
                for (size_t x = 0; x < k[z] / 16; x++) {
                    sum += 5 * sfa_blocked[z][place(i, x)] + 7 * sfb_blocked[z][place(j, x)];
                }
                out[i * n[z] + j] = sum;
            }
        }
    }
}
