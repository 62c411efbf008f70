// Tensor cores through mma.sync and wmma, and what feeds them.

#include <mma.h>

#include "driver.cuh"

__device__ __forceinline__ void mma_half(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void mma_half_8(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
__device__ __forceinline__ void mma_fp8(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

enum class Shape { Half, Half8, Fp8, Tf32 };
template <Shape S, int CHAINS> __global__ void multiply(const uint32_t* in, float* out, int steps) {
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; i++) a[i] = in[threadIdx.x * 4 + i] & 0x3fff3fff;
    for (int i = 0; i < 2; i++) b[i] = in[threadIdx.x * 2 + i] & 0x3fff3fff;
    float d[CHAINS][4] = {};
    for (int s = 0; s < steps; s++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++) {
            if constexpr (S == Shape::Half) mma_half(d[c], a, b);
            if constexpr (S == Shape::Half8) mma_half_8(d[c], a, b);
            if constexpr (S == Shape::Fp8) mma_fp8(d[c], a, b);
            if constexpr (S == Shape::Tf32) mma_tf32(d[c], a, b);
        }
    float sum = 0;
    for (int c = 0; c < CHAINS; c++) sum += d[c][0] + d[c][1] + d[c][2] + d[c][3];
    if (sum == 0.12345f) out[0] = sum;
}

// C = A B with 16-bit inputs: 64 x 64 tiles of wmma, staged in shared memory or not.
template <bool STAGED> __global__ void gemm(const __half* a, const __half* b, float* c, int n) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half as[64][24], bs[16][72];
    const int warp = threadIdx.x / 32, row = blockIdx.y * 64 + warp * 16, column = blockIdx.x * 64;
    fragment<accumulator, 16, 16, 16, float> sum[4];
    for (auto& s : sum) fill_fragment(s, 0.0f);
    for (int k = 0; k < n; k += 16) {
        fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
        fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
        if (STAGED) {
            __syncthreads();
            for (int i = threadIdx.x; i < 64 * 2; i += 128)
                *(uint4*)&as[i / 2][i % 2 * 8] = *(const uint4*)(a + size_t(blockIdx.y * 64 + i / 2) * n + k + i % 2 * 8);
            for (int i = threadIdx.x; i < 16 * 8; i += 128)
                *(uint4*)&bs[i / 8][i % 8 * 8] = *(const uint4*)(b + size_t(k + i / 8) * n + column + i % 8 * 8);
            __syncthreads();
            load_matrix_sync(fa, &as[warp * 16][0], 24);
        } else {
            load_matrix_sync(fa, a + size_t(row) * n + k, n);
        }
        for (int j = 0; j < 4; j++) {
            if (STAGED) load_matrix_sync(fb, &bs[0][j * 16], 72);
            else load_matrix_sync(fb, b + size_t(k) * n + column + j * 16, n);
            mma_sync(sum[j], fa, fb, sum[j]);
        }
    }
    for (int j = 0; j < 4; j++) store_matrix_sync(c + size_t(row) * n + column + j * 16, sum[j], n, mem_row_major);
}

// C = A B with floats, a thread for each element or 4 x 4 of them.
__global__ void gemm_naive(const float* a, const float* b, float* c, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[size_t(y) * n + k] * b[size_t(k) * n + x];
    c[size_t(y) * n + x] = sum;
}

template <int M> __global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
    constexpr int T = 16 * M;
    __shared__ float as[16][T + 1], bs[16][T];
    float sum[M][M] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < M; i++) as[threadIdx.x][threadIdx.y + 16 * i] = a[size_t(blockIdx.y * T + threadIdx.y + 16 * i) * n + k + threadIdx.x];
        for (int i = 0; i < M; i++) bs[threadIdx.y][threadIdx.x + 16 * i] = b[size_t(k + threadIdx.y) * n + blockIdx.x * T + threadIdx.x + 16 * i];
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 16; q++)
#pragma unroll
            for (int i = 0; i < M; i++)
#pragma unroll
                for (int j = 0; j < M; j++) sum[i][j] += as[q][threadIdx.y + 16 * i] * bs[q][threadIdx.x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            c[size_t(blockIdx.y * T + threadIdx.y + 16 * i) * n + blockIdx.x * T + threadIdx.x + 16 * j] = sum[i][j];
}

