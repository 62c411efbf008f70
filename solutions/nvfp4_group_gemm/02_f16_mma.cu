//! problem = "nvfp4_group_gemm"
//
// Rung 2: one launch for the tiles of all groups, and tensor cores on values that are dequantized to f16.
//
// A code has two significant bits and a scale four, so their product has six, between 2^-10 and 2688:
// f16 holds it exactly, and `mma.sync` on f16 has multiplied it since sm_80, with sums in float32.
//
//   CTA       128 rows of a x 64 rows of b of one group, four warps of 32 x 64 each. Which group it is
//             follows from the number of tiles of those before it: groups are few, so each CTA counts
//   rows      from m on are staged as zeros and never stored
//   scales    a tile of the 128x4 layout is 512 bytes: the four scales of a row lie together, rows 32
//             apart side by side
//   pitch     72 halves: rows are 144 bytes apart, and the eight rows of a matrix that `ldmatrix`
//             loads begin in different banks
//
// Seen on an H200 (2026-11-23, sm_90a, cold L2, microseconds): 544 for the first of the competition's sizes.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

constexpr int kRows = 128, kColumns = 64;  // of c
constexpr int kStep = 64;
constexpr int kPitch = kStep + 8;

__device__ __forceinline__ __half2 pair(unsigned codes) {
    const unsigned bits = (codes & 0x00070007) << 9 | (codes & 0x00080008) << 12;
    return *reinterpret_cast<const __half2*>(&bits);
}

// Eight codes of a word, in order, times a scale.
__device__ __forceinline__ uint4 dequantize(unsigned word, __half2 scale) {
    const __half2 up = __float2half2_rn(16384.0f);
    unsigned halves[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        // Codes 2i and 2i + 1, 16 bits apart.
        const unsigned byte = word >> (8 * i);
        const __half2 value = __hmul2(__hmul2(pair((byte & 0xf) | (byte & 0xf0) << 12), up), scale);
        halves[i] = *reinterpret_cast<const unsigned*>(&value);
    }
    return make_uint4(halves[0], halves[1], halves[2], halves[3]);
}

__device__ __forceinline__ __half2 decode_scale(unsigned byte) {
    const unsigned short bits = (byte & 0xff) << 7;
    return __half2half2(__hmul(*reinterpret_cast<const __half*>(&bits), __float2half(256.0f)));
}

// 16 columns of a row: eight bytes of codes, one scale.
__device__ void stage(__half* to, const uint8_t* codes, unsigned scale) {
    const uint2 words = *reinterpret_cast<const uint2*>(codes);
    const __half2 factor = decode_scale(scale);
    uint4* out = reinterpret_cast<uint4*>(to);
    out[0] = dequantize(words.x, factor);
    out[1] = dequantize(words.y, factor);
}

__device__ void load_matrices(unsigned (&x)[4], const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row))));
}

__device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

struct Group {
    const uint8_t *a, *b, *sfa, *sfb;
    __half* c;
    unsigned m, n, k, tiles;
};

// By value, as a kernel's parameter: the arrays are on the host.
struct Groups {
    Group group[32];
    unsigned count;
};

// The place of a row's four scales of a step in the 128x4 layout.
__device__ __forceinline__ size_t place(unsigned row, unsigned step, unsigned steps) {
    return (size_t(row / 128) * steps + step) * 512 + row % 32 * 16 + row % 128 / 32 * 4;
}

__global__ void __launch_bounds__(128) multiply(const __grid_constant__ Groups groups) {
    __shared__ __align__(16) __half x[kRows][kPitch], y[kColumns][kPitch];
    unsigned tile_index = blockIdx.x, at = 0;
    while (at + 1 < groups.count && tile_index >= groups.group[at].tiles) {
        tile_index -= groups.group[at].tiles;
        at++;
    }
    const Group& own = groups.group[at];
    const unsigned across = own.n / kColumns, k = own.k;
    const unsigned top = tile_index / across * kRows, left = tile_index % across * kColumns;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum[2][8][4] = {};
    for (unsigned first = 0; first < k; first += kStep) {
        // Four threads take a row, a block each; 32 rows at a time.
        const int block = threadIdx.x % 4;
        const unsigned byte = first / 2 + block * 8, step = first / kStep, steps = k / kStep;
        for (int row = threadIdx.x / 4; row < kRows; row += 32) {
            const unsigned i = top + row;
            if (i < own.m) {
                const uint8_t scale = own.sfa[place(i, step, steps) + block];
                stage(&x[row][block * 16], own.a + size_t(i) * (k / 2) + byte, scale);
            } else {
                uint4* zeros = reinterpret_cast<uint4*>(&x[row][block * 16]);
                zeros[0] = zeros[1] = make_uint4(0, 0, 0, 0);
            }
        }
        for (int row = threadIdx.x / 4; row < kColumns; row += 32) {
            const unsigned j = left + row;
            const uint8_t scale = own.sfb[place(j, step, steps) + block];
            stage(&y[row][block * 16], own.b + size_t(j) * (k / 2) + byte, scale);
        }
        __syncthreads();
        for (int column = 0; column < kStep; column += 16) {
            unsigned u[2][4];
            for (int tile = 0; tile < 2; tile++) {
                const int row = warp * 32 + tile * 16 + lane % 16;
                load_matrices(u[tile], &x[row][column + lane / 16 * 8]);
            }
#pragma unroll
            for (int pair = 0; pair < 4; pair++) {
                // Two groups of eight rows of b, both halves of the 16 columns.
                unsigned v[4];
                const int row = pair * 16 + lane / 16 * 8 + lane % 8;
                load_matrices(v, &y[row][column + lane / 8 % 2 * 8]);
                for (int tile = 0; tile < 2; tile++) {
                    mma(sum[tile][2 * pair], u[tile], v[0], v[1]);
                    mma(sum[tile][2 * pair + 1], u[tile], v[2], v[3]);
                }
            }
        }
        __syncthreads();
    }
    for (int tile = 0; tile < 2; tile++) {
        for (int group = 0; group < 8; group++) {
            const unsigned i = top + warp * 32 + tile * 16 + lane / 4;
            const unsigned j = left + group * 8 + lane % 4 * 2;
            const float(&d)[4] = sum[tile][group];
            __half2* row = reinterpret_cast<__half2*>(own.c + size_t(i) * own.n + j);
            if (i < own.m) row[0] = __floats2half2_rn(d[0], d[1]);
            if (i + 8 < own.m) row[8 * size_t(own.n) / 2] = __floats2half2_rn(d[2], d[3]);
        }
    }
}

extern "C" void solution(const uint8_t* const* a, const uint8_t* const* b,
                         const uint8_t* const* sfa_blocked, const uint8_t* const* sfb_blocked,
                         __half* const* c, const size_t* m, const size_t* n, const size_t* k, size_t g) {
    // As many groups at once as the parameter has room for.
    for (size_t first = 0; first < g; first += 32) {
        Groups groups = {};
        unsigned tiles = 0;
        for (size_t i = first; i < g && i < first + 32; i++) {
            const unsigned own = unsigned((m[i] + kRows - 1) / kRows * (n[i] / kColumns));
            groups.group[groups.count++] = {a[i],           b[i],           sfa_blocked[i], sfb_blocked[i], c[i],
                                            unsigned(m[i]), unsigned(n[i]), unsigned(k[i]), own};
            tiles += own;
        }
        multiply<<<tiles, 128>>>(groups);
    }
}
