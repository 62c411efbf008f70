// What generated programs consist of, the same for the device and for the host, none of it undefined:
// signed arithmetic goes through unsigned types, shifts and divisors are held to what is allowed,
// conversions of floats to the range of their target.
#pragma once

#ifdef __CUDACC__
#define HD __host__ __device__
#define APART __noinline__
#else
#define HD
#define APART __attribute__((noinline))
#endif
#include <math.h>
#include <string.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;
typedef __int128 i128;
typedef float f32;
typedef double f64;

constexpr u32 THREADS = 64, BLOCKS = 2;

// U: unsigned, and wide enough that nothing is promoted to a signed type.
template <class T> struct Of;
#define INTEGER(T, UNSIGNED, BITS, SIGNED)                                                                     \
    template <> struct Of<T> {                                                                                 \
        typedef UNSIGNED U;                                                                                    \
        static constexpr int bits = BITS;                                                                      \
        static constexpr bool whole = true, with_sign = SIGNED;                                                \
    };
INTEGER(u8, u32, 8, false)
INTEGER(i8, u32, 8, true)
INTEGER(u16, u32, 16, false)
INTEGER(i16, u32, 16, true)
INTEGER(u32, u32, 32, false)
INTEGER(i32, u32, 32, true)
INTEGER(u64, u64, 64, false)
INTEGER(i64, u64, 64, true)
INTEGER(u128, u128, 128, false)
INTEGER(i128, u128, 128, true)
#define FLOAT(T)                                                                                               \
    template <> struct Of<T> {                                                                                 \
        typedef T U;                                                                                           \
        static constexpr int bits = 0;                                                                         \
        static constexpr bool whole = false, with_sign = false;                                                \
    };
FLOAT(f32)
FLOAT(f64)

// Conversions.
template <class T, class S> HD T to(S x) {
    if constexpr (Of<T>::whole && !Of<S>::whole) {
        if constexpr (Of<T>::bits == 128) {
            return (T)to<i64>(x);
        } else {
            constexpr int magnitude = Of<T>::bits - Of<T>::with_sign;
            const S end = (S)((u64)1 << (magnitude - 1)) * 2;
            if (x != x) return 0;
            if (x >= end) return (T)(((((typename Of<T>::U)1 << (magnitude - 1)) - 1) << 1) | 1);
            if (x <= (Of<T>::with_sign ? -end : (S)0)) {
                return Of<T>::with_sign ? (T)((typename Of<T>::U)1 << magnitude % Of<T>::bits) : (T)0;
            }
            return (T)x;
        }
    } else if constexpr (!Of<T>::whole && Of<S>::bits == 128) {
        return (T)(i64)x;
    } else {
        return (T)x;
    }
}

#define BOTH(NAME, WHOLE, FLOATING)                                                                            \
    template <class T> HD T NAME(T a, T b) {                                                                   \
        typedef typename Of<T>::U U;                                                                           \
        if constexpr (Of<T>::whole) {                                                                          \
            return (T)(WHOLE);                                                                                 \
        } else {                                                                                               \
            return FLOATING;                                                                                   \
        }                                                                                                      \
    }
