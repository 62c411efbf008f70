// Loads, stores and copies: widths, strides, how many are under way, how much there is.

#include "driver.cuh"

template <class T> __device__ uint32_t fold(T v) {
    const uint32_t* w = reinterpret_cast<const uint32_t*>(&v);
    uint32_t sum = 0;
    if constexpr (sizeof(T) < 4) return uint32_t(v);
    else
        for (unsigned i = 0; i < sizeof(T) / 4; i++) sum ^= w[i];
    return sum;
}

// U loads under way in each thread, a grid's width apart within the CTA.
template <class T, int U> __global__ void read(const T* in, uint32_t* out, size_t count) {
    const size_t first = blockIdx.x * size_t(blockDim.x) * U + threadIdx.x;
    T v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = in[min(first + u * blockDim.x, count - 1)];
    uint32_t sum = 0;
#pragma unroll
    for (int u = 0; u < U; u++) sum ^= fold(v[u]);
    if (sum == 0x12345678) out[0] = sum;
}

// Each thread reads S neighbouring words, one by one: a warp's lanes are S words apart.
template <int S> __global__ void strided_read(const uint32_t* in, uint32_t* out) {
    const size_t first = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * S;
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < S; i++) sum = max(sum, __ldg(in + first + i) * 3u ^ sum);
    if (sum == 0x12345678) out[0] = sum;
}

// As above, in 16-byte pieces.
template <int S> __global__ void strided_read_wide(const uint4* in, uint32_t* out) {
    const size_t first = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * S;
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < S; i++) sum = max(sum, fold(in[first + i]));
    if (sum == 0x12345678) out[0] = sum;
}

// Each thread writes S neighbouring elements; volatile, or they would be joined.
template <class T, int S> __global__ void strided_write(T* out) {
    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < S; i++) *(volatile T*)(out + thread * S + i) = T(thread + i);
}

template <int S> __global__ void strided_write_wide(uint4* out) {
    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < S; i++) out[thread * S + i] = make_uint4(thread, i, 1, 2);
}

template <class T> __global__ void copy(const T* in, T* out, size_t count) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count) out[i] = in[i];
}

template <class T, int U> __global__ void copy_loop(const T* in, T* out, size_t count) {
    const size_t step = gridDim.x * size_t(blockDim.x);
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    for (; i + (U - 1) * step < count; i += U * step) {
        T v[U];
#pragma unroll
        for (int u = 0; u < U; u++) v[u] = in[i + u * step];
#pragma unroll
        for (int u = 0; u < U; u++) out[i + u * step] = v[u];
    }
}

// C chains of dependent loads in each thread.
template <int C> __global__ void chase(const uint32_t* in, uint32_t* out, uint32_t words, int steps) {
    uint32_t at[C];
    for (int c = 0; c < C; c++)
        at[c] = (blockIdx.x * blockDim.x + threadIdx.x) * 977u * (c + 1) % words;
    for (int i = 0; i < steps; i++) {
#pragma unroll
        for (int c = 0; c < C; c++) at[c] = __ldg(in + at[c]) % words;
    }
    uint32_t sum = 0;
    for (int c = 0; c < C; c++) sum ^= at[c];
    if (sum == 0x12345678) out[0] = sum;
}

// Lanes read one word of a sector of 32 bytes, or line, at random.
__global__ void gather(const uint32_t* in, uint32_t* out, uint32_t words, int each) {
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
#pragma unroll 4
    for (int i = 0; i < each; i++) sum += __ldg(in + (thread * 2654435761u + i * 40503u * 977u) % words);
    if (sum == 0x12345678) out[0] = sum;
}

// Reads the same bytes again and again: L1 or L2 holds them.
template <int U> __global__ void again(const uint4* in, uint32_t* out, uint32_t pieces, int rounds) {
    uint32_t sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (uint32_t i = threadIdx.x; i < pieces; i += blockDim.x * U) {
#pragma unroll
            for (int u = 0; u < U; u++) sum ^= fold(in[(i + u * blockDim.x) % pieces]);
        }
    }
    if (sum == 0x12345678) out[0] = sum;
}

// Reads `pieces` from the start in every CTA, each beginning elsewhere: L2 holds them.
__global__ void shared_by_all(const uint4* in, uint32_t* out, uint32_t pieces, int each) {
    uint32_t sum = 0;
    uint32_t i = (blockIdx.x * 7919u * blockDim.x + threadIdx.x) % pieces;
#pragma unroll 8
    for (int r = 0; r < each; r++) {
        sum ^= fold(in[i]);
        i += blockDim.x;
        if (i >= pieces) i -= pieces;
    }
    if (sum == 0x12345678) out[0] = sum;
}

std::vector<Call> calls() {
    std::vector<Call> all;
    const size_t big = 64 * kMiB;
#define READ(T, U, BYTES)                                                                          \
    all.push_back({"read/" #T " x" #U " " #BYTES, [](const Memory& m) {                            \
        const size_t count = (BYTES) / sizeof(T);                                                  \
        read<T, U><<<ceil_div(count, 256 * U), 256>>>(m.from<T>(), m.to<uint32_t>(), count); }})
    READ(uint8_t, 1, 16 * kMiB); READ(uint8_t, 8, 16 * kMiB); READ(uint16_t, 1, 32 * kMiB);
    READ(uint16_t, 4, 32 * kMiB); READ(uint32_t, 1, 64 * kMiB); READ(uint32_t, 4, 64 * kMiB);
    READ(uint32_t, 16, 64 * kMiB); READ(uint2, 1, 64 * kMiB); READ(uint2, 4, 64 * kMiB);
    READ(uint4, 1, 64 * kMiB); READ(uint4, 2, 64 * kMiB); READ(uint4, 4, 64 * kMiB);
    READ(uint4, 8, 64 * kMiB); READ(uint4, 1, 4 * kMiB); READ(uint4, 4, 4 * kMiB);
    READ(uint4, 2, 16 * kMiB);
