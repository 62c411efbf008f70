// Matrix times vector in NVFP4, and attention: how rows are shared out, how wide they are read, what is
// staged, how partial sums meet.

#include "driver.cuh"

__constant__ float table[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

enum class By { Halves, Formula, Constant, Bits };

template <By BY> __device__ float value(unsigned code) {
    if constexpr (BY == By::Constant) return table[code & 15];
    else if constexpr (BY == By::Bits) return __uint_as_float((code & 7) << 22 | (code & 8) << 28) * 0x1p126f;
    else {
        const unsigned e = code >> 1 & 3, f = code & 1;
        const float y = e == 0 ? 0.5f * f : (1.0f + 0.5f * f) * float(1u << (e - 1));
        return code & 8 ? -y : y;
    }
}

__device__ __half2 pair(unsigned byte) {
    const unsigned both = byte * 0x1001u & 0x000f000fu;
    const unsigned bits = (both << 9 & 0x0e000e00u) | (both << 12 & 0x80008000u);
    return __hmul2(*reinterpret_cast<const __half2*>(&bits), __float2half2_rn(16384.0f));
}

__device__ float scale(unsigned byte) { return __uint_as_float(byte << 20) * 0x1p120f; }

// Eight products of a word of codes each.
template <By BY> __device__ float dot(uint32_t a, uint32_t b) {
    if constexpr (BY == By::Halves) {
        __half2 sum = __float2half2_rn(0.0f);
#pragma unroll
        for (int i = 0; i < 32; i += 8) sum = __hfma2(pair(a >> i & 0xff), pair(b >> i & 0xff), sum);
        return __low2float(sum) + __high2float(sum);
    } else {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 32; i += 4) sum += value<BY>(a >> i & 15) * value<BY>(b >> i & 15);
        return sum;
    }
}

struct Gemv {
    const uint8_t *a, *b, *sfa, *sfb;
    __half* c;
    size_t m, k;
};

template <By BY> __global__ void thread_per_row(Gemv g) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x, batch = blockIdx.y;
    if (row >= g.m) return;
    const size_t o = batch * g.m + row;
    const uint32_t* a = reinterpret_cast<const uint32_t*>(g.a + o * (g.k / 2));
    const uint32_t* b = reinterpret_cast<const uint32_t*>(g.b + batch * 128 * (g.k / 2));
    float sum = 0;
    for (size_t i = 0; i < g.k / 16; i++)
        sum += (dot<BY>(a[2 * i], b[2 * i]) + dot<BY>(a[2 * i + 1], b[2 * i + 1])) * scale(g.sfa[o * (g.k / 16) + i]) * scale(g.sfb[batch * 128 * (g.k / 16) + i]);
    g.c[o] = __float2half(sum);
}

// WORDS words a lane and step, a warp for ROWS rows.
template <By BY, int WORDS, int ROWS> __global__ void warp_per_row(Gemv g) {
    const unsigned lane = threadIdx.x % 32;
    const size_t first = (blockIdx.x * size_t(blockDim.x / 32) + threadIdx.x / 32) * ROWS, batch = blockIdx.y;
    if (first >= g.m) return;
    const size_t words = g.k / 8;
    const uint32_t* b = reinterpret_cast<const uint32_t*>(g.b + batch * 128 * (g.k / 2));
    float sum[ROWS] = {};
    for (size_t i = lane * WORDS; i < words; i += 32 * WORDS) {
        uint32_t bs[WORDS];
        if constexpr (WORDS == 4) *reinterpret_cast<uint4*>(bs) = *reinterpret_cast<const uint4*>(b + i);
        else if constexpr (WORDS == 2) *reinterpret_cast<uint2*>(bs) = *reinterpret_cast<const uint2*>(b + i);
        else bs[0] = b[i];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const size_t o = batch * g.m + first + r;
            const uint32_t* a = reinterpret_cast<const uint32_t*>(g.a + o * (g.k / 2));
            uint32_t as[WORDS];
            if constexpr (WORDS == 4) *reinterpret_cast<uint4*>(as) = *reinterpret_cast<const uint4*>(a + i);
            else if constexpr (WORDS == 2) *reinterpret_cast<uint2*>(as) = *reinterpret_cast<const uint2*>(a + i);
            else as[0] = a[i];
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                sum[r] += dot<BY>(as[w], bs[w]) * (scale(g.sfa[o * (g.k / 16) + (i + w) / 2]) * scale(g.sfb[batch * 128 * (g.k / 16) + (i + w) / 2]));
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int d = 16; d > 0; d /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], d);
        if (lane == 0) g.c[batch * g.m + first + r] = __float2half(sum[r]);
    }
}