BOTH(add, (U)a + (U)b, a + b)
BOTH(sub, (U)a - (U)b, a - b)
BOTH(mul, (U)a * (U)b, a *b)
BOTH(both_bits, (U)a & (U)b, a + b)
BOTH(either_bit, (U)a | (U)b, a - b)
BOTH(one_bit, (U)a ^ (U)b, a *b)
BOTH(shl, (U)a << ((int)b & (Of<T>::bits - 1)), a + b)
BOTH(shr, a >> ((int)b & (Of<T>::bits - 1)), a - b)
BOTH(least, a < b ? a : b, a < b ? a : b)
BOTH(most, a > b ? a : b, a > b ? a : b)
template <class T> HD T rotate(T a, T b) {
    if constexpr (Of<T>::whole) {
        typedef typename Of<T>::U U;
        constexpr int bits = Of<T>::bits;
        const int by = (int)b & (bits - 1);
        const U x = bits < 32 ? (U)a & (((U)1 << bits % 32) - 1) : (U)a;
        return by == 0 ? a : (T)(x << by | x >> (bits - by));
    } else {
        return a * b;
    }
}
template <class T> HD T quotient(T a, T b) {
    if constexpr (Of<T>::whole) {
        if (Of<T>::with_sign && b == (T)-1) return sub((T)0, a);
        return (T)(a / (T)(b | 1));
    } else {
        return a / b;
    }
}
template <class T> HD T remainder_of(T a, T b) {
    if constexpr (Of<T>::whole) {
        if (Of<T>::with_sign && b == (T)-1) return 0;
        return (T)(a % (T)(b | 1));
    } else {
        return a / b;
    }
}
// Only where the divisor allows it.
template <class T> HD T guarded(T a, T b) {
    if constexpr (Of<T>::whole) {
        if (b == 0 || b == (T)-1) return a;
        return (T)(a / b);
    } else {
        return b != 0 ? a / b : a;
    }
}
template <class T> HD T upper(T a, T b) {
    if constexpr (!Of<T>::whole) {
        return fma(a, b, a);
    } else if constexpr (Of<T>::bits == 128) {
        return add(a, mul((T)(u64)b, (T)(u64)a));
    } else if constexpr (Of<T>::with_sign) {
        return (T)((i128)a * b >> Of<T>::bits);
    } else {
        return (T)((u128)a * b >> Of<T>::bits);
    }
}
// The carry of a sum, and the borrow of a difference, joined to the other's.
template <class T> HD T carried(T a, T b) {
    if constexpr (Of<T>::whole) {
        typedef typename Of<T>::U U;
        const U sum = (U)a + (U)b, difference = (U)a - (U)b;
        return (T)(difference + (sum < (U)a) - ((U)a < (U)b));
    } else {
        return fma(a, a, -b);
    }
}

template <class T> HD T complement(T a) {
    if constexpr (Of<T>::whole) {
        return (T) ~(typename Of<T>::U)a;
    } else {
        return -a;
    }
}
template <class T> HD T negated(T a) {
    if constexpr (Of<T>::whole) {
        return sub((T)0, a);
    } else {
        return -a;
    }
}
template <class T> HD T magnitude(T a) { return a < (T)0 ? negated(a) : a; }
HD inline u32 ones_of(u32 x) {
#ifdef __CUDA_ARCH__
    return __popc(x);
#else
    return __builtin_popcount(x);
#endif
}
HD inline u32 zeros_before(u32 x) {
#ifdef __CUDA_ARCH__
    return __clz(x);
#else
    return x ? __builtin_clz(x) : 32;
#endif
}
HD inline u32 backwards(u32 x) {
#ifdef __CUDA_ARCH__
    return __brev(x);
#else
    u32 y = 0;
    for (int n = 0; n < 32; n++) y |= (x >> n & 1) << (31 - n);
    return y;
#endif
}
template <class T> HD T counted(T a) {
    if constexpr (Of<T>::whole) {
        return (T)(ones_of((u32)a) + 64 * zeros_before((u32)((u64)a >> 7)));
    } else {
        return sqrt(a);
    }
}
template <class T> HD T reversed(T a) {
    if constexpr (Of<T>::whole) {
        return (T)((u64)backwards((u32)a) << 11 | backwards((u32)((u64)a >> 20)));
    } else {
        return floor(a);
    }
}
template <class T> HD T halfway(T a) {
    if constexpr (Of<T>::whole) {
        return to<T>(__half2float(__float2half_rn(to<f32>(a))));
    } else {
        return trunc(a) * (T)0.5;
    }
}

// Through the narrow formats and back: what NVIDIA's headers do on the host is what they mean.
HD inline f32 narrow(u32 which, f32 x) {
    if (x != x) return x;
    switch (which % 10) {
    case 0: return __half2float(__float2half_rn(x));
    case 1: return __half2float(__float2half_rz(x));
    case 2: return __bfloat162float(__float2bfloat16_rn(x));
    case 3: return __bfloat162float(__float2bfloat16_rz(x));
    case 4: return (f32)__nv_fp8_e4m3(x);
    case 5: return (f32)__nv_fp8_e5m2(x);
    case 6: return (f32)__nv_fp6_e2m3(x);
    case 7: return (f32)__nv_fp6_e3m2(x);
    case 8: return (f32)__nv_fp4_e2m1(x);
    default: {
        const __half a = __float2half_rn(x), b = __float2half_rn(x * 0.37f);
        return __half2float(__hadd(__hmul(a, b), a));
    }
    }
}

