// Figures of a GPU that need a clock: latencies by a chase of one thread, bandwidths, the cost of a
// launch and of a CTA, ways of a bank, updates of one address. One line each: name, value, unit.
//
// A chase goes once around a random permutation of lines, so that nothing prefetches it. Bandwidths are
// the best of ten.

#include <cooperative_groups.h>

#include <numeric>
#include <random>

#define FIGURES
#include "driver.cuh"

std::vector<Call> calls() { return {}; }

__global__ void follow(const uint32_t* next, int steps, uint32_t* sink, long long* cycles) {
    uint32_t at = 0;
    for (int i = 0; i < steps; i++) at = next[at * 32];
    const long long first = clock64();
    for (int i = 0; i < steps; i++) at = next[at * 32];
    *cycles = clock64() - first;
    *sink = at;
}

__global__ void follow_shared(int steps, uint32_t* sink, long long* cycles) {
    __shared__ uint32_t next[1024];
    for (int i = 0; i < 1024; i++) next[i] = (i + 33) % 1024;
    uint32_t at = 0;
    const long long first = clock64();
    for (int i = 0; i < steps; i++) at = next[at];
    *cycles = clock64() - first;
    *sink = at;
}

template <int OP> __global__ void dependent(int steps, uint32_t* sink, long long* cycles, float a, uint32_t b) {
    float x = a;
    uint32_t y = b;
    uint64_t z = b;
    __half2 h = __floats2half2_rn(a, a);
    const long long first = clock64();
#pragma unroll 16
    for (int i = 0; i < steps; i++) {
        if (OP == 0) x = fmaf(x, a, a);
        if (OP == 1) y = y * b + b;
        if (OP == 2) y = (y ^ b) + b;
        if (OP == 4) x = __frsqrt_rn(x);
        if (OP == 5) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
        if (OP == 6) z = z * b + b;
        if (OP == 7) h = __hfma2(h, h, h);
        if (OP == 8) __syncthreads();
        if (OP == 9) y = __reduce_max_sync(~0u, y) + b;
        if (OP == 10) y = __ballot_sync(~0u, y > b) + y;
        if (OP == 11) x = __half2float(__float2half_rn(x));
        if (OP == 12) x = a / x;
    }
    *cycles = clock64() - first;
    *sink = y + __float_as_uint(x) + uint32_t(z) + *reinterpret_cast<uint32_t*>(&h);
}

__global__ void ways(int stride, int steps, uint32_t* sink, long long* cycles) {
    extern __shared__ uint32_t tile[];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) tile[i] = 0;
    __syncthreads();
    uint32_t sum = 0, at = threadIdx.x % 32 * stride % 4096;
    const long long first = clock64();
#pragma unroll 8
    for (int i = 0; i < steps; i++) sum += *(volatile uint32_t*)(tile + (at + i % 8 * 32) % 8192);
    __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - first;
    if (sum == 12345) *sink = sum;
}

__global__ void store_lines(uint32_t* out, int stride, int steps, long long* cycles) {
    uint32_t* mine = out + (blockIdx.x * 1024 + threadIdx.x) * stride;
    const long long first = clock64();
    for (int i = 0; i < steps; i++) asm volatile("st.global.u32 [%0], %1;" ::"l"(mine + i % 4), "r"(i) : "memory");
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = clock64() - first;
}

__global__ void read_loop(const uint4* in, size_t pieces, int rounds, uint32_t* sink) {
    uint32_t sum = 0;
    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < pieces; i += gridDim.x * size_t(blockDim.x)) {
            const uint4 v = __ldcg(in + i);
            sum ^= v.x ^ v.y ^ v.z ^ v.w;
        }
    if (sum == 0x9e3779b9) *sink = sum;
}

__global__ void copy_loop(const uint4* in, uint4* out, size_t pieces) {
#pragma unroll 4
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < pieces; i += gridDim.x * size_t(blockDim.x)) out[i] = in[i];
}

__global__ void nothing() {}

__global__ void updates(unsigned* at, unsigned addresses, int steps) {
    const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % addresses;
    for (int s = 0; s < steps; s++) atomicAdd(at + i, 1u);
}

__global__ void grid_syncs(int count) {
    for (int i = 0; i < count; i++) cooperative_groups::this_grid().sync();
}

struct Bench {
    uint8_t *a, *b;
    uint32_t* sink;
    long long* cycles;
    cudaEvent_t start, end;