// A CTA for a row, and a sum through shared memory.
template <By BY> __global__ void cta_per_row(Gemv g) {
    __shared__ float sums[256];
    const size_t o = blockIdx.y * g.m + blockIdx.x, words = g.k / 8;
    const uint32_t* a = reinterpret_cast<const uint32_t*>(g.a + o * (g.k / 2));
    const uint32_t* b = reinterpret_cast<const uint32_t*>(g.b + blockIdx.y * 128 * (g.k / 2));
    float sum = 0;
    for (size_t i = threadIdx.x; i < words; i += blockDim.x)
        sum += dot<BY>(a[i], b[i]) * scale(g.sfa[o * (g.k / 16) + i / 2]) * scale(g.sfb[blockIdx.y * 128 * (g.k / 16) + i / 2]);
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) g.c[o] = __float2half(sums[0]);
}

// Rows of A staged in shared memory, 64 of them and 128 bytes each at a time; then a thread for each.
template <int PITCH> __global__ void staged_rows(Gemv g) {
    __shared__ uint32_t tile[64 * PITCH];
    __shared__ uint32_t bs[32];
    const size_t first = blockIdx.x * size_t(64), batch = blockIdx.y;
    const uint32_t* a = reinterpret_cast<const uint32_t*>(g.a + (batch * g.m + first) * (g.k / 2));
    const uint32_t* b = reinterpret_cast<const uint32_t*>(g.b + batch * 128 * (g.k / 2));
    const size_t words = g.k / 8, o = batch * g.m + first + threadIdx.x;
    float sum = 0;
    for (size_t start = 0; start < words; start += 32) {
        for (int r = threadIdx.x / 32; r < 64; r += 2) tile[r * PITCH + threadIdx.x % 32] = a[r * words + start + threadIdx.x % 32];
        if (threadIdx.x < 32) bs[threadIdx.x] = b[start + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < 32; i += 2)
            sum += (dot<By::Halves>(tile[threadIdx.x * PITCH + i], bs[i]) + dot<By::Halves>(tile[threadIdx.x * PITCH + i + 1], bs[i + 1]))
                 * scale(g.sfa[o * (g.k / 16) + (start + i) / 2]) * scale(g.sfb[batch * 128 * (g.k / 16) + (start + i) / 2]);
        __syncthreads();
    }
    g.c[o] = __float2half(sum);
}

// The vector decoded once into shared memory as floats; warps for rows.
__global__ void decoded_vector(Gemv g) {
    extern __shared__ float vector[];
    const size_t batch = blockIdx.y, words = g.k / 8;
    const uint32_t* b = reinterpret_cast<const uint32_t*>(g.b + batch * 128 * (g.k / 2));
    for (size_t i = threadIdx.x; i < words; i += blockDim.x) {
        const uint32_t w = b[i];
        const float s = scale(g.sfb[batch * 128 * (g.k / 16) + i / 2]);
        for (int j = 0; j < 8; j++) vector[i * 8 + j] = value<By::Bits>(w >> 4 * j & 15) * s;
    }
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    for (size_t row = blockIdx.x * 8 + threadIdx.x / 32; row < g.m; row += gridDim.x * 8) {
        const uint32_t* a = reinterpret_cast<const uint32_t*>(g.a + (batch * g.m + row) * (g.k / 2));
        float sum = 0;
        for (size_t i = lane; i < words; i += 32) {
            const uint32_t w = a[i];
            float part = 0;
#pragma unroll
            for (int j = 0; j < 8; j++) part += value<By::Bits>(w >> 4 * j & 15) * vector[i * 8 + j];
            sum += part * scale(g.sfa[(batch * g.m + row) * (g.k / 16) + i / 2]);
        }
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0) g.c[batch * g.m + row] = __float2half(sum);
    }
}

