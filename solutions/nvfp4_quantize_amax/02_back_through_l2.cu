//! problem = "nvfp4_quantize_amax"
//
// Rung 2: two launches, and a second pass that begins where the first one ended.
//
// What changed:
//
//   first pass   128-bit loads, eight in flight; halves are compared in pairs; a warp agrees with one
//                instruction (redux), a CTA through shared memory, the grid with one atomic a CTA
//   make_scale   gone. The quotient 2688 / amax falls where amax rises, and rounding keeps the
//                order: the least quotient of all CTAs is the quotient of the largest amax. So CTAs
//                divide at once and meet in an atomicMin, which starts from all ones, the largest
//                unsigned number. A tensor of zeros leaves it so, and counts as 1
//   second pass  rung 4 of nvfp4_quantize: a warp fills whole sectors of scales and codes, and the
//                adder rounds to E2M1
//   order        the second pass goes through the rows from the end. What the first one read last
//                is what L2 still holds: 50 MB on an H200, 126 MB on a B200, where the largest
//                matrix here, 64 MB, stays whole
//
// What to expect: 4.56 bytes an element from DRAM where nothing is found in L2, 2.56 where all is.
//
// Seen on an H200 (2026-11-20, sm_90a, cold L2, median of 31 calls, microseconds): 9.5 for 1024 x
// 1024, 11.5 for 2048 x 2048, 39.5 for 4096 x 8192, 74.0 for 8192 x 8192. The last is 0.56 of the
// bandwidth of a device-to-device copy of as many bytes. That is 4.56 bytes an element at the speed
// of a copy: of a matrix larger than L2 the second pass finds next to nothing there.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

constexpr unsigned kWarps = 8;  // of a CTA
constexpr unsigned kTiles = 2;  // of scales, for each warp
constexpr unsigned kUntouched = 0xffffffffu;
constexpr unsigned kLoads = 8;  // of sixteen bytes, for each thread of the first pass

// Sixteen halves.
struct Block {
    uint32_t pairs[8];
};

// p is aligned to 32 bytes.
__device__ __forceinline__ Block load(const Block* p) {
    Block b;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && __CUDACC_VER_MAJOR__ >= 13
    asm volatile("ld.global.nc.L1::no_allocate.L2::evict_first.v8.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(b.pairs[0]), "=r"(b.pairs[1]), "=r"(b.pairs[2]), "=r"(b.pairs[3]),
                   "=r"(b.pairs[4]), "=r"(b.pairs[5]), "=r"(b.pairs[6]), "=r"(b.pairs[7])
                 : "l"(p));
#else
    const uint4 low = __ldcs(reinterpret_cast<const uint4*>(p));
    const uint4 high = __ldcs(reinterpret_cast<const uint4*>(p) + 1);
    b.pairs[0] = low.x, b.pairs[1] = low.y, b.pairs[2] = low.z, b.pairs[3] = low.w;
    b.pairs[4] = high.x, b.pairs[5] = high.y, b.pairs[6] = high.z, b.pairs[7] = high.w;
#endif
    return b;
}

__device__ __forceinline__ __half2 halves(uint32_t pair) {
    return *reinterpret_cast<const __half2*>(&pair);
}

// The largest magnitude of a CTA's part, as the global scale that it would make.
__global__ void __launch_bounds__(32 * kWarps)
    find_scale(const uint4* a, unsigned* sf_g, size_t eighths) {
    const size_t first = blockIdx.x * size_t(blockDim.x * kLoads) + threadIdx.x;
    uint4 words[kLoads];
#pragma unroll
    for (unsigned i = 0; i < kLoads; i++) {
        // Behind the end the last ones count again.
        words[i] = a[min(first + i * blockDim.x, eighths - 1)];
    }
    __half2 largest = __float2half2_rn(0.0f);
#pragma unroll
    for (unsigned i = 0; i < kLoads; i++) {
        for (uint32_t pair : {words[i].x, words[i].y, words[i].z, words[i].w}) {
            largest = __hmax2(largest, __habs2(halves(pair)));
        }
    }
    const unsigned own = __half_as_ushort(__hmax(__low2half(largest), __high2half(largest)));

    __shared__ unsigned of_warp[kWarps];
    const unsigned of_own_warp = __reduce_max_sync(0xffffffffu, own);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = of_own_warp;
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned bits = 0;
    for (unsigned warp = 0; warp < kWarps; warp++) bits = max(bits, of_warp[warp]);
    const float amax = __half2float(__ushort_as_half(bits));
    if (amax > 0.0f) atomicMin(sf_g, __float_as_uint(2688.0f / amax));
}

__device__ __forceinline__ float amax_of(const Block& b) {
    __half2 largest = __habs2(halves(b.pairs[0]));
#pragma unroll
    for (int i = 1; i < 8; i++) largest = __hmax2(largest, __habs2(halves(b.pairs[i])));
    return __half2float(__hmax(__low2half(largest), __high2half(largest)));
}

__device__ __forceinline__ float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// Code of |x * factor|, as above. Floats that are not negative are ordered like their bits.
__device__ __forceinline__ unsigned magnitude(float x, float factor) {
    const float y = fabsf(x);
    const int halves = __float_as_int(fmaf(y, 2.0f * factor, 8388608.0f));
    const int ones = __float_as_int(fmaf(y, factor, 8388610.0f));
    const int twos = __float_as_int(fmaf(y, 0.5f * factor, 8388612.0f));
    return min(min(min(halves, ones), twos) - 0x4b000000, 7);
}