    long long seen() {
        must(cudaDeviceSynchronize(), "benchmark");
        long long c;
        cudaMemcpy(&c, cycles, 8, cudaMemcpyDeviceToHost);
        return c;
    }
    static void say(const std::string& name, double value, const char* unit) {
        std::printf("%s,%.4g,%s\n", name.c_str(), value, unit);
        std::fflush(stdout);
    }
    double micros(const std::function<void()>& call, int times = 10) {
        double best = 1e30;
        for (int i = 0; i < times; i++) {
            spin<<<264, 1024>>>(60000, reinterpret_cast<uint64_t*>(cycles));
            cudaEventRecord(start);
            call();
            cudaEventRecord(end);
            must(cudaDeviceSynchronize(), "timed");
            float ms;
            cudaEventElapsedTime(&ms, start, end);
            best = std::min(best, ms * 1e3);
        }
        return best;
    }
    template <int OP> void latency(const char* name) {
        dependent<OP><<<1, 32>>>(1024, sink, cycles, 1.5f, 3);
        dependent<OP><<<1, 32>>>(1024, sink, cycles, 1.5f, 3);
        say(std::string("latency ") + name, seen() / 1024.0, "cycles");
    }
    void bank(int stride) {
        for (int warps : {1, 32}) {
            cudaFuncSetAttribute(ways, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
            ways<<<1, warps * 32, 65536>>>(stride, 1024, sink, cycles);
            say("bank stride " + std::to_string(stride) + " warps " + std::to_string(warps), seen() / 1024.0 / warps, "cycles");
        }
    }
    void run() {
        must(cudaMalloc(&a, 1100 * kMiB), "a");
        must(cudaMalloc(&b, 1100 * kMiB), "b");
        cudaMalloc(&sink, 64);
        cudaMalloc(&cycles, 64);
        cudaEventCreate(&start);
        cudaEventCreate(&end);
        std::mt19937 random(7);
        for (size_t kibi : {16, 64, 128, 192, 512, 1024, 8192, 24576, 32768, 49152, 131072, 524288, 1048576}) {
            const size_t lines = kibi * 1024 / 128;
            std::vector<uint32_t> order(lines), next(lines * 32);
            std::iota(order.begin(), order.end(), 0);
            std::shuffle(order.begin() + 1, order.end(), random);
            for (size_t i = 0; i < lines; i++) next[order[i] * 32] = order[(i + 1) % lines];
            cudaMemcpy(a, next.data(), next.size() * 4, cudaMemcpyHostToDevice);
            const int steps = int(std::min<size_t>(lines, 200000));
            follow<<<1, 1>>>(reinterpret_cast<uint32_t*>(a), steps, sink, cycles);
            say("chase KiB " + std::to_string(kibi), double(seen()) / steps, "cycles");
        }
        follow_shared<<<1, 1>>>(4096, sink, cycles);
        say("chase shared", seen() / 4096.0, "cycles");
        latency<0>("fma"); latency<1>("mad.u32"); latency<2>("lop+add"); latency<4>("rsqrt.rn");
        latency<5>("ex2"); latency<6>("mad.u64"); latency<7>("hfma2"); latency<8>("bar 32"); latency<9>("redux+add");
        latency<10>("ballot+add"); latency<11>("cvt f16 and back"); latency<12>("div.rn");
        for (int threads : {128, 256, 1024}) {
            dependent<8><<<1, threads>>>(1024, sink, cycles, 1.5f, 3);
            say("barrier threads " + std::to_string(threads), seen() / 1024.0, "cycles");
        }
        for (int s : {1, 2, 4, 8, 16, 32}) bank(s);
        for (int s : {1, 2, 4, 8, 9, 16, 32})
            for (int ctas : {1, 132}) {
                store_lines<<<ctas, 1024>>>(reinterpret_cast<uint32_t*>(b), s, 256, cycles);
                say("store stride " + std::to_string(s) + " ctas " + std::to_string(ctas), seen() / 256.0 / 32, "cycles");
            }
        for (size_t mebi : {4, 16, 24, 32, 40, 48, 64, 128, 1024}) {
            const size_t pieces = mebi * kMiB / 16;
            const int rounds = mebi >= 1024 ? 1 : int(1024 / mebi);
            const double t = micros([&] { read_loop<<<264, 1024>>>(reinterpret_cast<uint4*>(a), pieces, rounds, sink); }, 4);
            say("read MiB " + std::to_string(mebi), rounds * mebi * kMiB / t * 1e-6, "TB/s");
        }
        for (size_t mebi : {4, 16, 64, 256, 1024}) {
            const double t = micros([&] { copy_loop<<<1056, 512>>>(reinterpret_cast<uint4*>(a), reinterpret_cast<uint4*>(b), mebi * kMiB / 16); });
            say("copy MiB " + std::to_string(mebi), 2.0 * mebi * kMiB / t * 1e-6, "TB/s");
            const double w = micros([&] { write_all<<<1056, 512>>>(reinterpret_cast<uint4*>(b), mebi * kMiB / 16); });
            say("write MiB " + std::to_string(mebi), 1.0 * mebi * kMiB / w * 1e-6, "TB/s");
        }
        say("empty event pair", micros([] {}), "us");
        for (int n : {1, 2, 4, 16}) say("launches " + std::to_string(n), micros([&] { for (int i = 0; i < n; i++) nothing<<<1, 32>>>(); }), "us");
        for (unsigned ctas : {132u, 13200u, 132000u})
            for (unsigned threads : {32u, 256u, 1024u}) say("ctas " + std::to_string(ctas) + " threads " + std::to_string(threads), micros([&] { nothing<<<ctas, threads>>>(); }), "us");
        for (unsigned addresses : {1u, 2u, 32u, 1024u, 32768u})
            say("atomics " + std::to_string(addresses), 1056.0 * 256 * 16 / micros([&] { updates<<<1056, 256>>>(reinterpret_cast<unsigned*>(b), addresses, 16); }), "per us");
        for (int n : {0, 1, 4, 16})
            for (unsigned ctas : {132u, 1056u}) {
                int count = n;
                void* arguments[] = {&count};
                say("grid syncs " + std::to_string(n) + " ctas " + std::to_string(ctas), micros([&] { cudaLaunchCooperativeKernel(grid_syncs, ctas, 128, arguments, 0, 0); }), "us");
            }
    }
};

void figures() { Bench().run(); }
