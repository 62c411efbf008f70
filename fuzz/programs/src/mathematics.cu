// The functions of CUDA's mathematics appendix, and on the host what they are in quadruple precision.
//
// For the device each function is a kernel, `NAME_f32` and `NAME_f64`. The host's program reads what
// they stored and says which results are further from the exact ones than NVIDIA documents ("Mathematical
// Functions" in the CUDA programming guide: in units of the last place of the correctly rounded result,
// hence half a unit more here).

// NAME, documented error of the single and of the double, the exact function of quadruples, in which
// T tells whether what is asked for is a single or a double.
#define ONE(F)                                                                                                 \
    F(sqrt, 0, 0, sqrtq(x))                                                                                    \
    F(rsqrt, 2, 1, 1 / sqrtq(x))                                                                               \
    F(cbrt, 1, 1, cbrtq(x))                                                                                    \
    F(rcbrt, 2, 1, 1 / cbrtq(x))                                                                               \
    F(exp, 2, 1, expq(x))                                                                                      \
    F(exp2, 2, 1, exp2_(x))                                                                                    \
    F(exp10, 2, 1, powq(10, x))                                                                                \
    F(expm1, 1, 1, expm1q(x))                                                                                  \
    F(log, 1, 1, logq(x))                                                                                      \
    F(log2, 1, 1, log2q(x))                                                                                    \
    F(log10, 2, 1, log10q(x))                                                                                  \
    F(log1p, 1, 1, log1pq(x))                                                                                  \
    F(sin, 2, 2, sinq(x))                                                                                      \
    F(cos, 2, 2, cosq(x))                                                                                      \
    F(tan, 4, 2, tanq(x))                                                                                      \
    F(sinpi, 1, 2, sinpi_(x))                                                                                  \
    F(cospi, 1, 2, cospi_(x))                                                                                  \
    F(asin, 4, 2, asinq(x))                                                                                    \
    F(acos, 3, 2, acosq(x))                                                                                    \
    F(atan, 2, 2, atanq(x))                                                                                    \
    F(sinh, 3, 2, sinhq(x))                                                                                    \
    F(cosh, 2, 1, coshq(x))                                                                                    \
    F(tanh, 2, 1, tanhq(x))                                                                                    \
    F(asinh, 3, 3, asinhq(x))                                                                                  \
    F(acosh, 4, 3, acoshq(x))                                                                                  \
    F(atanh, 3, 2, atanhq(x))                                                                                  \
    F(erf, 2, 2, erfq(x))                                                                                      \
    F(erfc, 6, 5, erfcq(x))                                                                                    \
    F(erfcx, 6, 4, erfcx_(x))                                                                                  \
    F(erfinv, 2, 5, erfinv_(x))                                                                                \
    F(erfcinv, 4, 6, erfcinv_(x))                                                                              \
    F(normcdf, 5, 5, erfcq(-x * M_SQRT1_2q) / 2)                                                               \
    F(normcdfinv, 5, 8, -M_SQRT2q *erfcinv_(2 * x))                                                            \
    F(lgamma, 6, 4, lgammaq(x))                                                                                \
    F(tgamma, 11, 10, tgamma_(x))                                                                              \
    F(j0, 9, 7, j0q(x))                                                                                        \
    F(j1, 9, 7, j1q(x))                                                                                        \
    F(y0, 9, 7, y0q(x))                                                                                        \
    F(y1, 9, 7, y1q(x))                                                                                        \
    F(cyl_bessel_i0, 6, 6, bessel_i(0, x))                                                                     \
    F(cyl_bessel_i1, 6, 6, bessel_i(1, x))                                                                     \
    F(trunc, 0, 0, truncq(x))                                                                                  \
    F(ceil, 0, 0, ceilq(x))                                                                                    \
    F(floor, 0, 0, floorq(x))                                                                                  \
    F(round, 0, 0, roundq(x))                                                                                  \
    F(rint, 0, 0, rintq(x))                                                                                    \
    F(logb, 0, 0, logbq(x))                                                                                    \
    F(fabs, 0, 0, fabsq(x))
#define TWO(F)                                                                                                 \
    F(hypot, 3, 2, hypotq(x, y))                                                                               \
    F(rhypot, 2, 1, 1 / hypotq(x, y))                                                                          \
    F(atan2, 3, 2, atan2q(x, y))                                                                               \
    F(pow, 9, 2, powq(x, y))                                                                                   \
    F(fmod, 0, 0, fmodq(x, y))                                                                                 \
    F(remainder, 0, 0, remainderq(x, y))                                                                       \
    F(fdim, 0, 0, fdimq(x, y))                                                                                 \
    F(fmin, 0, 0, fminq(x, y))                                                                                 \
    F(fmax, 0, 0, fmaxq(x, y))

