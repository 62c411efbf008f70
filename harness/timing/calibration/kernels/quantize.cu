// Quantizers to MXFP4 and NVFP4 as people write them: who takes a block, how it is read, how a code is
// found, how it is stored.

#include "driver.cuh"

__constant__ float midpoints[8] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f, 1e30f};
__constant__ float values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

enum class By { Compare, Nearest, Table, Local, Bits, Branches };

template <By BY> __device__ unsigned encode(float x) {
    const float y = fabsf(x);
    const unsigned sign = __float_as_uint(x) >> 31 << 3;
    if constexpr (BY == By::Compare) {
        return sign | ((y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f) + (y >= 3.5f) + (y > 5.0f));
    } else if constexpr (BY == By::Nearest) {
        // The nearest of eight by trying all.
        const float grid[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
        unsigned best = 0;
        float least = y;
        for (int i = 1; i < 8; i++) {
            const float d = fabsf(y - grid[i]);
            if (d < least || (d == least && i % 2 == 0)) least = d, best = i;
        }
        return sign | best;
    } else if constexpr (BY == By::Table) {
        unsigned code = 0;
        while (code < 7 && y > midpoints[code]) code++;
        return sign | code;
    } else if constexpr (BY == By::Local) {
        const unsigned index = min(unsigned(y * 4.0f), 31u);
        unsigned char near[32];
#pragma unroll
        for (int i = 0; i < 32; i++) near[i] = (i > 1) + (i > 2) + (i > 5) + (i > 6) + (i > 10) + (i > 13) + (i > 20) + (y > 100.0f);
        return sign | near[index];
    } else if constexpr (BY == By::Bits) {
        // Adds half of the last place and shifts, as a float's bits allow; below 1 by the adder.
        const unsigned small = __float_as_uint(y + 4194304.0f) & 3;
        const unsigned bits = __float_as_uint(fminf(y, 6.0f));
        const unsigned large = (bits + 0x1fffffu + (bits >> 22 & 1) - 0x3f000000u) >> 22;
        return sign | (y < 1.0f ? small : min(large, 7u));
    } else {
        if (y <= 0.25f) return sign;
        if (y < 0.75f) return sign | 1;
        if (y <= 1.25f) return sign | 2;
        if (y < 1.75f) return sign | 3;
        if (y <= 2.5f) return sign | 4;
        if (y < 3.5f) return sign | 5;
        return sign | (y <= 5.0f ? 6 : 7);
    }
}

__device__ unsigned scale_of(unsigned amax) { return amax > 0x7f800000u ? 255 : max(amax >> 23, 2u) - 2; }
__device__ float reciprocal(unsigned scale) { return __uint_as_float((254 - min(max(scale, 1u), 253u)) << 23); }

// A thread for a block of 32: W floats a load, and what it stores at a time.
template <By BY, int W, class Store, class Index> __global__ void thread_per_block(const float* a, uint8_t* q, uint8_t* scale, Index blocks) {
    const Index block = blockIdx.x * Index(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;
    float x[32];
#pragma unroll
    for (int i = 0; i < 32; i += W) {
        if constexpr (W == 4) *reinterpret_cast<float4*>(x + i) = *reinterpret_cast<const float4*>(a + block * 32 + i);
        else if constexpr (W == 2) *reinterpret_cast<float2*>(x + i) = *reinterpret_cast<const float2*>(a + block * 32 + i);
        else x[i] = a[block * 32 + i];
    }
    unsigned amax = 0;
#pragma unroll
    for (int i = 0; i < 32; i++) amax = max(amax, __float_as_uint(x[i]) & 0x7fffffffu);
    const unsigned byte = scale_of(amax);
    const float inverse = reciprocal(byte);
    scale[block] = byte;
    constexpr int S = sizeof(Store);
#pragma unroll
    for (int i = 0; i < 16; i += S) {
        union { Store all; uint8_t bytes[S]; } codes;
#pragma unroll
        for (int j = 0; j < S; j++)
            codes.bytes[j] = encode<BY>(x[2 * (i + j)] * inverse) | encode<BY>(x[2 * (i + j) + 1] * inverse) << 4;
        *reinterpret_cast<Store*>(q + block * 16 + i) = codes.all;
    }
}

// The same in loops that nobody unrolls, with the block in a local array and true divisions.
__global__ void rolled(const float* a, uint8_t* q, uint8_t* scale, size_t blocks) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= blocks) return;
    float x[32];
    float amax = 0;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        x[i] = a[block * 32 + i];
        amax = fmaxf(amax, fabsf(x[i]));
    }
    const int exponent = amax > 0 ? int(floorf(log2f(amax))) - 2 : -127;
    scale[block] = uint8_t(exponent + 127);
    const float divisor = exp2f(float(exponent));