// Calls that are calls.
HD APART u32 three(u32 x, u32 y) { return x * 3 + (y >> 2); }
HD APART u32 cross(u32 x, u32 y) { return (x ^ y << 7) - (y | 1) % (x | 1); }
HD APART u32 steps(u32 x, u32 y) {
    u32 n = 0;
    for (; x > 1 && n < 20; n++) x = x & 1 ? x * 3 + y : x / 2;
    return n + x;
}
typedef u32 (*Pair)(u32, u32);
HD inline u32 by_pointer(u32 which, u32 x, u32 y) {
    const Pair pairs[3] = {three, cross, steps};
    return pairs[which % 3](x, y);
}
struct Shape {
    u32 size;
    HD Shape(u32 size) : size(size) {}
    HD virtual u32 area(u32 x) const { return size + x; }
};
struct Square : Shape {
    HD Square(u32 size) : Shape(size) {}
    HD u32 area(u32 x) const override { return size * size - x; }
};
struct Ring : Square {
    u32 hole;
    HD Ring(u32 size, u32 hole) : Square(size), hole(hole) {}
    HD u32 area(u32 x) const override { return Square::area(x) - hole * hole; }
};
HD APART u32 area_of(const Shape *shape, u32 x) { return shape->area(x); }
HD inline u32 by_virtual(u32 which, u32 x, u32 y) {
    const Shape a(x);
    const Square b(y);
    const Ring c(x, y);
    const Shape *shapes[3] = {&a, &b, &c};
    return area_of(shapes[which % 3], x ^ y);
}
HD APART u32 climb(u32 n, u32 x) { return n == 0 ? x : climb(n - 1, x * 5 + n) ^ x; }
HD APART u64 binary(u32 n, u32 x) { return n < 2 ? x + n : binary(n - 1, x) * 3 + binary(n - 2, x + 1); }

HD inline u32 called(u32 which, u32 x, u32 y) {
    switch (which % 6) {
    case 0: return by_pointer(x, x, y);
    case 1: return by_virtual(y, x, y);
    case 2: return climb(x % 4, y);
    case 3: return (u32)binary(x % 5, y);
    case 4: return steps(x, y);
    default: return three(y, x);
    }
}

union Word {
    u32 whole;
    u16 halves[2];
    u8 bytes[4];
};
struct Record {
    u8 a;
    u32 b : 5;
    u32 c : 20;
    i32 d : 9;
    i64 e;
    u16 f;
    Word g;
    f32 h;
};
HD inline void fill(Record &r, u32 x) {
    r.a = (u8)x;
    r.b = x >> 3 & 31;
    r.c = x >> 9 & 0xfffff;
    r.d = (i32)(x & 511) - 256;
    r.e = (i64)((u64)x * 0x9e3779b97f4a7c15ull);
    r.f = (u16)(x >> 5);
    r.g.whole = x * 77;
    r.h = (f32)(i32)x;
}

// Everything that a function knows, in one number. One NaN is as good as another.
template <class T> HD u64 bits(T x) {
    if constexpr (Of<T>::whole) {
        return Of<T>::bits == 128 ? (u64)((u128)x >> 64) * 31 + (u64)x : (u64)x;
    } else {
        if (x != x) return 0x7ff8;
        const f64 wide = x;
        u64 y;
        memcpy(&y, &wide, 8);
        return y;
    }
}
HD inline u64 mix(u64 h, u64 x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}
HD inline u64 mix(u64 h, const Record &r) {
    return mix(mix(mix(h, r.a + 3 * r.b), r.c + ((u64)r.d << 32)), (u64)r.e + r.f + r.g.whole + bits(r.h));
}

