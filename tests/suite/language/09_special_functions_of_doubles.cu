// The functions of the math library that take reciprocal roots of doubles, against long double on the host,
// within the errors that CUDA's appendix states.
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

enum { RSQRT, J0, J1, Y0, Y1, ERFCINV, NORMCDFINV, SINF, COSF, COUNT };
const char* names[] = {"rsqrt", "j0", "j1", "y0", "y1", "erfcinv", "normcdfinv", "sinf", "cosf"};

__global__ void kernel(int which, const double* in, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i];
    switch (which) {
    case RSQRT: out[i] = rsqrt(x); break;
    case J0: out[i] = j0(x); break;
    case J1: out[i] = j1(x); break;
    case Y0: out[i] = y0(x); break;
    case Y1: out[i] = y1(x); break;
    case ERFCINV: out[i] = erfcinv(x); break;
    case NORMCDFINV: out[i] = normcdfinv(x); break;
    case SINF: out[i] = sinf((float)x); break;
    default: out[i] = cosf((float)x); break;
    }
}

// The x at which a falling function takes a value.
static long double inverse(const std::function<long double(long double)>& f, long double value)
{
    long double low = -40, high = 40;
    for (int k = 0; k < 200; k++) {
        long double middle = (low + high) / 2;
        (f(middle) > value ? low : high) = middle;
    }
    return (low + high) / 2;
}

static long double expected(int which, double x)
{
    switch (which) {
    case RSQRT: return 1 / sqrtl(x);
    case J0: return j0l(x);
    case J1: return j1l(x);
    case Y0: return y0l(x);
    case Y1: return y1l(x);
    case ERFCINV: return inverse([](long double t) { return erfcl(t); }, x);
    case NORMCDFINV: return -inverse([](long double t) { return erfcl(t / sqrtl(2)) / 2; }, x);
    case SINF: return sinl((float)x);
    default: return cosl((float)x);
    }
}

int main()
{
    // Relative errors in units in the last place, absolute ones where the function goes through zero.
    const double ulps[COUNT] = {1, 7, 10, 7, 10, 6, 8, 2, 2};
    const double absolute[COUNT] = {0, 5e-12, 5e-12, 5e-12, 5e-12, 0, 0, 0, 0};
    const int n = 1024;
    double *din, *dout;
    cudaMalloc(&din, n * sizeof(double));
    cudaMalloc(&dout, n * sizeof(double));
    int wrong = 0;
    for (int which = 0; which < COUNT; which++) {
        std::vector<double> in(n), out(n);
        for (int i = 0; i < n; i++) {
            double part = (i + 0.5) / n;
            switch (which) {
            case RSQRT: in[i] = i < 64 ? ldexp(1 + part, -1074 + i) : ldexp(1 + part, 2 * i - 1060); break;
            case ERFCINV: in[i] = i % 2 ? 2 * part : pow(2.0, -600 * part); break;
            case NORMCDFINV: in[i] = i % 2 ? part : pow(2.0, -50 * part); break;
            case SINF:
            case COSF: in[i] = (float)(i % 2 ? 1e5 * (1 + part) : ldexp(1 + part, i / 9)); break;
            default: in[i] = i % 2 ? 8 * part : 500 * part;
            }
        }
        cudaMemcpy(din, in.data(), n * sizeof(double), cudaMemcpyHostToDevice);
        kernel<<<n / 128, 128>>>(which, din, dout, n);
        cudaMemcpy(out.data(), dout, n * sizeof(double), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n && wrong < 9; i++) {
            long double want = expected(which, in[i]), error = fabsl(out[i] - want);
            bool single = which >= SINF;
            long double unit = ldexpl(1, (want == 0 ? -1000 : ilogbl(want)) - (single ? 23 : 52));
            if (!(error <= ulps[which] * unit || error <= absolute[which])) {
                printf("%s(%.17g) is %.17g, not %.17Lg\n", names[which], in[i], out[i], want);
                wrong++;
                break;
            }
        }
    }
    if (!wrong) printf("%d values of each of %d functions are near enough\n", n, (int)COUNT);
    return wrong > 0;
}