// Codes of eight elements times `factor`, the first in the lowest nibble.
__device__ __forceinline__ uint32_t pack(const uint32_t* pairs, float factor) {
    uint32_t codes = 0;
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL) \
    || (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000)
    const float2 x0 = __half22float2(halves(pairs[0])), x1 = __half22float2(halves(pairs[1]));
    const float2 x2 = __half22float2(halves(pairs[2])), x3 = __half22float2(halves(pairs[3]));
    // The first operand goes to the high nibble.
    asm("{\n"
        ".reg .b8 b0, b1, b2, b3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b0, %2, %1;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b1, %4, %3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b2, %6, %5;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b3, %8, %7;\n"
        "mov.b32 %0, {b0, b1, b2, b3};\n"
        "}"
        : "=r"(codes)
        : "f"(x0.x * factor), "f"(x0.y * factor), "f"(x1.x * factor), "f"(x1.y * factor),
          "f"(x2.x * factor), "f"(x2.y * factor), "f"(x3.x * factor), "f"(x3.y * factor));
    return codes;
#else
    // The signs travel apart: a funnel shift takes the upper four bits of a float, of which the
    // first is the sign, and one mask at the end cleans all eight.
    uint32_t signs = 0;
#pragma unroll
    for (int i = 3; i >= 0; i--) {
        const float2 x = __half22float2(halves(pairs[i]));
        signs = __funnelshift_l(__float_as_uint(x.y), signs, 4);
        signs = __funnelshift_l(__float_as_uint(x.x), signs, 4);
        codes = codes * 16 + magnitude(x.y, factor);
        codes = codes * 16 + magnitude(x.x, factor);
    }
    return codes | (signs & 0x88888888u);
#endif
}

__global__ void __launch_bounds__(32 * kWarps, 6)
    quantize(const Block* a, unsigned* global, uint2* q, uint8_t* scale, unsigned m,
             unsigned columns) {
    const unsigned lane = threadIdx.x;
    const unsigned tiles = (columns + 3) / 4;
    const unsigned first = (blockIdx.x * blockDim.y + threadIdx.y) * kTiles;
    // From the end to the start: the first pass has just been there.
    const unsigned octet = gridDim.y - 1 - blockIdx.y;
    const unsigned row = octet / 16 * 128 + lane / 4 % 4 * 32 + octet % 16 * 2 + lane / 16;

    // Tiles along the row in which this lane has a block. Outside the matrix everything is zero, and
    // so are then the scales: the pads.
    const unsigned own = row < m ? (columns + 3 - lane % 4) / 4 : 0;
    const size_t block = size_t(row) * columns + lane % 4;
    Block blocks[kTiles];
#pragma unroll
    for (unsigned u = 0; u < kTiles; u++) {
        blocks[u] = first + u < own ? load(a + block + (first + u) * 4) : Block{};
    }

    // Nothing was larger than zero: whoever writes the 1 and whoever still reads the start agree.
    // Volatile, since the two are at it together.
    volatile unsigned* const shared_by_all = global;
    const unsigned bits = *shared_by_all;
    const float sf_g = bits == kUntouched ? 1.0f : __uint_as_float(bits);
    if (bits == kUntouched && first == 0 && octet == 0 && lane == 0) {
        *shared_by_all = __float_as_uint(1.0f);
    }
    const float inverse = reciprocal(sf_g);
#pragma unroll
    for (unsigned u = 0; u < kTiles; u++) {
        if (first + u >= tiles) return;
        const __nv_fp8_e4m3 byte(sf_g * (amax_of(blocks[u]) * (1.0f / 6.0f)));
        const float stored = float(byte);
        // A block whose scale vanished has the value 0 whatever its codes are.
        const float factor = stored == 0.0f ? 0.0f : reciprocal(stored * inverse);
        if (first + u < own) {
            q[block + (first + u) * 4] =
                make_uint2(pack(blocks[u].pairs, factor), pack(blocks[u].pairs + 4, factor));
        }
        const size_t tile = size_t(octet / 16) * tiles + first + u;
        scale[tile * 512 + octet % 16 * 32 + lane] = byte.__x;
    }
}

extern "C" void solution(const __half* a, uint8_t* q, uint8_t* scale, float* sf_g, size_t m,
                         size_t k) {
    unsigned* global = reinterpret_cast<unsigned*>(sf_g);
    cudaMemsetAsync(global, 0xff, sizeof(unsigned));
    const size_t eighths = m * k / 8, part = 32 * kWarps * kLoads;
    find_scale<<<unsigned((eighths + part - 1) / part), 32 * kWarps>>>(
        reinterpret_cast<const uint4*>(a), global, eighths);

    const unsigned columns = unsigned(k / 16), tiles = (columns + 3) / 4;
    const unsigned per_cta = kWarps * kTiles;
    // The second dimension ends at 65,535: half a million rows.
    const dim3 grid((tiles + per_cta - 1) / per_cta, unsigned((m + 127) / 128 * 16));
    quantize<<<grid, dim3(32, kWarps)>>>(reinterpret_cast<const Block*>(a), global,
                                         reinterpret_cast<uint2*>(q), scale, unsigned(m), columns);
}