// Split along k, and partial sums that meet by atomics.
__global__ void clear(float* sums, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) sums[i] = 0;
}
__global__ void split(Gemv g, float* sums, unsigned parts) {
    const unsigned lane = threadIdx.x % 32;
    const size_t row = blockIdx.x * size_t(blockDim.x / 32) + threadIdx.x / 32, batch = blockIdx.y;
    if (row >= g.m) return;
    const size_t o = batch * g.m + row, words = g.k / 8 / parts;
    const uint32_t* a = reinterpret_cast<const uint32_t*>(g.a + o * (g.k / 2)) + blockIdx.z * words;
    const uint32_t* b = reinterpret_cast<const uint32_t*>(g.b + batch * 128 * (g.k / 2)) + blockIdx.z * words;
    float sum = 0;
    for (size_t i = lane; i < words; i += 32) sum += dot<By::Halves>(a[i], b[i]) * scale(g.sfa[o * (g.k / 16) + (blockIdx.z * words + i) / 2]);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) atomicAdd(sums + o, sum);
}
__global__ void finish(const float* sums, __half* c, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) c[i] = __float2half(sums[i]);
}

// Attention in floats: heads of D, no quantization.
struct Attention {
    const float *q, *k, *v;
    float* out;
    int seq_q, seq_k;
};

template <int D> __global__ void thread_per_query(Attention t) {
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= t.seq_q) return;
    const float* q = t.q + (size_t(blockIdx.y) * t.seq_q + query) * D;
    const float *k = t.k + size_t(blockIdx.y) * t.seq_k * D, *v = t.v + size_t(blockIdx.y) * t.seq_k * D;
    float sum[D] = {}, weights = 0, largest = -1e30f;
    for (int key = 0; key < t.seq_k; key++) {
        float score = 0;
#pragma unroll 8
        for (int i = 0; i < D; i++) score += q[i] * k[key * D + i];
        const float next = fmaxf(largest, score), shrink = expf(largest - next), weight = expf(score - next);
        weights = weights * shrink + weight;
#pragma unroll
        for (int i = 0; i < D; i++) sum[i] = sum[i] * shrink + weight * v[key * D + i];
        largest = next;
    }
#pragma unroll
    for (int i = 0; i < D; i++) t.out[(size_t(blockIdx.y) * t.seq_q + query) * D + i] = sum[i] / weights;
}

// A warp for a query, D / 32 elements a lane.
template <int D> __global__ void warp_per_query(Attention t) {
    const int query = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (query >= t.seq_q) return;
    const float* q = t.q + (size_t(blockIdx.y) * t.seq_q + query) * D;
    const float *k = t.k + size_t(blockIdx.y) * t.seq_k * D, *v = t.v + size_t(blockIdx.y) * t.seq_k * D;
    constexpr int N = D / 32;
    float x[N], sum[N] = {}, weights = 0, largest = -1e30f;
    for (int i = 0; i < N; i++) x[i] = q[lane + 32 * i];
    for (int key = 0; key < t.seq_k; key++) {
        float score = 0;
        for (int i = 0; i < N; i++) score += x[i] * k[key * D + lane + 32 * i];
        for (int d = 16; d > 0; d /= 2) score += __shfl_xor_sync(0xffffffffu, score, d);
        const float next = fmaxf(largest, score), shrink = __expf(largest - next), weight = __expf(score - next);
        weights = weights * shrink + weight;
        for (int i = 0; i < N; i++) sum[i] = sum[i] * shrink + weight * v[key * D + lane + 32 * i];
        largest = next;
    }
    for (int i = 0; i < N; i++) t.out[(size_t(blockIdx.y) * t.seq_q + query) * D + lane + 32 * i] = sum[i] / weights;
}