// STAGES tiles of 4 KiB under way to shared memory, BYTES a lane.
template <int STAGES, int BYTES> __global__ void staged(const uint8_t* in, uint32_t* out, int tiles) {
    __shared__ __align__(16) uint8_t tile[STAGES][4096];
    const uint8_t* mine = in + size_t(blockIdx.x) * tiles * 4096;
    auto fetch = [&](int t) {
        if (t < tiles)
            for (int i = threadIdx.x * BYTES; i < 4096; i += blockDim.x * BYTES) {
                const uint32_t to = uint32_t(__cvta_generic_to_shared(&tile[t % STAGES][i]));
                if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(mine + t * 4096 + i) : "memory");
                else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(mine + t * 4096 + i), "n"(BYTES) : "memory");
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int s = 0; s < STAGES - 1; s++) fetch(s);
    uint32_t sum = 0;
    for (int t = 0; t < tiles; t++) {
        fetch(t + STAGES - 1);
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) sum ^= reinterpret_cast<uint32_t*>(tile[t % STAGES])[i];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The same without cp.async: registers in between.
__global__ void staged_by_registers(const uint4* in, uint32_t* out, int tiles) {
    __shared__ __align__(16) uint4 tile[256];
    const uint4* mine = in + size_t(blockIdx.x) * tiles * 256;
    uint32_t sum = 0;
    for (int t = 0; t < tiles; t++) {
        tile[threadIdx.x] = mine[t * 256 + threadIdx.x];
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) sum ^= reinterpret_cast<uint32_t*>(tile)[i];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

std::vector<Call> calls() {
    std::vector<Call> all;
#define MULTIPLY(S, C, THREADS, CTAS, STEPS)                                                       \
    all.push_back({"multiply/" #S " x" #C " " #THREADS, [](const Memory& m) {                      \
        multiply<Shape::S, C><<<CTAS, THREADS>>>(m.from<uint32_t>(), m.to<float>(), STEPS); }})
    MULTIPLY(Half, 1, 32, 132, 1024); MULTIPLY(Half, 1, 128, 132, 1024); MULTIPLY(Half, 4, 128, 132, 512);
    MULTIPLY(Half, 8, 128, 264, 256); MULTIPLY(Half, 4, 256, 528, 128); MULTIPLY(Half8, 1, 32, 132, 1024);
    MULTIPLY(Half8, 4, 256, 528, 128); MULTIPLY(Fp8, 1, 32, 132, 512); MULTIPLY(Fp8, 4, 256, 528, 64);
    MULTIPLY(Tf32, 1, 32, 132, 512); MULTIPLY(Tf32, 4, 256, 528, 64);
    for (int n : {512, 1024}) {
        const unsigned tiles = n / 64;
        all.push_back({"gemm/half " + std::to_string(n), [=](const Memory& m) {
            gemm<false><<<dim3(tiles, tiles), 128>>>(m.from<__half>(), m.from<__half>(kMiB * 8), m.to<float>(), n); }});
        all.push_back({"gemm/half staged " + std::to_string(n), [=](const Memory& m) {
            gemm<true><<<dim3(tiles, tiles), 128>>>(m.from<__half>(), m.from<__half>(kMiB * 8), m.to<float>(), n); }});
        all.push_back({"gemm/naive " + std::to_string(n), [=](const Memory& m) {
            gemm_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(m.from<float>(), m.from<float>(kMiB * 8), m.to<float>(), n); }});
        all.push_back({"gemm/tiled 1 " + std::to_string(n), [=](const Memory& m) {
            gemm_tiled<1><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(m.from<float>(), m.from<float>(kMiB * 8), m.to<float>(), n); }});
        all.push_back({"gemm/tiled 4 " + std::to_string(n), [=](const Memory& m) {
            gemm_tiled<4><<<dim3(n / 64, n / 64), dim3(16, 16)>>>(m.from<float>(), m.from<float>(kMiB * 8), m.to<float>(), n); }});
    }
#define STAGED(S, B, THREADS, CTAS)                                                                \
    all.push_back({"staged/" #S " of " #B " " #THREADS " x " #CTAS, [](const Memory& m) {          \
        staged<S, B><<<CTAS, THREADS>>>(m.in, m.to<uint32_t>(), 32 * 528 / CTAS); }})
    STAGED(1, 16, 128, 528); STAGED(2, 16, 128, 528); STAGED(4, 16, 128, 528); STAGED(2, 4, 128, 528);
    STAGED(4, 4, 256, 528); STAGED(4, 16, 256, 132); STAGED(8, 16, 256, 132); STAGED(2, 16, 256, 132);
    for (unsigned ctas : {132u, 528u, 2112u})
        all.push_back({"staged/registers " + std::to_string(ctas), [=](const Memory& m) {
            staged_by_registers<<<ctas, 256>>>(m.from<uint4>(), m.to<uint32_t>(), 32 * 528 / ctas); }});
    return all;
}
