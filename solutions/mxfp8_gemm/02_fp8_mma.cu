//! problem = "mxfp8_gemm"
//! arch = "sm_120a"
// archs: sm_120a
//
// Rung 2: tensor cores that take codes and scales as they are.
//
//   mma.sync.m16n8k32 kind::mxf8f6f4 block_scale scale_vec::1X     D = (A · scales of A) (B · scales of B) + C
//
// 32 columns are one block, so an instruction takes one scale of each row. A warp makes 16 x 32 products:
// it loads four words of codes of a, and two of b for each of four groups of eight rows, straight from
// global memory: 4096 multiplications for 48 bytes a lane.
//
//   lane 4g + t     codes of a    rows g and g + 8, columns 4t to 4t + 3 and 16 more
//                   codes of b    row g, columns 4t and 16 + 4t
//                   scale of a    t = 0: that of row g; t = 1: that of row g + 8
//                   scale of b    t = 0: that of row g
//
// Sides are any: a row behind the last is read as the last, and what comes of it is not written.

#include <cstddef>
#include <cstdint>

constexpr int kGroups = 4;  // of eight rows of b

__device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, unsigned sa,
                    unsigned sb) {
#ifdef __CUDA_ARCH_FEAT_SM120_ALL
    asm("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
        ".f32.e4m3.e4m3.f32.ue8m0 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, "
        "{%10}, {0,0}, {%11}, {0,0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(sa), "r"(sb));
#endif
}

__device__ unsigned four(const uint8_t* codes) {
    return *reinterpret_cast<const unsigned*>(codes);
}

// Where the scales of a row begin in the 128x4 layout, and how far the block is from there.
__device__ const uint8_t* scale_row(const uint8_t* scales, size_t across, size_t row) {
    return scales + row / 128 * across * 512 + row % 32 * 16 + row % 128 / 32 * 4;
}

__device__ size_t scale_column(size_t block) {
    return block / 4 * 512 + block % 4;
}

__global__ void __launch_bounds__(128)
    multiply(const uint8_t* a, const uint8_t* scale_a, const uint8_t* b, const uint8_t* scale_b,
             float* c, size_t m, size_t n, size_t k) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const size_t top = (size_t(blockIdx.y) * 4 + threadIdx.x / 32) * 16;
    const size_t left = size_t(blockIdx.x) * kGroups * 8;
    const size_t blocks = k / 32, across = (blocks + 3) / 4;
    const auto in = [](size_t row, size_t rows) { return row < rows ? row : rows - 1; };

    const uint8_t* low = a + in(top + g, m) * k + t * 4;
    const uint8_t* high = a + in(top + g + 8, m) * k + t * 4;
    const uint8_t* sa = scale_row(scale_a, across, in(top + g + t % 2 * 8, m));
    const uint8_t *y[kGroups], *sb[kGroups];
    for (int group = 0; group < kGroups; group++) {
        const size_t row = in(left + group * 8 + g, n);
        y[group] = b + row * k + t * 4;
        sb[group] = scale_row(scale_b, across, row);
    }
    float sum[kGroups][4] = {};
    for (size_t block = 0; block < blocks; block++) {
        const size_t x = block * 32, s = scale_column(block);
        const unsigned u[4] = {four(low + x), four(high + x), four(low + x + 16), four(high + x + 16)};
        for (int group = 0; group < kGroups; group++) {
            mma(sum[group], u, four(y[group] + x), four(y[group] + x + 16), sa[s], sb[group][s]);
        }
    }
    for (int group = 0; group < kGroups; group++) {
        for (int i = 0; i < 4; i++) {
            const size_t row = top + g + i / 2 * 8, column = left + group * 8 + t * 2 + i % 2;
            if (row < m && column < n) c[row * n + column] = sum[group][i];
        }
    }
}

extern "C" void solution(const uint8_t* q_a, const uint8_t* scale_a, const uint8_t* q_b,
                         const uint8_t* scale_b, float* c, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned((n + kGroups * 8 - 1) / (kGroups * 8)), unsigned((m + 63) / 64));
    multiply<<<grid, 128>>>(q_a, scale_a, q_b, scale_b, c, m, n, k);
}
