// What every calibration program consists of, besides its kernels: a list of named calls, and a main
// that either times each on a GPU or lets the emulator count it.
//
//   program time    one line a call: name, median and quartiles of microseconds, samples, clock in MHz
//   program figures    microbenchmarks, where a program has them
//   program count   each call once, behind a launch of `call_begins` whose grid has its number plus one
//
// One timed call is the stopwatch's (judge, device/cuda/stopwatch.rs): twice L2 is written and then
// read, the GPU is awaited, a spin on every SM covers the host's enqueuing, and one pair of events
// stands around the call.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr size_t kMiB = size_t(1) << 20;
constexpr size_t kBytes = 144 * kMiB;   // of each of the two arrays
constexpr size_t kNumbers = 96 * kMiB;  // from here to 140 MiB the bits are floats between -1 and 1

struct Memory {
    uint8_t* in;   // random bits
    uint8_t* out;  // zeros at first
    template <class T> const T* from(size_t byte = 0) const {
        return reinterpret_cast<const T*>(in + byte);
    }
    template <class T> T* to(size_t byte = 0) const { return reinterpret_cast<T*>(out + byte); }
};

struct Call {
    std::string name;
    std::function<void(const Memory&)> run;
};

// Each program defines this: its calls.
std::vector<Call> calls();
// `program figures`: microbenchmarks, where a program has them.
void figures();

inline void must(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

__global__ void call_begins() {}

__global__ void write_all(uint4* to, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
         i += gridDim.x * size_t(blockDim.x))
        to[i] = make_uint4(1, 2, 3, 4);
}

__global__ void read_all(const uint4* from, size_t count, uint32_t* sink) {
    uint32_t sum = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
         i += gridDim.x * size_t(blockDim.x)) {
        const uint4 v = from[i];
        sum |= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x9e3779b9) *sink = sum;
}

__global__ void spin(uint64_t cycles, uint64_t* seen) {
    const uint64_t first = clock64();
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    while (clock64() - first < cycles) {}
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        uint64_t end;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
        seen[0] = clock64() - first;
        seen[1] = end - time;
    }
}

struct Stopwatch {
    uint4* flush;
    size_t pieces;
    uint64_t* words;
    cudaEvent_t start, end;
    int sms;
    uint64_t spin_cycles = 60000;

    Stopwatch() {
        int l2 = 0;
        cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
        pieces = 2 * size_t(l2) / sizeof(uint4);
        must(cudaMalloc(&flush, pieces * sizeof(uint4)), "flush");
        must(cudaMalloc(&words, 64), "words");
        cudaEventCreate(&start);
        cudaEventCreate(&end);
    }

    float micros(const std::function<void()>& call) {
        write_all<<<sms * 8, 256>>>(flush, pieces);
        read_all<<<sms * 8, 256>>>(flush, pieces, reinterpret_cast<uint32_t*>(words + 4));
        must(cudaDeviceSynchronize(), "flush");
        spin<<<sms * 2, 1024>>>(spin_cycles, words);
        cudaEventRecord(start);
        const auto begun = std::chrono::steady_clock::now();
        call();
        const auto host = std::chrono::steady_clock::now() - begun;
        cudaEventRecord(end);
        must(cudaDeviceSynchronize(), "call");
        const double cycles = 4.0 * std::chrono::duration<double, std::nano>(host).count();
        spin_cycles = uint64_t(std::clamp(cycles, 40000.0, 200000.0));
        float milliseconds = 0;
        cudaEventElapsedTime(&milliseconds, start, end);
        return milliseconds * 1e3f;
    }

    double clock() const {
        uint64_t seen[2] = {};
        cudaMemcpy(seen, words, sizeof seen, cudaMemcpyDeviceToHost);
        return seen[1] ? seen[0] * 1e3 / seen[1] : 0.0;
    }
};

inline void time_all(const char* program, const Memory& memory) {
    Stopwatch watch;
    for (int i = 0; i < 200; i++) watch.micros([] {});
    for (const Call& call : calls()) {
        std::vector<float> all;
        float spent = 0;
        // Enough for the quartiles; slow calls scatter less.
        for (int i = 0; i < 53 && (i < 13 || spent < 30e3f); i++) {
            const float time = watch.micros([&] { call.run(memory); });
            must(cudaGetLastError(), call.name.c_str());
            spent += time;
            if (i >= 2) all.push_back(time);
        }
        std::sort(all.begin(), all.end());
        std::printf("%s,%s,%.3f,%.3f,%.3f,%zu,%.0f\n", program, call.name.c_str(),
                    all[all.size() / 2], all[all.size() / 4], all[all.size() * 3 / 4], all.size(),
                    watch.clock());
        std::fflush(stdout);
    }
}

inline void count_all(const Memory& memory, int only) {
    const std::vector<Call> all = calls();
    for (size_t i = 0; i < all.size(); i++) {
        if (only >= 0 && size_t(only) != i) continue;
        call_begins<<<unsigned(i + 1), 1>>>();
        all[i].run(memory);
        must(cudaDeviceSynchronize(), all[i].name.c_str());
        std::printf("%zu,%s\n", i, all[i].name.c_str());
    }
}

#ifndef FIGURES
void figures() {}
#endif

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "time";
    std::vector<uint64_t> bits(kBytes / 8);
    uint64_t state = 0x9e3779b97f4a7c15;
    for (uint64_t& word : bits) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        word = state;
    }
    for (size_t at = kNumbers / 8; at < 140 * kMiB / 8; at++) {
        const float pair[2] = {int32_t(bits[at]) * 0x1p-31f, int32_t(bits[at] >> 32) * 0x1p-31f};
        std::memcpy(&bits[at], pair, sizeof pair);
    }
    Memory memory;
    must(cudaMalloc(&memory.in, kBytes), "in");
    must(cudaMalloc(&memory.out, kBytes), "out");
    must(cudaMemcpy(memory.in, bits.data(), kBytes, cudaMemcpyHostToDevice), "copy");
    must(cudaMemset(memory.out, 0, kBytes), "clear");
    std::string name = words[0];
    name = name.substr(name.find_last_of('/') + 1);
    if (what == "figures") {
        figures();
    } else if (what == "count") {
        count_all(memory, count > 2 ? std::atoi(words[2]) : -1);
    } else {
        time_all(name.c_str(), memory);
    }
    return 0;
}

inline unsigned ceil_div(size_t a, size_t b) { return unsigned((a + b - 1) / b); }