// Scores into memory, softmax over them, then their product with V: three launches.
template <int D> __global__ void scores(Attention t, float* s) {
    const int key = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y;
    if (key >= t.seq_k) return;
    const float4* q = reinterpret_cast<const float4*>(t.q + (size_t(blockIdx.z) * t.seq_q + query) * D);
    const float4* k = reinterpret_cast<const float4*>(t.k + (size_t(blockIdx.z) * t.seq_k + key) * D);
    float sum = 0;
#pragma unroll 8
    for (int i = 0; i < D / 4; i++) {
        const float4 a = q[i], b = k[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    s[(size_t(blockIdx.z) * t.seq_q + query) * t.seq_k + key] = sum;
}
__global__ void softmax(float* s, int n) {
    __shared__ float part[8];
    float* row = s + blockIdx.x * size_t(n);
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) most = fmaxf(most, row[i]);
    for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    for (int i = 0; i < 8; i++) most = fmaxf(most, part[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) sum += expf(row[i] - most);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 8; i++) sum += part[i];
    for (int i = threadIdx.x; i < n; i += 256) row[i] = expf(row[i] - most) / sum;
}
template <int D> __global__ void weigh(Attention t, const float* s) {
    const int query = blockIdx.x;
    const float* row = s + (size_t(blockIdx.y) * t.seq_q + query) * t.seq_k;
    const float* v = t.v + size_t(blockIdx.y) * t.seq_k * D;
    float sum = 0;
#pragma unroll 4
    for (int key = 0; key < t.seq_k; key++) sum += row[key] * v[key * D + threadIdx.x];
    t.out[(size_t(blockIdx.y) * t.seq_q + query) * D + threadIdx.x] = sum;
}

// Tiles of K and V in shared memory; a thread for a query and a quarter of its elements.
template <int D, int KEYS, int PAD> __global__ void tiled(Attention t) {
    __shared__ __align__(16) float ks[KEYS][D + PAD], vs[KEYS][D + PAD];
    const int part = threadIdx.x % 4, query = blockIdx.x * 32 + threadIdx.x / 4;
    constexpr int N = D / 4;
    float x[N], sum[N] = {}, weights = 0, largest = -1e30f;
    const float* q = t.q + (size_t(blockIdx.y) * t.seq_q + query) * D;
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = q[part + 4 * i];
    const float *k = t.k + size_t(blockIdx.y) * t.seq_k * D, *v = t.v + size_t(blockIdx.y) * t.seq_k * D;
    for (int start = 0; start < t.seq_k; start += KEYS) {
        __syncthreads();
        for (int i = threadIdx.x; i < KEYS * D; i += 128) {
            ks[i / D][i % D] = k[start * D + i];
            vs[i / D][i % D] = v[start * D + i];
        }
        __syncthreads();
        for (int key = 0; key < KEYS; key++) {
            float score = 0;
#pragma unroll
            for (int i = 0; i < N; i++) score += x[i] * ks[key][part + 4 * i];
            score += __shfl_xor_sync(0xffffffffu, score, 1);
            score += __shfl_xor_sync(0xffffffffu, score, 2);
            const float next = fmaxf(largest, score), shrink = __expf(largest - next), weight = __expf(score - next);
            weights = weights * shrink + weight;
#pragma unroll
            for (int i = 0; i < N; i++) sum[i] = sum[i] * shrink + weight * vs[key][part + 4 * i];
            largest = next;
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++) t.out[(size_t(blockIdx.y) * t.seq_q + query) * D + part + 4 * i] = sum[i] / weights;
}

// The maximum of a tensor, then its quantization: passes, launches, who updates it.
enum class Update { Thread, Warp, Cta };
template <Update BY, int W> __global__ void find_amax(const __half* a, unsigned* amax, size_t pieces) {
    __shared__ float part[32];
    const size_t step = gridDim.x * size_t(blockDim.x);
    float most = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < pieces; i += step) {
        __half x[W];
        if constexpr (W == 8) *reinterpret_cast<uint4*>(x) = reinterpret_cast<const uint4*>(a)[i];
        else x[0] = a[i];
#pragma unroll
        for (int j = 0; j < W; j++) most = fmaxf(most, fabsf(__half2float(x[j])));
    }
    if (BY == Update::Thread) { atomicMax(amax, __float_as_uint(most)); return; }
    for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    if (BY == Update::Warp) { if (threadIdx.x % 32 == 0) atomicMax(amax, __float_as_uint(most)); return; }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x < 32) {
        most = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
        if (threadIdx.x == 0) atomicMax(amax, __float_as_uint(most));
    }
}
__global__ void quantize_by(const __half* a, const float* amax, uint32_t* q, uint8_t* s, size_t eighths) {
    const size_t t = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (t >= eighths) return;
    const float sf_g = 2688.0f / *amax;
    __half x[8];
    *reinterpret_cast<uint4*>(x) = reinterpret_cast<const uint4*>(a)[t];
    float most = 0;
    for (int i = 0; i < 8; i++) most = fmaxf(most, fabsf(__half2float(x[i])));
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
    const __nv_fp8_e4m3 byte(sf_g * (most * (1.0f / 6.0f)));
    const float factor = sf_g / float(byte);
    uint32_t codes = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const float y = fabsf(__half2float(x[i]) * factor);
        codes |= ((y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f) + (y >= 3.5f) + (y > 5.0f)) << 4 * i;
    }
    q[t] = codes;
    if (t % 2 == 0) s[t / 2] = byte.__x;
}

