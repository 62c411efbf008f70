// One thread makes one product, in float64, from tables of what the codes mean. Right and slow, and
// wrong on demand.

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

enum KnownBug : size_t {
    kNone,
    kScalesMissing,
    kScaleAMissing,
    kScaleBMissing,
    kScalesRowMajor,
    kScaleRowsInOrder,
    kTilesTransposed,
    kScaleOfFirstBlock,
    kBiasOf126,
    kCodeAsE5m2,
    kSignDropped,
    kCodeSubnormalsFlushed,
    kBNotTransposed,
    kCTransposed,
    kLastBlockMissing,
    kHalfOfK,
    kSumsInF16,
    kRoundedToF16,
};

__device__ float decode(unsigned code, size_t known_bug) {
    const int bits = known_bug == kCodeAsE5m2 ? 2 : 3, bias = known_bug == kCodeAsE5m2 ? 15 : 7;
    const int exponent = (code & 127) >> bits, mantissa = code & ((1 << bits) - 1);
    float value = exponent ? ldexpf((1 << bits) + mantissa, exponent - bias - bits)
                           : ldexpf(mantissa, 1 - bias - bits);
    if (known_bug == kCodeSubnormalsFlushed && exponent == 0) value = 0.0f;
    return code & 128 && known_bug != kSignDropped ? -value : value;
}

// The exponent of the scale of a row and a block of columns.
__device__ int scale(const uint8_t* scales, size_t rows, size_t blocks, size_t row, size_t block,
                     size_t known_bug) {
    const size_t across = (blocks + 3) / 4, down = (rows + 127) / 128;
    size_t tile = row / 128 * across + block / 4;
    size_t inside = row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
    if (known_bug == kScaleRowsInOrder) inside = row % 128 * 4 + block % 4;
    if (known_bug == kTilesTransposed) tile = block / 4 * down + row / 128;
    size_t offset = tile * 512 + inside;
    if (known_bug == kScalesRowMajor) offset = row * blocks + block;
    return int(scales[offset]) - 127;
}

__global__ void multiply(const uint8_t* a, const uint8_t* scale_a, const uint8_t* b,
                         const uint8_t* scale_b, float* c, float* error, size_t m, size_t n,
                         size_t k, size_t known_bug) {
    __shared__ float value[256];
    for (int code = threadIdx.x; code < 256; code += blockDim.x) value[code] = decode(code, known_bug);
    __syncthreads();
    const size_t place = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= m * n) return;
    const bool turned = known_bug == kCTransposed;
    const size_t i = turned ? place % m : place / n, j = turned ? place / m : place % n;

    const size_t blocks = k / 32;
    size_t end = k;
    if (known_bug == kLastBlockMissing) end = k - 32;
    if (known_bug == kHalfOfK) end = k / 2;
    double sum = 0.0, magnitude = 0.0;
    __half narrow = __float2half(0.0f);
    for (size_t first = 0; first < end; first += 16) {
        const size_t block = known_bug == kScaleOfFirstBlock ? 0 : first / 32;
        int ea = scale(scale_a, m, blocks, i, block, known_bug);
        int eb = scale(scale_b, n, blocks, j, block, known_bug);
        if (known_bug == kScalesMissing || known_bug == kScaleAMissing) ea = 0;
        if (known_bug == kScalesMissing || known_bug == kScaleBMissing) eb = 0;
        if (known_bug == kBiasOf126) ea++;
        double part = 0.0, parts = 0.0;
        for (size_t x = first; x < first + 16; x++) {
            const size_t from = known_bug == kBNotTransposed ? x * n + j : j * k + x;
            const float term = value[a[i * k + x]] * value[b[from]];
            part += term;
            parts += fabsf(term);
            if (known_bug == kSumsInF16) {
                narrow = __float2half(__half2float(narrow) + ldexpf(term, ea + eb));
            }
        }
        sum += ldexp(part, ea + eb);
        magnitude += ldexp(parts, ea + eb);
    }
    float result = float(sum);
    if (known_bug == kSumsInF16) result = __half2float(narrow);
    if (known_bug == kRoundedToF16) result = __half2float(__float2half(result));
    c[place] = result;
    error[place] = float(4.0 * sqrt(double(k)) * 0x1p-24 * magnitude);
}

extern "C" void solution(const uint8_t* q_a, const uint8_t* scale_a, const uint8_t* q_b,
                         const uint8_t* scale_b, float* c, float* error, size_t m, size_t n,
                         size_t k, size_t known_bug) {
    multiply<<<unsigned((m * n + 127) / 128), 128>>>(q_a, scale_a, q_b, scale_b, c, error, m, n, k,
                                                     known_bug);
}
