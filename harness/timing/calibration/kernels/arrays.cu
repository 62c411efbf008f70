// What a kernel keeps beside its registers: local arrays indexed at run time, spills, shared memory,
// tables in constant memory.

#include "driver.cuh"

__constant__ float constant_table[256] = {1, 2, 3, 4, 5, 6, 7, 8};

// An array of N words that lives in local memory, since its index comes from data; all of it is
// written, then READS words are read.
template <int N, int READS> __global__ void local_array(const uint32_t* in, uint32_t* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t a[N];
#pragma unroll
    for (int i = 0; i < N; i++) a[i] = in[thread] * (2 * i + 1);
    uint32_t at = in[thread] >> 7, sum = 0;
#pragma unroll
    for (int i = 0; i < READS; i++) sum += a[(at >> i) % N];
    out[thread] = sum;
}

// The same, with one index for the whole warp.
template <int N, int READS> __global__ void local_uniform(const uint32_t* in, uint32_t* out, uint32_t seed) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t a[N];
#pragma unroll
    for (int i = 0; i < N; i++) a[i] = in[thread] * (2 * i + 1);
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < READS; i++) sum += a[(seed >> i) % N];
    out[thread] = sum;
}

// A histogram of N counters in local memory.
template <int N> __global__ void local_histogram(const uint32_t* in, uint32_t* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t a[N] = {};
    for (int i = 0; i < 16; i++) {
        const uint32_t v = in[thread + i * gridDim.x * blockDim.x];
        for (int j = 0; j < 4; j++) a[(v >> 8 * j) % N]++;
    }
    uint32_t most = 0;
    for (int i = 0; i < N; i++) most = max(most, a[i] * N + i);
    out[thread] = most;
}

// N values alive at the same time, in fewer registers than that.
template <int N, int REGISTERS> __global__ void __maxnreg__(REGISTERS) spilling(const float* in, float* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned step = gridDim.x * blockDim.x;
    float v[N];
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = in[thread + i * step];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < N; i++) sum += v[i];
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = v[i] * sum + 1.0f;
    float product = 1;
#pragma unroll
    for (int i = 0; i < N; i++) product = product * v[i] + sum;
    out[thread] = product;
}

// STRIDE words between lanes, W words each.
template <int STRIDE, int W> __global__ void banks(const uint32_t* in, uint32_t* out, int rounds) {
    __shared__ __align__(16) uint32_t tile[8192];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) tile[i] = i * 2654435761u;
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    unsigned at = lane * STRIDE + threadIdx.x / 32 * W;
    uint32_t sum = 0;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int u = 0; u < 8; u++) {
            const unsigned place = (at + u * 64) % 8192 / W * W;
            if constexpr (W == 1) sum += tile[place];
            if constexpr (W == 2) { const uint2 v = *(const uint2*)(tile + place); sum += v.x + v.y; }
            if constexpr (W == 4) { const uint4 v = *(const uint4*)(tile + place); sum += v.x + v.y + v.z + v.w; }
        }
        at += 1024 + (sum & 0);
    }
    if (sum == 0x12345678) out[0] = sum;
}

