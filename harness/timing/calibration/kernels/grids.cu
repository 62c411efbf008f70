// CTAs and launches: how many, how large, how uneven, one after the other; atomics and barriers.

#include <cooperative_groups.h>

#include "driver.cuh"

__global__ void nothing() {}

__global__ void little(const float* in, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1.0f;
}

// `steps` dependent multiply-adds; CTAs with a high number do more of them where `skew` is set.
__global__ void busy(float* out, int steps, int skew) {
    float x = threadIdx.x;
    const int mine = skew ? steps * int(blockIdx.x) / int(gridDim.x) * 2 : steps;
    for (int i = 0; i < mine; i++) x = x * 1.0001f + 0.5f;
    if (x == 0.12345f) out[0] = x;
}

__global__ void grid_barriers(const float* in, float* out, int barriers) {
    const auto grid = cooperative_groups::this_grid();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int b = 0; b < barriers; b++) {
        out[i] = x;
        grid.sync();
        x += out[(i + 4097) % (gridDim.x * blockDim.x)];
        grid.sync();
    }
    out[i + (1 << 22)] = x;
}

// A maximum over everything, a barrier of its own making, then a second pass over the same.
__global__ void two_passes(const float4* in, float4* out, size_t count, unsigned* meeting) {
    const auto grid = cooperative_groups::this_grid();
    const size_t step = gridDim.x * size_t(blockDim.x);
    float most = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += step) {
        const float4 v = in[i];
        most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    const unsigned bits = __reduce_max_sync(0xffffffffu, __float_as_uint(most) & 0x7fffffffu);
    if (threadIdx.x % 32 == 0) atomicMax(meeting, bits);
    grid.sync();
    const float scale = __uint_as_float(*(volatile unsigned*)meeting);
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += step) {
        float4 v = in[i];
        v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
        out[i] = v;
    }
}

enum class Who { Thread, Warp, Cta };
// One update each of `addresses` words, neighbouring threads at neighbouring ones.
template <Who WHO, class T> __global__ void update(const uint32_t* in, T* out, unsigned addresses) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t v = in[thread];
    const uint32_t at = addresses >= 1024 ? v % addresses : thread % addresses;
    if (WHO == Who::Thread) atomicAdd(out + at, T(v & 3));
    if (WHO == Who::Warp && threadIdx.x % 32 == 0) atomicAdd(out + thread / 32 % addresses, T(v & 3));
    if (WHO == Who::Cta && threadIdx.x == 0) atomicAdd(out + blockIdx.x % addresses, T(v & 3));
}

__global__ void update_max(const uint32_t* in, uint32_t* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(out, in[thread] >> 1);
}

__global__ void histogram(const uint8_t* in, unsigned* out, unsigned mask) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 16; i++) atomicAdd(bins + (in[(blockIdx.x * 16 + i) * 256 + threadIdx.x] & mask), 1u);
    __syncthreads();
    atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}

__global__ void barriers(float* out, int count) {
    __shared__ float tile[1024];
    float x = threadIdx.x;
    for (int i = 0; i < count; i++) {
        tile[threadIdx.x] = x;
        __syncthreads();
        x += tile[(threadIdx.x + 33) % blockDim.x];
        __syncthreads();
    }
    if (x == 0.12345f) out[0] = x;
}