#pragma unroll 1
    for (int i = 0; i < 16; i++)
        q[block * 16 + i] = encode<By::Compare>(x[2 * i] / divisor) | encode<By::Compare>(x[2 * i + 1] / divisor) << 4;
}

// L lanes for a block, 32 / L elements each.
template <By BY, int L, bool LOOP> __global__ void lanes(const float* a, uint8_t* q, uint8_t* scale, size_t parts) {
    constexpr int N = 32 / L;
    const size_t step = gridDim.x * size_t(blockDim.x);
    for (size_t t = blockIdx.x * size_t(blockDim.x) + threadIdx.x; t < parts; t += step) {
        float x[N];
        if constexpr (N >= 4) {
#pragma unroll
            for (int i = 0; i < N; i += 4) *reinterpret_cast<float4*>(x + i) = *reinterpret_cast<const float4*>(a + t * N + i);
        } else if constexpr (N == 2) *reinterpret_cast<float2*>(x) = *reinterpret_cast<const float2*>(a + t * 2);
        else x[0] = a[t];
        unsigned amax = 0;
#pragma unroll
        for (int i = 0; i < N; i++) amax = max(amax, __float_as_uint(x[i]) & 0x7fffffffu);
#pragma unroll
        for (int d = 1; d < L; d *= 2) amax = max(amax, __shfl_xor_sync(0xffffffffu, amax, d));
        const unsigned byte = scale_of(amax);
        const float inverse = reciprocal(byte);
        uint32_t codes[(N + 7) / 8] = {};
#pragma unroll
        for (int i = 0; i < N; i++) codes[i / 8] |= encode<BY>(x[i] * inverse) << 4 * (i % 8);
        if constexpr (N == 1) {
            const uint32_t next = __shfl_down_sync(0xffffffffu, codes[0], 1);
            if (t % 2 == 0) q[t / 2] = codes[0] | next << 4;
        } else if constexpr (N == 2) q[t] = codes[0];
        else if constexpr (N == 4) reinterpret_cast<uint16_t*>(q)[t] = codes[0];
        else {
#pragma unroll
            for (int i = 0; i < N / 8; i++) reinterpret_cast<uint32_t*>(q)[t * (N / 8) + i] = codes[i];
        }
        if (t % L == 0) scale[t / L] = byte;
        if (!LOOP) break;
    }
}

// Staged in shared memory: a CTA brings 256 blocks, then a thread takes one, in rows of PITCH words.
template <int PITCH, int T> __global__ void staged(const float* a, uint8_t* q, uint8_t* scale) {
    extern __shared__ float tile[];
    const size_t first = blockIdx.x * size_t(T) * 32;
#pragma unroll 8
    for (int i = threadIdx.x; i < T * 32; i += T) tile[i / 32 * PITCH + i % 32] = a[first + i];
    __syncthreads();
    const float* x = tile + threadIdx.x * PITCH;
    unsigned amax = 0;
    for (int i = 0; i < 32; i++) amax = max(amax, __float_as_uint(x[i]) & 0x7fffffffu);
    const unsigned byte = scale_of(amax);
    const float inverse = reciprocal(byte);
    const size_t block = blockIdx.x * size_t(T) + threadIdx.x;
    scale[block] = byte;
    for (int i = 0; i < 16; i++)
        q[block * 16 + i] = encode<By::Compare>(x[2 * i] * inverse) | encode<By::Compare>(x[2 * i + 1] * inverse) << 4;
}