std::vector<Call> calls() {
    std::vector<Call> all;
    for (const auto& [m, k, l] : {std::tuple<size_t, size_t, size_t>{7168, 16384, 1}, {4096, 7168, 8}, {7168, 2048, 4}}) {
        const std::string size = " " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(l);
        const unsigned batches = unsigned(l);
        auto gemv = [=](const Memory& x) { return Gemv{x.in, x.in + 128 * kMiB, x.in + 120 * kMiB, x.in + 128 * kMiB + 8192, x.to<__half>(), m, k}; };
#define GEMV(NAME, ROWS, THREADS, KERNEL)                                                          \
        all.push_back({std::string("nvfp4_gemv/") + NAME + size, [=](const Memory& x) {            \
            KERNEL<<<dim3(ceil_div(m, ROWS), batches), THREADS>>>(gemv(x)); }})
        GEMV("thread, halves", 128, 128, thread_per_row<By::Halves>);
        GEMV("thread, constant", 64, 64, thread_per_row<By::Constant>);
        GEMV("warp, halves", 8, 256, (warp_per_row<By::Halves, 1, 1>));
        GEMV("warp, formula", 8, 256, (warp_per_row<By::Formula, 1, 1>));
        GEMV("warp, constant", 8, 256, (warp_per_row<By::Constant, 1, 1>));
        GEMV("warp, bits, uint2", 4, 128, (warp_per_row<By::Bits, 2, 1>));
        GEMV("warp, halves, uint2", 8, 256, (warp_per_row<By::Halves, 2, 1>));
        GEMV("warp, halves, uint4", 8, 256, (warp_per_row<By::Halves, 4, 1>));
        GEMV("warp, halves, uint4, 32", 1, 32, (warp_per_row<By::Halves, 4, 1>));
        GEMV("warp, 4 rows", 16, 128, (warp_per_row<By::Halves, 1, 4>));
        GEMV("warp, 2 rows, uint4", 16, 256, (warp_per_row<By::Halves, 4, 2>));
        GEMV("CTA a row", 1, 256, cta_per_row<By::Halves>);
        GEMV("CTA a row, bits", 1, 128, cta_per_row<By::Bits>);
        GEMV("staged, pitch 32", 64, 64, staged_rows<32>);
        GEMV("staged, pitch 33", 64, 64, staged_rows<33>);
        all.push_back({"nvfp4_gemv/decoded vector" + size, [=](const Memory& x) {
            cudaFuncSetAttribute(decoded_vector, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
            decoded_vector<<<dim3(264, batches), 256, k * 4>>>(gemv(x)); }});
        for (unsigned parts : {4u, 16u})
            all.push_back({"nvfp4_gemv/split " + std::to_string(parts) + size, [=](const Memory& x) {
                float* sums = x.to<float>(kMiB);
                clear<<<ceil_div(m * l, 256), 256>>>(sums, m * l);
                split<<<dim3(ceil_div(m, 8), batches, parts), 256>>>(gemv(x), sums, parts);
                finish<<<ceil_div(m * l, 256), 256>>>(sums, x.to<__half>(), m * l); }});
    }
    for (const auto& [heads, q, k] : {std::tuple<int, int, int>{32, 64, 128}, {32, 64, 1024}, {2, 1024, 1024}}) {
        const std::string size = " " + std::to_string(heads) + "x" + std::to_string(q) + "x" + std::to_string(k);
        const unsigned many = unsigned(heads);
        auto attention = [=](const Memory& x) { return Attention{x.from<float>(kNumbers), x.from<float>(kNumbers + 8 * kMiB), x.from<float>(kNumbers + 26 * kMiB), x.to<float>(), q, k}; };
#define ATTENTION(NAME, QUERIES, THREADS, KERNEL)                                                  \
        all.push_back({std::string("fp4_attention/") + NAME + size, [=](const Memory& x) {         \
            KERNEL<<<dim3(ceil_div(q, QUERIES), many), THREADS>>>(attention(x)); }})
        ATTENTION("thread 64", 32, 32, thread_per_query<64>);
        ATTENTION("warp 64", 4, 128, warp_per_query<64>);
        ATTENTION("warp 128", 8, 256, warp_per_query<128>);
        ATTENTION("tiled 64", 32, 128, (tiled<64, 32, 0>));
        ATTENTION("tiled 64, padded", 32, 128, (tiled<64, 32, 4>));
        ATTENTION("tiled 128", 32, 128, (tiled<128, 32, 0>));
        all.push_back({"fp4_attention/scores in memory" + size, [=](const Memory& x) {
            float* s = x.to<float>(64 * kMiB);
            scores<128><<<dim3(ceil_div(k, 128), q, many), 128>>>(attention(x), s);
            softmax<<<many * q, 256>>>(s, k);
            weigh<128><<<dim3(q, many), 128>>>(attention(x), s); }});
    }
    for (const auto& [m, k] : {std::pair<size_t, size_t>{1024, 1024}, {2048, 2048}, {4096, 8192}}) {
        const std::string size = " " + std::to_string(m) + "x" + std::to_string(k);
        const size_t count = m * k;
#define AMAX(NAME, BY, W, CTAS)                                                                    \
        all.push_back({std::string("nvfp4_quantize_amax/") + NAME + size, [=](const Memory& x) {   \
            unsigned* amax = x.to<unsigned>(100 * kMiB);                                           \
            cudaMemsetAsync(amax, 0, 4);                                                           \
            find_amax<Update::BY, W><<<CTAS, 256>>>(x.from<__half>(), amax, count / W);            \
            quantize_by<<<ceil_div(count / 8, 256), 256>>>(x.from<__half>(), (const float*)amax, x.to<uint32_t>(), x.to<uint8_t>(64 * kMiB), count / 8); }})
        AMAX("threads update", Thread, 1, 2048);
        AMAX("threads update, all at once", Thread, 8, ceil_div(count / 8, 256));
        AMAX("warps update", Warp, 8, 1024);
        AMAX("warps update, scalar", Warp, 1, ceil_div(count, 256));
        AMAX("CTAs update", Cta, 8, 528);
        AMAX("CTAs update, 132", Cta, 8, 132);
        AMAX("CTAs update, all at once", Cta, 8, ceil_div(count / 8, 256));
    }
    return all;
}
