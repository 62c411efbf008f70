//! nvcc = ["-maxrregcount=32", "-DROWS=4"]
// Host code that mixes every byte of a row into its result, each input with another weight: an
// exported submission that confuses two of them, or a size, gives something else.
#include <cuda_fp16.h>
#include <stddef.h>
#include <stdint.h>

// It's no '''quote''' and no \n escape that must come back changed: "µ" \\

extern "C" void solution(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb,
                         const uint8_t* sfa_blocked, const uint8_t* sfb_blocked, __half* c, size_t m,
                         size_t k, size_t l) {
    uint16_t* out = reinterpret_cast<uint16_t*>(c);
    size_t scales = k / 16, tiles = (m + 127) / 128, columns = k / 64;
    for (size_t z = 0; z < l; z++) {
        for (size_t i = 0; i < m; i++) {
            uint32_t sum = 0;
            for (size_t j = 0; j < k / 2; j++) {
                sum += a[(z * m + i) * (k / 2) + j] + 3 * b[z * 128 * (k / 2) + j];
            }
            for (size_t j = 0; j < scales; j++) {
                size_t inside = i % 32 * 16 + i % 128 / 32 * 4 + j % 4;
                sum += 5 * sfa[(z * m + i) * scales + j] + 7 * sfb[z * 128 * scales + j];
                sum += 11 * sfa_blocked[((z * tiles + i / 128) * columns + j / 4) * 512 + inside];
                sum += 13 * sfb_blocked[(z * columns + j / 4) * 512 + j % 4];
            }
            out[z * m + i] = sum;
        }
    }
}