#ifdef __CUDACC__
#define COUNT 16384
#define KERNEL(NAME, TYPE, SUFFIX, ...)                                                                        \
    extern "C" __global__ void NAME##_##SUFFIX(TYPE *out, const TYPE *a, const TYPE *b) {                      \
        const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        const TYPE x = a[at], y = b[at];                                                                       \
        (void)y;                                                                                               \
        out[at] = __VA_ARGS__;                                                                                 \
    }
#define FIRST(NAME, SINGLE, DOUBLE, ...) KERNEL(NAME, float, f32, NAME##f(x)) KERNEL(NAME, double, f64, NAME(x))
#define SECOND(NAME, SINGLE, DOUBLE, ...)                                                                      \
    KERNEL(NAME, float, f32, NAME##f(x, y)) KERNEL(NAME, double, f64, NAME(x, y))
ONE(FIRST)
TWO(SECOND)
#else
#include <quadmath.h>
#include <stdio.h>
#include <string.h>

typedef __float128 quad;

static quad exp2_(quad x) { return powq(2, x); }
static quad sinpi_(quad x) {
    const quad rest = fmodq(fabsq(x), 2);
    const quad part = rest < 0.5q ? sinq(M_PIq * rest)
                      : rest < 1.5q ? sinq(M_PIq * (1 - rest))
                                    : sinq(M_PIq * (rest - 2));
    return isinfq(x) ? nanq("") : copysignq(1, x) * part;
}
static quad cospi_(quad x) {
    const quad rest = fmodq(fabsq(x), 2);
    if (isinfq(x)) return nanq("");
    if (rest <= 0.25q || rest >= 1.75q) return cosq(M_PIq * rest);
    if (rest >= 0.75q && rest <= 1.25q) return -cosq(M_PIq * (rest - 1));
    return rest < 1 ? sinq(M_PIq * (0.5q - rest)) : sinq(M_PIq * (rest - 1.5q));
}
static quad tgamma_(quad x) {
    if (isinfq(x) && x < 0) return nanq("");
    if (x < 0 && x == floorq(x)) return nanq("");
    if (x > 3000) return HUGE_VALQ;
    return tgammaq(x);
}
// e^(x*x) erfc(x): by its continued fraction where that converges well.
static quad erfcx_(quad x) {
    if (x < 20) return expq(x * x) * erfcq(x);
    quad below = x;
    for (int n = 120; n > 0; n--) below = x + n / 2.0q / below;
    return 1 / (below * sqrtq(M_PIq));
}
// The root of a falling or rising function, by halving what holds it.
template <class F> static quad root(quad low, quad high, bool rises, quad value, F f) {
    for (int n = 0; n < 130; n++) {
        const quad middle = (low + high) / 2;
        if ((f(middle) < value) == rises) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}
static quad erfcinv_(quad x) {
    if (!(x >= 0 && x <= 2)) return nanq("");
    if (x == 0) return HUGE_VALQ;
    if (x == 2) return -HUGE_VALQ;
    if (x == 1) return 0;
    if (x > 0.5q && x < 1.5q) return root(-1, 1, true, 1 - x, erfq);
    return root(-30, 30, false, x, erfcq);
}
static quad erfinv_(quad x) {
    if (!(fabsq(x) <= 1)) return nanq("");
    if (fabsq(x) == 1) return copysignq(HUGE_VALQ, x);
    if (fabsq(x) < 1e-12q) return x * sqrtq(M_PIq) / 2 * (1 + M_PIq * x * x / 12);
    if (fabsq(x) < 0.5q) return root(-1, 1, true, x, erfq);
    return copysignq(root(0, 30, false, 1 - fabsq(x), erfcq), x);
}
static quad bessel_i(int order, quad x) {
    if (isinfq(x)) return order ? x : fabsq(x);
    if (fabsq(x) > 2000) return order ? copysignq(HUGE_VALQ, x) : HUGE_VALQ;
    const quad half = x / 2;
    quad term = order ? half : 1, sum = term;
    for (int n = 1; n < 6000; n++) {
        term *= half * half / ((quad)n * (n + order));
        sum += term;
        if (fabsq(term) < 1e-40q * fabsq(sum)) break;
    }
    return sum;
}

// Nearest to `x` in a format with as many bits, and the distance of its neighbours there.
struct Format {
    int bits, least, most;
};
static const Format SINGLE = {24, -149, 127}, DOUBLE = {53, -1074, 1023};
static quad unit(Format format, quad x) {
    int exponent = 0;
    frexpq(x, &exponent);
    const int last = exponent - format.bits;
    return ldexpq(1, last < format.least ? format.least : last);
}

static int wrong = 0;
static double furthest;
static void judge(const char *name, Format format, double bound, quad x, quad y, quad found, quad exact) {
    if (isnanq(exact) || isnanq(found)) {
        if (isnanq(exact) && isnanq(found)) return;
    } else {
        const quad largest = ldexpq(2 - ldexpq(1, 1 - format.bits), format.most);
        const quad over = largest + unit(format, largest) / 2;
        if (isinfq(found) && fabsq(exact) >= over && (found > 0) == (exact > 0)) return;
        // An infinity stands for the number behind the largest.
        const quad found_ = isinfq(found) ? copysignq(ldexpq(1, format.most + 1), found) : found;
        const quad exact_ = fabsq(exact) > over ? copysignq(ldexpq(1, format.most + 1), exact) : exact;
        const bool x_at_zero = exact == 0 && found == 0;
        const quad error = x_at_zero ? 0 : fabsq(found_ - exact_) / unit(format, exact_);
        if ((double)error > furthest) furthest = (double)error;
        if (error <= bound + 0.5q) return;
        if (bound == 0 && error <= 0.5q) return;
    }
    if (wrong++ < 40) {
        char texts[4][64];
        const quad values[4] = {x, y, found, exact};
        for (int n = 0; n < 4; n++) quadmath_snprintf(texts[n], 64, "%.20Qg", values[n]);
        printf("%s(%s, %s) is %s, not %s\n", name, texts[0], texts[1], texts[2], texts[3]);
    }
}

// Where NVIDIA's guide gives another bound, or none.
static bool elsewhere(const char *name, Format format, quad x, quad found, quad exact) {
    const bool single = format.bits == 24;
    if (name[0] == 'j' || (name[0] == 'y' && x > 0)) {
        // Far out, only the absolute error is bounded.
        const quad bound = single ? 2.2e-6q : 5e-12q;
        return fabsq(x) >= 8 && fabsq(found - exact) <= bound;
    }
    if (strcmp(name, "lgamma") == 0) return x < -2.2q && x > (single ? -10.1q : -23.1q);
    return false;
}

template <class T>
static void table(const char *name, Format format, double bound, const T *a, const T *b, const T *out, int count,
                  quad (*exact)(quad, quad)) {
    const int before = wrong;
    furthest = 0;
    for (int n = 0; n < count; n++) {
        const quad value = exact(a[n], b[n]);
        if (elsewhere(name, format, a[n], out[n], value)) continue;
        judge(name, format, bound, a[n], b[n], out[n], value);
    }
    printf("%-14s f%d  %6.2f of %g%s\n", name, format.bits == 24 ? 32 : 64, furthest, bound,
           wrong > before ? "  WRONG" : "");
}

#define EXACT(NAME, SINGLE, DOUBLE, ...)                                                                       \
    static quad exact_##NAME(quad x, quad y) {                                                                 \
        (void)y;                                                                                               \
        return __VA_ARGS__;                                                                                    \
    }
ONE(EXACT)
TWO(EXACT)

template <class T> static void read(T *to, int count) {
    if (fread(to, sizeof(T), count, stdin) != (size_t)count) {
        fprintf(stderr, "too short\n");
        _Exit(2);
    }
}

int main() {
    enum { COUNT = 16384 };
    static float a[COUNT], b[COUNT], out[COUNT];
    static double aa[COUNT], bb[COUNT], outs[COUNT];
    read(a, COUNT), read(b, COUNT), read(aa, COUNT), read(bb, COUNT);
#define CHECK(NAME, BOUND, BOUNDS, ...)                                                                        \
    read(out, COUNT);                                                                                          \
    table<float>(#NAME, SINGLE, BOUND, a, b, out, COUNT, exact_##NAME);                                        \
    read(outs, COUNT);                                                                                         \
    table<double>(#NAME, DOUBLE, BOUNDS, aa, bb, outs, COUNT, exact_##NAME);
    ONE(CHECK)
    TWO(CHECK)
    printf("%d results outside of what is documented\n", wrong);
    return wrong > 0;
}
#endif