#define STRIDED(S)                                                                                 \
    all.push_back({"strided_read/" #S, [](const Memory& m) {                                       \
        strided_read<S><<<ceil_div(32 * kMiB / 4 / S, 256), 256>>>(m.from<uint32_t>(),             \
                                                                  m.to<uint32_t>()); }})
    STRIDED(2); STRIDED(3); STRIDED(4); STRIDED(8); STRIDED(9); STRIDED(16); STRIDED(32); STRIDED(64);
#define STRIDED_WIDE(S)                                                                            \
    all.push_back({"strided_read/wide " #S, [](const Memory& m) {                                  \
        strided_read_wide<S><<<ceil_div(64 * kMiB / 16 / S, 256), 256>>>(m.from<uint4>(),          \
                                                                        m.to<uint32_t>()); }})
    STRIDED_WIDE(2); STRIDED_WIDE(4); STRIDED_WIDE(8); STRIDED_WIDE(16);
#define WRITE(T, S)                                                                                \
    all.push_back({"strided_write/" #T " " #S, [](const Memory& m) {                               \
        strided_write<T, S><<<ceil_div(16 * kMiB / sizeof(T) / S, 256), 256>>>(m.to<T>()); }})
    WRITE(uint8_t, 1); WRITE(uint8_t, 8); WRITE(uint8_t, 16); WRITE(uint16_t, 1); WRITE(uint16_t, 8);
    WRITE(uint32_t, 1); WRITE(uint32_t, 2); WRITE(uint32_t, 4); WRITE(uint32_t, 8);
    WRITE(uint32_t, 32); WRITE(uint64_t, 1); WRITE(uint64_t, 4);
#define WRITE_WIDE(S)                                                                              \
    all.push_back({"strided_write/wide " #S, [](const Memory& m) {                                 \
        strided_write_wide<S><<<ceil_div(64 * kMiB / 16 / S, 256), 256>>>(m.to<uint4>()); }})
    WRITE_WIDE(1); WRITE_WIDE(2); WRITE_WIDE(4); WRITE_WIDE(8);
    for (size_t mebi : {1, 4, 16, 64}) {
        all.push_back({"copy/uint4 " + std::to_string(mebi), [=](const Memory& m) {
            const size_t count = mebi * kMiB / 16;
            copy<<<ceil_div(count, 256), 256>>>(m.from<uint4>(), m.to<uint4>(), count); }});
        all.push_back({"copy/float " + std::to_string(mebi), [=](const Memory& m) {
            const size_t count = mebi * kMiB / 4;
            copy<<<ceil_div(count, 256), 256>>>(m.from<float>(), m.to<float>(), count); }});
    }
    for (unsigned threads : {32, 64, 128, 512, 1024})
        all.push_back({"copy/threads " + std::to_string(threads), [=](const Memory& m) {
            const size_t count = big / 2 / 16;
            copy<<<ceil_div(count, threads), threads>>>(m.from<uint4>(), m.to<uint4>(), count); }});
    for (unsigned ctas : {66, 132, 264, 528, 1056})
        all.push_back({"copy_loop/ctas " + std::to_string(ctas), [=](const Memory& m) {
            copy_loop<uint4, 4><<<ctas, 256>>>(m.from<uint4>(), m.to<uint4>(), big / 2 / 16); }});
    all.push_back({"copy_loop/one load", [=](const Memory& m) {
        copy_loop<uint4, 1><<<264, 512>>>(m.from<uint4>(), m.to<uint4>(), big / 2 / 16); }});
    all.push_back({"copy_loop/eight loads", [=](const Memory& m) {
        copy_loop<uint4, 8><<<264, 512>>>(m.from<uint4>(), m.to<uint4>(), big / 2 / 16); }});
#define CHASE(C, CTAS, THREADS, WORDS)                                                             \
    all.push_back({"chase/" #C " " #CTAS " " #THREADS " " #WORDS, [](const Memory& m) {            \
        chase<C><<<CTAS, THREADS>>>(m.from<uint32_t>(), m.to<uint32_t>(), WORDS, 32); }})
    CHASE(1, 132, 32, 32 << 20); CHASE(1, 528, 256, 32 << 20); CHASE(2, 132, 256, 32 << 20);
    CHASE(4, 132, 256, 32 << 20); CHASE(8, 132, 32, 32 << 20); CHASE(1, 132, 256, 1 << 20);
    CHASE(4, 132, 256, 1 << 20); CHASE(1, 132, 32, 4096);
    for (unsigned words : {1u << 25, 1u << 22, 1u << 18, 1u << 12})
        all.push_back({"gather/" + std::to_string(words), [=](const Memory& m) {
            gather<<<1024, 256>>>(m.from<uint32_t>(), m.to<uint32_t>(), words, 16); }});
    for (unsigned kibi : {16, 64, 128, 512})
        all.push_back({"again/KiB " + std::to_string(kibi), [=](const Memory& m) {
            again<4><<<132, 1024>>>(m.from<uint4>(), m.to<uint32_t>(), kibi * 64, 64); }});
    for (unsigned mebi : {1, 4, 16, 32})
        all.push_back({"shared_by_all/MiB " + std::to_string(mebi), [=](const Memory& m) {
            shared_by_all<<<528, 512>>>(m.from<uint4>(), m.to<uint32_t>(), mebi * 65536, 64); }});
    return all;
}
