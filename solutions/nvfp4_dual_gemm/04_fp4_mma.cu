//! problem = "nvfp4_dual_gemm"
//! arch = "sm_120a"
// archs: sm_120a
//
// Rung 4: tensor cores that take the codes and their scales as they are.
//
//   mma.sync.m16n8k64 kind::mxf4nvf4 block_scale scale_vec::4X     D = (A · scales of A) (B · scales of B) + C
//
// 64 columns are four blocks: a lane has eight codes in each register, and a row's four scales are four
// bytes of one register, in one lane. Nothing is dequantized, and a step of 64 columns moves 32 bytes and
// 4 of scales a row where rung 3 moved 128.
//
//   lane 4g + t     codes of a    rows g and g + 8, columns 8t and 32 + 8t: 4 bytes each
//                   codes of b    row g, columns 8t and 32 + 8t
//                   scales of a   t = 0: those of row g; t = 1: those of row g + 8
//                   scales of b   t = 0: those of row g
//
// A CTA makes 128 x 32 values with four warps, and stages 256 columns at a time, those of b1 above those of
// b2: rows are 128 bytes of codes and 16 of scales, and 144 bytes apart, so that the eight rows of a load
// lie in different banks. A lane has both sums of a value.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

constexpr int kRows = 128, kColumns = 32;  // of c
constexpr int kStep = 256;

struct Row {
    uint4 codes[kStep / 32];
    unsigned scales[kStep / 64];  // four in each
};
static_assert(sizeof(Row) == 144, "36 words: four banks further with each row");

__device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, unsigned sa,
                    unsigned sb) {
#ifdef __CUDA_ARCH_FEAT_SM120_ALL
    asm("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
        ".f32.e2m1.e2m1.f32.ue4m3 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, "
        "{%10}, {0,0}, {%11}, {0,0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(sa), "r"(sb));
#endif
}

// Eight threads take a row, 16 bytes of codes each, and the first of them its scales.
__device__ void stage(Row* rows, int count, const uint8_t* codes, const uint8_t* scales, size_t k) {
    const int part = threadIdx.x % 8;
    for (int row = threadIdx.x / 8; row < count; row += 16) {
        rows[row].codes[part] = reinterpret_cast<const uint4*>(codes + row * (k / 2))[part];
        if (part == 0) {
            const uint4 four = *reinterpret_cast<const uint4*>(scales + row * (k / 16));
            *reinterpret_cast<uint4*>(rows[row].scales) = four;
        }
    }
}

// Eight codes of a row: step of 64 columns, half of it, place in the half.
__device__ unsigned eight(const Row& row, int step, int half, int place) {
    return reinterpret_cast<const unsigned*>(row.codes)[step * 8 + half * 4 + place];
}

// exp(-x) is infinite below -88, and the quotient then -0: what it should be.
__device__ __forceinline__ float silu(float x) { return x / (1.0f + __expf(-x)); }

__global__ void __launch_bounds__(128)
    multiply(const uint8_t* a, const uint8_t* b1, const uint8_t* b2, const uint8_t* sfa,
             const uint8_t* sfb1, const uint8_t* sfb2, __half* c, size_t n, size_t k) {
    __shared__ Row x[kRows], y[2 * kColumns];
    const size_t top = size_t(blockIdx.y) * kRows, left = size_t(blockIdx.x) * kColumns;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    float sum[2][8][4] = {};
    for (size_t first = 0; first < k; first += kStep) {
        const size_t byte = first / 2, scale = first / 16;
        stage(x, kRows, a + top * (k / 2) + byte, sfa + top * (k / 16) + scale, k);
        stage(y, kColumns, b1 + left * (k / 2) + byte, sfb1 + left * (k / 16) + scale, k);
        stage(y + kColumns, kColumns, b2 + left * (k / 2) + byte, sfb2 + left * (k / 16) + scale, k);
        __syncthreads();
#pragma unroll
        for (int step = 0; step < kStep / 64; step++) {
            unsigned u[2][4], su[2];
            for (int tile = 0; tile < 2; tile++) {
                const Row* rows = x + warp * 32 + tile * 16;
                for (int half = 0; half < 2; half++) {
                    u[tile][2 * half] = eight(rows[g], step, half, t);
                    u[tile][2 * half + 1] = eight(rows[g + 8], step, half, t);
                }
                su[tile] = rows[g + t % 2 * 8].scales[step];
            }
            for (int group = 0; group < 8; group++) {
                const Row& row = y[group * 8 + g];
                const unsigned v0 = eight(row, step, 0, t), v1 = eight(row, step, 1, t);
                for (int tile = 0; tile < 2; tile++) {
                    mma(sum[tile][group], u[tile], v0, v1, su[tile], row.scales[step]);
                }
            }
        }
        __syncthreads();
    }
    for (int tile = 0; tile < 2; tile++) {
        for (int group = 0; group < 4; group++) {
            const size_t i = top + warp * 32 + tile * 16 + g;
            const size_t j = left + group * 8 + t * 2;
            const float(&d)[4] = sum[tile][group];
            const float(&e)[4] = sum[tile][group + 4];
            *reinterpret_cast<__half2*>(c + i * n + j) =
                __floats2half2_rn(silu(d[0]) * e[0], silu(d[1]) * e[1]);
            *reinterpret_cast<__half2*>(c + (i + 8) * n + j) =
                __floats2half2_rn(silu(d[2]) * e[2], silu(d[3]) * e[3]);
        }
    }
}

extern "C" void solution(const uint8_t* a, const uint8_t* b1, const uint8_t* b2, const uint8_t* sfa,
                         const uint8_t* sfb1, const uint8_t* sfb2, const uint8_t*, const uint8_t*,
                         const uint8_t*, __half* c, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned(n / kColumns), unsigned(m / kRows));
    multiply<<<grid, 128>>>(a, b1, b2, sfa, sfb1, sfb2, c, n, k);
}