// A CTA for each block, agreeing through shared memory; or a warp, through an atomic there.
__global__ void cta_per_block(const float* a, uint8_t* q, uint8_t* scale) {
    __shared__ float tile[32];
    __shared__ uint8_t codes[32];
    const float x = a[blockIdx.x * size_t(32) + threadIdx.x];
    tile[threadIdx.x] = fabsf(x);
    __syncthreads();
    for (int half = 16; half > 0; half /= 2) {
        if (threadIdx.x < half) tile[threadIdx.x] = fmaxf(tile[threadIdx.x], tile[threadIdx.x + half]);
        __syncthreads();
    }
    const unsigned byte = scale_of(__float_as_uint(tile[0]));
    codes[threadIdx.x] = encode<By::Compare>(x * reciprocal(byte));
    __syncthreads();
    if (threadIdx.x < 16) q[blockIdx.x * size_t(16) + threadIdx.x] = codes[2 * threadIdx.x] | codes[2 * threadIdx.x + 1] << 4;
    if (threadIdx.x == 0) scale[blockIdx.x] = byte;
}

__global__ void shared_atomics(const float* a, uint8_t* q, uint8_t* scale) {
    __shared__ unsigned amax[8];
    const size_t t = blockIdx.x * size_t(256) + threadIdx.x;
    if (threadIdx.x < 8) amax[threadIdx.x] = 0;
    __syncthreads();
    const float x = a[t];
    atomicMax(&amax[threadIdx.x / 32], __float_as_uint(x) & 0x7fffffffu);
    __syncthreads();
    const unsigned byte = scale_of(amax[threadIdx.x / 32]);
    const unsigned code = encode<By::Compare>(x * reciprocal(byte));
    const unsigned next = __shfl_down_sync(0xffffffffu, code, 1);
    if (t % 2 == 0) q[t / 2] = code | next << 4;
    if (t % 32 == 0) scale[t / 32] = byte;
}

// Two passes: scales first, codes by another launch.
__global__ void scales_only(const float4* a, uint8_t* scale) {
    const size_t t = blockIdx.x * size_t(256) + threadIdx.x;
    const float4 x = a[t];
    float amax = fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w)));
    for (int d = 1; d < 8; d *= 2) amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, d));
    if (t % 8 == 0) scale[t / 8] = scale_of(__float_as_uint(amax));
}
__global__ void codes_only(const float4* a, uint16_t* q, const uint8_t* scale) {
    const size_t t = blockIdx.x * size_t(256) + threadIdx.x;
    const float4 x = a[t];
    const float inverse = reciprocal(scale[t / 8]);
    q[t] = encode<By::Compare>(x.x * inverse) | encode<By::Compare>(x.y * inverse) << 4 | encode<By::Compare>(x.z * inverse) << 8 | encode<By::Compare>(x.w * inverse) << 12;
}

// NVFP4: blocks of 16 halves, scales in tiles of 128 x 4.
__device__ size_t swizzled(size_t row, size_t column, size_t columns) {
    return (row / 128 * ((columns + 3) / 4) + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

template <By BY, bool WIDE, bool SWIZZLED> __global__ void nv_thread(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m, size_t columns) {
    const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (block >= m * columns) return;
    __half x[16];
    if (WIDE) {
        reinterpret_cast<uint4*>(x)[0] = reinterpret_cast<const uint4*>(a + block * 16)[0];
        reinterpret_cast<uint4*>(x)[1] = reinterpret_cast<const uint4*>(a + block * 16)[1];
    } else {
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = a[block * 16 + i];
    }
    float amax = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) amax = fmaxf(amax, fabsf(__half2float(x[i])));
    const __nv_fp8_e4m3 byte(sf_g * (amax * (1.0f / 6.0f)));
    const float stored = float(byte), factor = stored == 0.0f ? 0.0f : sf_g / stored;
    scale[SWIZZLED ? swizzled(block / columns, block % columns, columns) : block] = byte.__x;
    uint32_t codes[2] = {};
#pragma unroll
    for (int i = 0; i < 16; i++) codes[i / 8] |= encode<BY>(__half2float(x[i]) * factor) << 4 * (i % 8);
    if (WIDE) *reinterpret_cast<uint2*>(q + block * 8) = make_uint2(codes[0], codes[1]);
    else
#pragma unroll
        for (int i = 0; i < 8; i++) q[block * 8 + i] = codes[i / 4] >> 8 * (i % 4);
}

template <By BY, int L> __global__ void nv_lanes(const __half* a, float sf_g, uint8_t* q, uint8_t* scale, size_t m, size_t columns) {
    constexpr int N = 16 / L;
    const size_t t = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (t >= m * columns * L) return;
    __half x[N];
    if constexpr (N == 8) *reinterpret_cast<uint4*>(x) = *reinterpret_cast<const uint4*>(a + t * N);
    else if constexpr (N == 4) *reinterpret_cast<uint2*>(x) = *reinterpret_cast<const uint2*>(a + t * N);
    else x[0] = a[t];
    float amax = 0;
#pragma unroll
    for (int i = 0; i < N; i++) amax = fmaxf(amax, fabsf(__half2float(x[i])));
#pragma unroll
    for (int d = 1; d < L; d *= 2) amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, d));
    const __nv_fp8_e4m3 byte(sf_g * (amax * (1.0f / 6.0f)));
    const float stored = float(byte), factor = stored == 0.0f ? 0.0f : sf_g / stored;
    const size_t block = t / L;
    if (t % L == 0) scale[swizzled(block / columns, block % columns, columns)] = byte.__x;
    uint32_t codes = 0;