// A sum over a CTA's threads by halves, as in the first tutorial.
__global__ void tree(const float* in, float* out) {
    __shared__ float tile[256];
    tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

__global__ void warp_sums(const float* in, float* out) {
    float x = in[blockIdx.x * 256 + threadIdx.x];
    for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
    if (threadIdx.x % 32 == 0) out[(blockIdx.x * 256 + threadIdx.x) / 32] = x;
}

std::vector<Call> calls() {
    std::vector<Call> all;
    for (unsigned ctas : {1u, 132u, 1056u, 8192u, 65536u, 262144u})
        for (unsigned threads : {32u, 256u, 1024u})
            if (ctas * size_t(threads) <= 32u << 20)
                all.push_back({"nothing/" + std::to_string(ctas) + " x " + std::to_string(threads),
                               [=](const Memory&) { nothing<<<ctas, threads>>>(); }});
    for (unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u})
        all.push_back({"little/threads " + std::to_string(threads), [=](const Memory& m) {
            little<<<(1 << 22) / threads, threads>>>(m.from<float>(), m.to<float>()); }});
    for (unsigned launches : {1, 2, 3, 4, 8, 16})
        all.push_back({"launches/" + std::to_string(launches), [=](const Memory& m) {
            for (unsigned i = 0; i < launches; i++) little<<<1024, 256>>>(m.from<float>(), m.to<float>()); }});
    all.push_back({"launches/empty 4", [](const Memory&) { for (int i = 0; i < 4; i++) nothing<<<1, 1>>>(); }});
    all.push_back({"launches/memset first", [](const Memory& m) {
        cudaMemsetAsync(m.out, 0, 4);
        little<<<1024, 256>>>(m.from<float>(), m.to<float>()); }});
    all.push_back({"launches/memset 16 MiB", [](const Memory& m) { cudaMemsetAsync(m.out, 0, 16 * kMiB); }});
    all.push_back({"launches/copy 16 MiB", [](const Memory& m) {
        cudaMemcpyAsync(m.out, m.in, 16 * kMiB, cudaMemcpyDeviceToDevice); }});
    // One CTA an SM by its shared memory: whole waves.
    for (unsigned ctas : {66u, 131u, 132u, 133u, 198u, 263u, 264u, 265u, 396u, 400u})
        all.push_back({"waves/" + std::to_string(ctas), [=](const Memory& m) {
            cudaFuncSetAttribute(busy, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
            busy<<<ctas, 256, 200 << 10>>>(m.to<float>(), 8000, 0); }});
    for (unsigned ctas : {1056u, 1057u, 1584u, 2112u})
        all.push_back({"waves/full " + std::to_string(ctas), [=](const Memory& m) {
            busy<<<ctas, 256>>>(m.to<float>(), 4000, 0); }});
    for (unsigned ctas : {132u, 264u, 1056u, 4224u})
        all.push_back({"uneven/" + std::to_string(ctas), [=](const Memory& m) {
            busy<<<ctas, 256>>>(m.to<float>(), 4000, 1); }});
    for (int barriers : {0, 1, 2, 4, 8})
        all.push_back({"grid_barriers/" + std::to_string(barriers), [=](const Memory& m) {
            const float* in = m.from<float>();
            float* out = m.to<float>();
            int count = barriers;
            void* arguments[] = {&in, &out, &count};
            must(cudaLaunchCooperativeKernel(grid_barriers, 264, 256, arguments, 0, 0), "cooperative"); }});
    for (size_t mebi : {2, 8, 64})
        for (unsigned each : {1u, 2u})
            all.push_back({"two_passes/" + std::to_string(mebi) + " MiB x " + std::to_string(each), [=](const Memory& m) {
                const float4* in = m.from<float4>();
                float4* out = m.to<float4>(1024);
                size_t count = mebi * kMiB / 16;
                unsigned* meeting = m.to<unsigned>();
                void* arguments[] = {&in, &out, &count, &meeting};
                must(cudaLaunchCooperativeKernel(two_passes, 132 * each, 512, arguments, 0, 0), "cooperative"); }});
    for (unsigned addresses : {1u, 32u, 1024u, 1u << 20})
        all.push_back({"update/threads of " + std::to_string(addresses), [=](const Memory& m) {
            update<Who::Thread><<<1024, 256>>>(m.from<uint32_t>(), m.to<unsigned>(), addresses); }});
    for (unsigned addresses : {1u, 32u, 1024u})
        all.push_back({"update/floats of " + std::to_string(addresses), [=](const Memory& m) {
            update<Who::Thread><<<1024, 256>>>(m.from<uint32_t>(), m.to<float>(), addresses); }});
    all.push_back({"update/warps of 1", [](const Memory& m) {
        update<Who::Warp><<<4096, 256>>>(m.from<uint32_t>(), m.to<unsigned>(), 1); }});
    all.push_back({"update/float warps of 1", [](const Memory& m) {
        update<Who::Warp><<<4096, 256>>>(m.from<uint32_t>(), m.to<float>(), 1); }});
    all.push_back({"update/warps of 64", [](const Memory& m) {
        update<Who::Warp><<<4096, 256>>>(m.from<uint32_t>(), m.to<unsigned>(), 64); }});
    all.push_back({"update/ctas of 1", [](const Memory& m) {
        update<Who::Cta><<<8192, 256>>>(m.from<uint32_t>(), m.to<unsigned>(), 1); }});
    all.push_back({"update/maximum", [](const Memory& m) {
        update_max<<<2048, 256>>>(m.from<uint32_t>(), m.to<uint32_t>()); }});
    for (unsigned mask : {255u, 15u, 0u})
        all.push_back({"histogram/" + std::to_string(mask), [=](const Memory& m) {
            histogram<<<4096, 256>>>(m.in, m.to<unsigned>(), mask); }});
    for (unsigned threads : {32u, 128u, 256u, 1024u})
        all.push_back({"barriers/threads " + std::to_string(threads), [=](const Memory& m) {
            barriers<<<132 * 2048 / threads, threads>>>(m.to<float>(), 100); }});
    all.push_back({"barriers/alone 256", [](const Memory& m) { barriers<<<132, 256>>>(m.to<float>(), 200); }});
    all.push_back({"barriers/alone 1024", [](const Memory& m) { barriers<<<132, 1024>>>(m.to<float>(), 200); }});
    all.push_back({"sums/tree", [](const Memory& m) { tree<<<32768, 256>>>(m.from<float>(), m.to<float>()); }});
    all.push_back({"sums/shuffles", [](const Memory& m) { warp_sums<<<32768, 256>>>(m.from<float>(), m.to<float>()); }});
    return all;
}