// Each thread reads its own row of 32 words, one by one in the source: the compiler joins four.
template <int PITCH> __global__ void rows(const uint32_t* in, uint32_t* out) {
    extern __shared__ __align__(16) uint32_t tile[];
    const unsigned base = blockIdx.x * blockDim.x * 32;
    for (unsigned i = threadIdx.x; i < blockDim.x * 32; i += blockDim.x) tile[i / 32 * PITCH + i % 32] = in[base + i];
    __syncthreads();
    uint32_t most = 0;
    const uint32_t* row = tile + threadIdx.x * PITCH;
#pragma unroll
    for (int i = 0; i < 32; i++) most = max(most, row[i]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = most;
}

template <int PAD> __global__ void transpose(const float* in, float* out, unsigned n) {
    __shared__ float tile[32][32 + PAD];
    const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[size_t(y + j) * n + x];
    __syncthreads();
    const unsigned u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8) out[size_t(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_naive(const float* in, float* out, unsigned n) {
    const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[size_t(x) * n + y] = in[size_t(y) * n + x];
}

// A table of 256 floats, of which a warp's lanes ask for DIFFERENT ones at a time.
enum class In { Constant, Global, Shared };
template <In WHERE, int DIFFERENT> __global__ void table(const uint32_t* in, float* out, const float* global) {
    __shared__ float shared[256];
    if (WHERE == In::Shared) {
        for (int i = threadIdx.x; i < 256; i += blockDim.x) shared[i] = global[i];
        __syncthreads();
    }
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t v = in[thread];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const unsigned base = DIFFERENT == 1 ? 0 : DIFFERENT >= 32 ? v >> 3 * i : thread % DIFFERENT * 7;
        const unsigned at = (base + i * 16) % (DIFFERENT == 33 ? 16 : 256);
        sum += WHERE == In::Constant ? constant_table[at] : WHERE == In::Shared ? shared[at] : __ldg(global + at);
    }
    out[thread] = sum;
}

std::vector<Call> calls() {
    std::vector<Call> all;
    const unsigned many = 1 << 21;
#define LOCAL(N, R)                                                                                \
    all.push_back({"local_array/" #N " " #R, [](const Memory& m) {                                 \
        local_array<N, R><<<many / 256, 256>>>(m.from<uint32_t>(), m.to<uint32_t>()); }})
    LOCAL(8, 4); LOCAL(16, 8); LOCAL(16, 32); LOCAL(32, 8); LOCAL(32, 32); LOCAL(64, 32);
#define UNIFORM(N, R)                                                                              \
    all.push_back({"local_array/uniform " #N " " #R, [](const Memory& m) {                         \
        local_uniform<N, R><<<many / 256, 256>>>(m.from<uint32_t>(), m.to<uint32_t>(), 12345); }})
    UNIFORM(16, 8); UNIFORM(32, 16); UNIFORM(64, 32);
#define HISTOGRAM(N)                                                                               \
    all.push_back({"local_array/histogram " #N, [](const Memory& m) {                              \
        local_histogram<N><<<2048, 128>>>(m.from<uint32_t>(), m.to<uint32_t>()); }})
    HISTOGRAM(8); HISTOGRAM(16); HISTOGRAM(64);
#define SPILL(N, R)                                                                                \
    all.push_back({"spilling/" #N " in " #R, [](const Memory& m) {                                 \
        spilling<N, R><<<1024, 256>>>(m.from<float>(), m.to<float>()); }})
    SPILL(16, 24); SPILL(32, 24); SPILL(32, 32); SPILL(32, 64); SPILL(64, 32); SPILL(64, 64);
    SPILL(64, 128); SPILL(96, 32);
#define BANKS(S, W)                                                                                \
    all.push_back({"banks/" #S " words " #W, [](const Memory& m) {                                 \
        banks<S, W><<<264, 512>>>(m.from<uint32_t>(), m.to<uint32_t>(), 64); }})
    BANKS(1, 1); BANKS(2, 1); BANKS(4, 1); BANKS(8, 1); BANKS(16, 1); BANKS(32, 1); BANKS(33, 1);
    BANKS(2, 2); BANKS(4, 2); BANKS(16, 2); BANKS(32, 2); BANKS(4, 4); BANKS(8, 4); BANKS(16, 4);
    BANKS(32, 4); BANKS(36, 4);
#define ROWS(P)                                                                                    \
    all.push_back({"rows/pitch " #P, [](const Memory& m) {                                         \
        rows<P><<<4096, 128, 128 * P * 4>>>(m.from<uint32_t>(), m.to<uint32_t>()); }})
    ROWS(32); ROWS(33); ROWS(36);
#define TRANSPOSE(PAD, N)                                                                          \
    all.push_back({"transpose/pad " #PAD " " #N, [](const Memory& m) {                             \
        transpose<PAD><<<dim3(N / 32, N / 32), dim3(32, 8)>>>(m.from<float>(), m.to<float>(), N); }})
    TRANSPOSE(0, 1024); TRANSPOSE(1, 1024); TRANSPOSE(0, 4096); TRANSPOSE(1, 4096);
    all.push_back({"transpose/naive 2048", [](const Memory& m) {
        transpose_naive<<<dim3(64, 256), dim3(32, 8)>>>(m.from<float>(), m.to<float>(), 2048); }});
#define TABLE(W, D)                                                                                \
    all.push_back({"table/" #W " " #D, [](const Memory& m) {                                       \
        table<In::W, D><<<many / 256, 256>>>(m.from<uint32_t>(), m.to<float>(), m.from<float>()); }})
    TABLE(Constant, 1); TABLE(Constant, 2); TABLE(Constant, 4); TABLE(Constant, 8); TABLE(Constant, 16);
    TABLE(Constant, 32); TABLE(Constant, 33); TABLE(Global, 1); TABLE(Global, 8); TABLE(Global, 32);
    TABLE(Global, 33); TABLE(Shared, 1); TABLE(Shared, 8); TABLE(Shared, 32); TABLE(Shared, 33);
    return all;
}