#pragma unroll
    for (int i = 0; i < N; i++) codes |= encode<BY>(__half2float(x[i]) * factor) << 4 * i;
    if constexpr (N == 8) reinterpret_cast<uint32_t*>(q)[t] = codes;
    else if constexpr (N == 4) reinterpret_cast<uint16_t*>(q)[t] = codes;
    else {
        const uint32_t next = __shfl_down_sync(0xffffffffu, codes, 1);
        if (t % 2 == 0) q[t / 2] = codes | next << 4;
    }
}

std::vector<Call> calls() {
    std::vector<Call> all;
    for (const auto& [m, k] : {std::pair<size_t, size_t>{1024, 1024}, {2048, 2048}, {4096, 8192}}) {
        const size_t count = m * k;
        const std::string size = " " + std::to_string(m) + "x" + std::to_string(k);
        const size_t columns = k / 16;
        const size_t at = 80 * kMiB;  // of the scales
#define MX(NAME, GRID, THREADS, KERNEL, ...)                                                       \
        all.push_back({std::string("mxfp4_quantize/") + NAME + size, [=](const Memory& m_) {       \
            const float* a = m_.from<float>(); uint8_t* q = m_.out; uint8_t* s = m_.out + at;      \
            (void)a; (void)q; (void)s;                                                             \
            KERNEL<<<GRID, THREADS>>>(__VA_ARGS__); }})
#define THREAD(NAME, BY, W, STORE, INDEX, T)                                                       \
        MX(NAME, ceil_div(count / 32, T), T, (thread_per_block<By::BY, W, STORE, INDEX>), a, q, s, INDEX(count / 32))
        THREAD("thread, float4", Compare, 4, uint8_t, size_t, 256);
        THREAD("thread, float4, words", Compare, 4, uint32_t, size_t, 256);
        THREAD("thread, float4, uint4", Compare, 4, uint4, size_t, 256);
        THREAD("thread, float2, words", Compare, 2, uint32_t, unsigned, 256);
        THREAD("thread, float, uint4", Compare, 1, uint4, unsigned, 256);
        THREAD("thread, float4, uint4, 64", Compare, 4, uint4, unsigned, 64);
        THREAD("thread, float4, uint4, 1024", Compare, 4, uint4, unsigned, 1024);
        THREAD("thread, nearest", Nearest, 4, uint4, unsigned, 128);
        THREAD("thread, table", Table, 4, uint4, unsigned, 128);
        THREAD("thread, local table", Local, 4, uint4, unsigned, 128);
        THREAD("thread, bits", Bits, 4, uint4, unsigned, 128);
        THREAD("thread, branches", Branches, 4, uint4, unsigned, 128);
        MX("rolled", ceil_div(count / 32, 256), 256, rolled, a, q, s, count / 32);
#define LANES(NAME, BY, L, LOOP, GRID, T) MX(NAME, GRID, T, (lanes<By::BY, L, LOOP>), a, q, s, count / 32 * L)
        LANES("2 lanes", Compare, 2, false, ceil_div(count / 16, 256), 256);
        LANES("4 lanes", Compare, 4, false, ceil_div(count / 8, 256), 256);
        LANES("4 lanes, bits", Bits, 4, false, ceil_div(count / 8, 128), 128);
        LANES("4 lanes, nearest", Nearest, 4, false, ceil_div(count / 8, 256), 256);
        LANES("4 lanes, table", Table, 4, false, ceil_div(count / 8, 256), 256);
        LANES("4 lanes, branches", Branches, 4, false, ceil_div(count / 8, 256), 256);
        LANES("4 lanes, CTAs of 32", Compare, 4, false, ceil_div(count / 8, 32), 32);
        LANES("4 lanes, loop 264", Compare, 4, true, 264, 512);
        LANES("4 lanes, loop 132", Bits, 4, true, 132, 256);
        LANES("8 lanes", Compare, 8, false, ceil_div(count / 4, 256), 256);
        LANES("8 lanes, bits, loop", Bits, 8, true, 528, 512);
        LANES("16 lanes", Compare, 16, false, ceil_div(count / 2, 256), 256);
        LANES("32 lanes", Compare, 32, false, ceil_div(count, 256), 256);
        LANES("32 lanes, 64 threads", Bits, 32, false, ceil_div(count, 64), 64);
        LANES("32 lanes, nearest", Nearest, 32, false, ceil_div(count, 1024), 1024);
        LANES("32 lanes, loop", Compare, 32, true, 1056, 256);
#define STAGED(NAME, P, T)                                                                         \
        all.push_back({std::string("mxfp4_quantize/") + NAME + size, [=](const Memory& m_) {       \
            staged<P, T><<<ceil_div(count / 32, T), T, T * P * 4>>>(m_.from<float>(), m_.out, m_.out + at); }})
        STAGED("staged, pitch 32", 32, 128);
        STAGED("staged, pitch 33", 33, 128);
        STAGED("staged, pitch 36", 36, 128);
        STAGED("staged, pitch 33, 32", 33, 32);
        if (count <= 4 * kMiB)
            MX("a CTA of 32 a block", unsigned(count / 32), 32, cta_per_block, a, q, s);
        MX("shared atomics", unsigned(count / 256), 256, shared_atomics, a, q, s);
        all.push_back({"mxfp4_quantize/two launches" + size, [=](const Memory& m_) {
            scales_only<<<unsigned(count / 1024), 256>>>(m_.from<float4>(), m_.out + at);
            codes_only<<<unsigned(count / 1024), 256>>>(m_.from<float4>(), m_.to<uint16_t>(), m_.out + at); }});
#define NV(NAME, GRID, THREADS, KERNEL)                                                            \
        all.push_back({std::string("nvfp4_quantize/") + NAME + size, [=](const Memory& m_) {       \
            KERNEL<<<GRID, THREADS>>>(m_.from<__half>(), 0.5f, m_.out, m_.out + at, m, columns); }})
        NV("thread, bytes", ceil_div(count / 16, 256), 256, (nv_thread<By::Compare, false, true>));
        NV("thread, wide", ceil_div(count / 16, 256), 256, (nv_thread<By::Compare, true, true>));
        NV("thread, wide, rows of scales", ceil_div(count / 16, 256), 256, (nv_thread<By::Compare, true, false>));
        NV("thread, wide, 64", ceil_div(count / 16, 64), 64, (nv_thread<By::Compare, true, true>));
        NV("thread, bits", ceil_div(count / 16, 128), 128, (nv_thread<By::Bits, true, true>));
        NV("thread, nearest", ceil_div(count / 16, 128), 128, (nv_thread<By::Nearest, true, true>));
        NV("thread, table", ceil_div(count / 16, 128), 128, (nv_thread<By::Table, true, true>));
        NV("thread, local table", ceil_div(count / 16, 128), 128, (nv_thread<By::Local, true, true>));
        NV("thread, branches", ceil_div(count / 16, 256), 256, (nv_thread<By::Branches, true, true>));
        NV("2 lanes", ceil_div(count / 8, 256), 256, (nv_lanes<By::Compare, 2>));
        NV("2 lanes, bits", ceil_div(count / 8, 128), 128, (nv_lanes<By::Bits, 2>));
        NV("4 lanes", ceil_div(count / 4, 256), 256, (nv_lanes<By::Compare, 4>));
        NV("4 lanes, CTAs of 32", ceil_div(count / 4, 32), 32, (nv_lanes<By::Bits, 4>));
        NV("16 lanes", ceil_div(count, 256), 256, (nv_lanes<By::Compare, 16>));
        NV("16 lanes, nearest", ceil_div(count, 256), 256, (nv_lanes<By::Nearest, 16>));
    }
    return all;
}
