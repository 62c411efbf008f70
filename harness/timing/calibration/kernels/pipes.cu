// Arithmetic: one kind of instruction at a time, in chains that need each other or not.

#include "driver.cuh"

// `STEPS` times 16 operations in each of CHAINS chains.
template <class Op, int CHAINS> __global__ void chains(const uint32_t* in, uint32_t* out, int steps) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    typename Op::T x[CHAINS];
    for (int c = 0; c < CHAINS; c++) x[c] = Op::start(in[thread % 4096 + c]);
    const typename Op::T a = Op::start(in[1]), b = Op::start(in[2]);
    for (int s = 0; s < steps; s++) {
#pragma unroll
        for (int u = 0; u < 16; u++)
#pragma unroll
            for (int c = 0; c < CHAINS; c++) x[c] = Op::step(x[c], a, b);
    }
    uint32_t sum = 0;
    for (int c = 0; c < CHAINS; c++) sum ^= Op::end(x[c]);
    if (sum == 0x12345678) out[0] = sum;
}

struct Words {
    using T = uint32_t;
    static __device__ T start(uint32_t v) { return v; }
    static __device__ uint32_t end(T x) { return x; }
};
struct Longs {
    using T = uint64_t;
    static __device__ T start(uint32_t v) { return v * 0x100000001ull; }
    static __device__ uint32_t end(T x) { return uint32_t(x >> 32) ^ uint32_t(x); }
};
struct Floats {
    using T = float;
    static __device__ T start(uint32_t v) { return 1.0f + (v & 0xffff) * 1e-6f; }
    static __device__ uint32_t end(T x) { return __float_as_uint(x); }
};
struct Halves {
    using T = __half2;
    static __device__ T start(uint32_t v) { return __floats2half2_rn(1.0f + (v & 15), 0.5f); }
    static __device__ uint32_t end(T x) { return *reinterpret_cast<uint32_t*>(&x); }
};
struct Doubles {
    using T = double;
    static __device__ T start(uint32_t v) { return 1.0 + (v & 0xffff) * 1e-6; }
    static __device__ uint32_t end(T x) { return uint32_t(__double_as_longlong(x)); }
};

struct Fma : Floats { static __device__ T step(T x, T a, T b) { return fmaf(x, a, b); } };
struct Add : Floats { static __device__ T step(T x, T a, T) { return x + a; } };
struct Max : Floats { static __device__ T step(T x, T a, T b) { return fmaxf(x, a) + b; } };
struct Mad : Words { static __device__ T step(T x, T a, T b) { return x * a + b; } };
struct AddXor : Words { static __device__ T step(T x, T a, T b) { return (x + a) ^ b; } };
struct Shift : Words { static __device__ T step(T x, T a, T b) { return (x >> (a & 31)) + b; } };
struct Popc : Words { static __device__ T step(T x, T a, T) { return __popc(x) + a; } };
struct Clz : Words { static __device__ T step(T x, T a, T) { return __clz(x) + a; } };
struct Prmt : Words { static __device__ T step(T x, T a, T b) { return __byte_perm(x, a, b) + 1; } };
struct Select : Words { static __device__ T step(T x, T a, T b) { return x > a ? x - b : x + a; } };
struct Divide : Words { static __device__ T step(T x, T a, T b) { return b / (x | 1) + a; } };
struct Mad64 : Longs { static __device__ T step(T x, T a, T b) { return x * a + b; } };
struct Add64 : Longs { static __device__ T step(T x, T a, T b) { return (x + a) ^ b; } };
struct Shift64 : Longs { static __device__ T step(T x, T a, T b) { return (x >> (a & 63)) + b; } };
struct Select64 : Longs { static __device__ T step(T x, T a, T b) { return x > a ? x - b : x + a; } };
struct Divide64 : Longs { static __device__ T step(T x, T a, T b) { return b / (x | 1) + a; } };
struct Reciprocal : Floats { static __device__ T step(T x, T, T b) { return __frcp_rn(x) + b; } };
struct FastReciprocal : Floats { static __device__ T step(T x, T, T b) { T y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y + b; } };
struct Exponential : Floats { static __device__ T step(T x, T, T) { T y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; } };
struct ExpSlow : Floats { static __device__ T step(T x, T, T) { return expf(-x); } };
struct Root : Floats { static __device__ T step(T x, T, T b) { return sqrtf(x) + b; } };
struct DivideFloat : Floats { static __device__ T step(T x, T a, T b) { return a / x + b; } };
struct Log : Floats { static __device__ T step(T x, T, T b) { return __log2f(x) + b; } };
struct ToHalf : Floats { static __device__ T step(T x, T, T b) { return __half2float(__float2half_rn(x)) + b; } };
struct ToInteger : Floats { static __device__ T step(T x, T, T b) { return float(int(x)) + b; } };
struct ToByte : Words { static __device__ T step(T x, T a, T) { return uint8_t(x) * a; } };
struct ToFp8 : Floats { static __device__ T step(T x, T, T b) { return float(__nv_fp8_e4m3(x)) + b; } };
struct FromFp8 : Words { static __device__ T step(T x, T, T b) {
    __nv_fp8_e4m3 v; v.__x = uint8_t(x); return __float_as_uint(float(v)) + b; } };