// Together: what each thread of a block brings, and what it gets.
#ifdef __CUDACC__
__device__ inline u64 together(u32 which, u32 by, u64 x, u64 *room) {
    const u32 t = threadIdx.x, lane = t & 31;
    switch (which % 12) {
    case 0: return __shfl_xor_sync(~0u, x, by & 31);
    case 1: return __shfl_up_sync(~0u, x, by & 31);
    case 2: return __shfl_down_sync(~0u, x, by & 15, 16);
    case 3: return __shfl_sync(~0u, x, (int)(x + by) & 31);
    case 4: return x + __ballot_sync(~0u, x & 4);
    case 5: return x * 2 + (__any_sync(~0u, (x & 31) == by % 32) ? 1 : 0) + (__all_sync(~0u, x & 1) ? 4 : 0);
    case 6: { // among those that are odd, from the first
        const u32 odd = __ballot_sync(~0u, x & 1);
        if (x & 1) {
            x = __shfl_sync(odd, x, __ffs(odd) - 1) + __popc(odd);
        } else {
            x += __popc(__ballot_sync(~odd, x & 2));
        }
        return x;
    }
    case 7: { // through shared memory
        room[t] = x;
        __syncthreads();
        x = room[(t + by) % THREADS] + room[THREADS - 1 - t];
        __syncthreads();
        return x;
    }
    case 8: { // a sum, whatever its order
        if (t == 0) room[0] = by;
        __syncthreads();
        atomicAdd(&room[0], x);
        __syncthreads();
        x ^= room[0];
        __syncthreads();
        return x;
    }
    case 9: { // a histogram
        if (t < 8) ((u32 *)room)[t] = 0;
        __syncthreads();
        atomicAdd(&((u32 *)room)[x & 7], (u32)1);
        __syncthreads();
        x = x * 3 + ((u32 *)room)[by & 7];
        __syncthreads();
        return x;
    }
    case 10: { // a tree
        room[t] = x;
        for (u32 half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) room[t] = room[t] * 3 + room[t + half];
        }
        __syncthreads();
        x += room[0];
        __syncthreads();
        return x;
    }
    default: return x + __reduce_add_sync(~0u, (u32)x) + lane;
    }
}
#endif
inline void together(u32 which, u32 by, u64 *x) {
    u64 old[THREADS];
    for (u32 t = 0; t < THREADS; t++) old[t] = x[t];
    for (u32 first = 0; first < THREADS; first += 32) {
        const u64 *from = old + first;
        u64 *lanes = x + first;
        u32 odd = 0, second = 0, fourth = 0, total = 0;
        bool any = false, all = true;
        for (u32 l = 0; l < 32; l++) {
            odd |= (u32)(from[l] & 1) << l;
            second |= (u32)(from[l] >> 1 & 1) << l;
            fourth |= (u32)(from[l] >> 2 & 1) << l;
            total += (u32)from[l];
            any |= (from[l] & 31) == by % 32;
            all &= from[l] & 1;
        }
        for (u32 l = 0; l < 32; l++) {
            switch (which % 12) {
            case 0: lanes[l] = from[l ^ (by & 31)]; break;
            case 1: lanes[l] = l >= (by & 31) ? from[l - (by & 31)] : from[l]; break;
            case 2: lanes[l] = (l & 15) + (by & 15) < 16 ? from[l + (by & 15)] : from[l]; break;
            case 3: lanes[l] = from[(from[l] + by) & 31]; break;
            case 4: lanes[l] = from[l] + fourth; break;
            case 5: lanes[l] = from[l] * 2 + any + 4 * all; break;
            case 6:
                if (from[l] & 1) {
                    lanes[l] = from[__builtin_ctz(odd)] + __builtin_popcount(odd);
                } else {
                    lanes[l] = from[l] + __builtin_popcount(second & ~odd);
                }
                break;
            case 11: lanes[l] = from[l] + total + l; break;
            }
        }
    }
    u64 sum = by, tree[THREADS];
    u32 histogram[8] = {};
    for (u32 t = 0; t < THREADS; t++) {
        sum += old[t];
        histogram[old[t] & 7]++;
        tree[t] = old[t];
    }
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        for (u32 t = 0; t < half; t++) tree[t] = tree[t] * 3 + tree[t + half];
    }
    for (u32 t = 0; t < THREADS; t++) {
        switch (which % 12) {
        case 7: x[t] = old[(t + by) % THREADS] + old[THREADS - 1 - t]; break;
        case 8: x[t] = old[t] ^ sum; break;
        case 9: x[t] = old[t] * 3 + histogram[by & 7]; break;
        case 10: x[t] = old[t] + tree[0]; break;
        }
    }
}
