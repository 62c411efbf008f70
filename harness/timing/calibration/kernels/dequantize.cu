// Dequantizers from MXFP4 and NVFP4: how a code becomes a float, what is loaded and stored at a time.

#include "driver.cuh"

__constant__ float table[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
__device__ const float global_table[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

enum class By { Formula, Bits, Constant, Global, Shared, Local, Branches };

template <By BY> __device__ float decode(unsigned code, const float* shared) {
    if constexpr (BY == By::Formula) {
        const unsigned e = code >> 1 & 3, f = code & 1;
        const float y = e == 0 ? 0.5f * f : (1.0f + 0.5f * f) * float(1u << (e - 1));
        return code & 8 ? -y : y;
    } else if constexpr (BY == By::Bits) return __uint_as_float((code & 7) << 22 | (code & 8) << 28) * 0x1p126f;
    else if constexpr (BY == By::Constant) return table[code & 15];
    else if constexpr (BY == By::Global) return __ldg(global_table + (code & 15));
    else if constexpr (BY == By::Shared) return shared[code & 15];
    else if constexpr (BY == By::Local) {
        const float mine[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
        const float y = mine[code & 7];
        return code & 8 ? -y : y;
    } else {
        float y;
        switch (code & 7) {
            case 0: y = 0; break;
            case 1: y = 0.5f; break;
            case 2: y = 1; break;
            case 3: y = 1.5f; break;
            case 4: y = 2; break;
            case 5: y = 3; break;
            case 6: y = 4; break;
            default: y = 6;
        }
        return code & 8 ? -y : y;
    }
}

__device__ size_t swizzled(size_t row, size_t column, size_t columns) {
    return (row / 128 * ((columns + 3) / 4) + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

__device__ float mx_scale(unsigned byte) { return __uint_as_float(max(byte << 23, 0x00400000u)); }

// N bytes a thread, STORE floats at a time; NV: 16 elements to a scale, in tiles.
template <By BY, bool NV, int N, int STORE> __global__ void dequantize(const uint8_t* q, const uint8_t* scale, float sf_g, float* out, size_t m, size_t k) {
    __shared__ float shared[16];
    if (BY == By::Shared) {
        if (threadIdx.x < 16) shared[threadIdx.x] = global_table[threadIdx.x];
        __syncthreads();
    }
    const size_t t = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (t * N >= m * k / 2) return;
    uint8_t bytes[N];
    if constexpr (N == 16) *reinterpret_cast<uint4*>(bytes) = reinterpret_cast<const uint4*>(q)[t];
    else if constexpr (N == 8) *reinterpret_cast<uint2*>(bytes) = reinterpret_cast<const uint2*>(q)[t];
    else if constexpr (N == 4) *reinterpret_cast<uint32_t*>(bytes) = reinterpret_cast<const uint32_t*>(q)[t];
    else if constexpr (N == 2) *reinterpret_cast<uint16_t*>(bytes) = reinterpret_cast<const uint16_t*>(q)[t];
    else bytes[0] = q[t];
    float factor;
    if (NV) {
        const size_t row = t * N / (k / 2), block = t * N % (k / 2) / 8;
        __nv_fp8_e4m3 byte;
        byte.__x = scale[swizzled(row, block, k / 16)];
        factor = float(byte) / sf_g;
    } else factor = mx_scale(scale[t * N / 16]);
    float x[2 * N];
#pragma unroll
    for (int i = 0; i < 2 * N; i++) x[i] = decode<BY>(bytes[i / 2] >> 4 * (i % 2) & 15, shared) * factor;
#pragma unroll
    for (int i = 0; i < 2 * N; i += STORE) {
        float* to = out + t * 2 * N + i;
        if constexpr (STORE == 4) *reinterpret_cast<float4*>(to) = make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
        else if constexpr (STORE == 2) *reinterpret_cast<float2*>(to) = make_float2(x[i], x[i + 1]);
        else *reinterpret_cast<volatile float*>(to) = x[i];
    }
}

// An element a thread: both the byte and the scale are asked for by all who need them.
template <By BY, bool NV> __global__ void element(const uint8_t* q, const uint8_t* scale, float sf_g, float* out, size_t m, size_t k) {
    const size_t t = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (t >= m * k) return;
    __nv_fp8_e4m3 byte;
    float factor;
    if (NV) {
        byte.__x = scale[swizzled(t / k, t % k / 16, k / 16)];
        factor = float(byte) / sf_g;
    } else factor = mx_scale(scale[t / 32]);
    out[t] = decode<BY>(q[t / 2] >> 4 * (t % 2) & 15, nullptr) * factor;
}

// A thread for a whole block, in a loop: stores of four bytes, a block apart.
template <bool NV> __global__ void block_each(const uint8_t* q, const uint8_t* scale, float sf_g, float* out, size_t m, size_t k) {
    constexpr int N = NV ? 8 : 16;
    const size_t t = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (t * N >= m * k / 2) return;
    const float factor = mx_scale(scale[t]) * sf_g;
#pragma unroll 1
    for (int i = 0; i < N; i++) {
        const unsigned pair = q[t * N + i];
        out[(t * N + i) * 2] = decode<By::Formula>(pair & 15, nullptr) * factor;
        out[(t * N + i) * 2 + 1] = decode<By::Formula>(pair >> 4, nullptr) * factor;
    }
}

// A row a CTA, in a loop over it.
template <By BY> __global__ void row_each(const uint8_t* q, const uint8_t* scale, float* out, size_t k) {
    const size_t row = blockIdx.x;
    for (size_t i = threadIdx.x; i < k / 4; i += blockDim.x) {
        const unsigned codes = reinterpret_cast<const uint16_t*>(q + row * k / 2)[i];
        const float factor = mx_scale(scale[row * k / 32 + i / 8]);
        reinterpret_cast<float4*>(out + row * k)[i] = make_float4(decode<BY>(codes & 15, nullptr) * factor, decode<BY>(codes >> 4 & 15, nullptr) * factor,
                                                                  decode<BY>(codes >> 8 & 15, nullptr) * factor, decode<BY>(codes >> 12, nullptr) * factor);
    }
}

std::vector<Call> calls() {
    std::vector<Call> all;
    for (const auto& [m, k] : {std::pair<size_t, size_t>{1024, 1024}, {2048, 2048}, {4096, 8192}}) {
        const size_t count = m * k;
        const std::string size = " " + std::to_string(m) + "x" + std::to_string(k);
#define CALL(PROBLEM, NAME, GRID, THREADS, KERNEL)                                                 \
        all.push_back({std::string(PROBLEM "/") + NAME + size, [=](const Memory& m_) {             \
            KERNEL<<<GRID, THREADS>>>(m_.in, m_.in + 64 * kMiB, 0.5f, m_.to<float>(), m, k); }})
#define MX(NAME, BY, N, S, T) CALL("mxfp4_dequantize", NAME, ceil_div(count / 2 / N, T), T, (dequantize<By::BY, false, N, S>))
#define NV(NAME, BY, N, S, T) CALL("nvfp4_dequantize", NAME, ceil_div(count / 2 / N, T), T, (dequantize<By::BY, true, N, S>))
        MX("byte, formula", Formula, 1, 1, 256); MX("byte, float2", Bits, 1, 2, 256);
        MX("byte, constant", Constant, 1, 2, 256); MX("byte, global", Global, 1, 2, 256);
        MX("byte, shared", Shared, 1, 2, 256); MX("byte, branches", Branches, 1, 2, 256);
        MX("2 bytes, bits", Bits, 2, 4, 256); MX("2 bytes, constant", Constant, 2, 4, 256);
        MX("2 bytes, bits, 32", Bits, 2, 4, 32); MX("2 bytes, formula, 1024", Formula, 2, 4, 1024);
        MX("4 bytes, bits", Bits, 4, 4, 256); MX("4 bytes, local", Local, 4, 4, 256);
        MX("8 bytes, bits", Bits, 8, 4, 256); MX("16 bytes, bits", Bits, 16, 4, 256);
        MX("16 bytes, scalar stores", Bits, 16, 1, 128); MX("16 bytes, constant", Constant, 16, 4, 128);
        MX("16 bytes, shared", Shared, 16, 4, 128); MX("16 bytes, float2", Formula, 16, 2, 256);
        NV("byte, formula", Formula, 1, 1, 256); NV("byte, bits", Bits, 1, 2, 128);
        NV("byte, constant", Constant, 1, 2, 256); NV("2 bytes, bits", Bits, 2, 4, 256);
        NV("2 bytes, shared", Shared, 2, 4, 256); NV("4 bytes, bits", Bits, 4, 4, 256);
        NV("4 bytes, global", Global, 4, 4, 256); NV("8 bytes, bits", Bits, 8, 4, 256);
        NV("8 bytes, formula", Formula, 8, 4, 128); NV("8 bytes, scalar stores", Bits, 8, 1, 256);
        NV("8 bytes, local", Local, 8, 4, 256); NV("8 bytes, constant, 64", Constant, 8, 4, 64);
        CALL("mxfp4_dequantize", "element", ceil_div(count, 256), 256, (element<By::Bits, false>));
        CALL("mxfp4_dequantize", "element, constant", ceil_div(count, 512), 512, (element<By::Constant, false>));
        CALL("nvfp4_dequantize", "element", ceil_div(count, 256), 256, (element<By::Formula, true>));
        CALL("mxfp4_dequantize", "block each", ceil_div(count / 32, 128), 128, (block_each<false>));
        CALL("nvfp4_dequantize", "block each", ceil_div(count / 16, 256), 256, (block_each<true>));
        for (unsigned threads : {64u, 256u, 1024u})
            all.push_back({"mxfp4_dequantize/row, " + std::to_string(threads) + size, [=](const Memory& m_) {
                row_each<By::Bits><<<unsigned(m), threads>>>(m_.in, m_.in + 64 * kMiB, m_.to<float>(), k); }});
    }
    return all;
}