struct Round : Floats { static __device__ T step(T x, T, T b) { return rintf(x) + b; } };
struct HalfFma : Halves { static __device__ T step(T x, T a, T b) { return __hfma2(x, a, b); } };
struct HalfMax : Halves { static __device__ T step(T x, T a, T b) { return __hadd2(__hmax2(x, a), b); } };
struct DoubleFma : Doubles { static __device__ T step(T x, T a, T b) { return fma(x, a, b); } };
struct Shuffle : Words { static __device__ T step(T x, T, T) { return __shfl_xor_sync(0xffffffffu, x, 1); } };
struct Vote : Words { static __device__ T step(T x, T a, T) { return __ballot_sync(0xffffffffu, x > a) + x; } };
struct Redux : Words { static __device__ T step(T x, T a, T) { return __reduce_max_sync(0xffffffffu, x) + a; } };
struct Branchy : Words { static __device__ T step(T x, T a, T b) {
    if (x & 1) { asm volatile("" ::: "memory"); x = x * a + b; } else { asm volatile("" ::: "memory"); x = x / 2 + a; } return x; } };
// Seven comparisons that pick one of eight, as FP4 encoders do.
struct Encode : Floats { static __device__ T step(T x, T a, T b) {
    const float y = fabsf(x);
    const unsigned m = (y > 0.25f) + (y >= 0.75f) + (y > 1.25f) + (y >= 1.75f) + (y > 2.5f) + (y >= 3.5f) + (y > 5.0f);
    return a * float(m | __float_as_uint(x) >> 31 << 3) + b; } };

std::vector<Call> calls() {
    std::vector<Call> all;
#define CHAIN(OP, C, THREADS, CTAS, STEPS)                                                         \
    all.push_back({"chains/" #OP " x" #C " " #THREADS, [](const Memory& m) {                       \
        chains<OP, C><<<CTAS, THREADS>>>(m.from<uint32_t>(), m.to<uint32_t>(), STEPS); }})
#define FULL(OP, STEPS) CHAIN(OP, 4, 256, 1056, STEPS)
    CHAIN(Fma, 1, 32, 132, 256); CHAIN(Fma, 1, 256, 132, 256); CHAIN(Fma, 2, 128, 132, 256);
    CHAIN(Fma, 4, 128, 132, 128); CHAIN(Fma, 8, 512, 264, 32); FULL(Fma, 32); CHAIN(Fma, 1, 1024, 264, 64);
    CHAIN(Mad, 1, 128, 132, 256); CHAIN(Mad64, 1, 128, 132, 64); CHAIN(Exponential, 1, 32, 132, 256);
    CHAIN(ToFp8, 1, 128, 132, 128); CHAIN(Shuffle, 1, 32, 132, 256); CHAIN(DivideFloat, 1, 128, 132, 64);
    FULL(Add, 32); FULL(Max, 16); FULL(Mad, 32); FULL(AddXor, 16); FULL(Shift, 16); FULL(Popc, 16);
    FULL(Clz, 16); FULL(Prmt, 16); FULL(Select, 16); FULL(Divide, 4); FULL(Mad64, 8); FULL(Add64, 16);
    FULL(Shift64, 16); FULL(Select64, 16); FULL(Divide64, 1); FULL(Reciprocal, 8); FULL(FastReciprocal, 16);
    FULL(Exponential, 16); FULL(ExpSlow, 8); FULL(Root, 8); FULL(DivideFloat, 4); FULL(Log, 16);
    FULL(ToHalf, 16); FULL(ToInteger, 16); FULL(ToByte, 16); FULL(ToFp8, 8); FULL(FromFp8, 8); FULL(Round, 16);
    FULL(HalfFma, 32); FULL(HalfMax, 16); FULL(DoubleFma, 16); FULL(Shuffle, 8); FULL(Vote, 16); FULL(Redux, 8);
    FULL(Branchy, 8); FULL(Encode, 8);
    return all;
}
