// expect: wrong_answer nibbles_swapped
//! problem = "fp4_attention"
//
// K's codes lie packed in shared memory, two in a byte, the odd element in the low nibble; they are
// read as if it were the even one. Had Q been packed the same way, nothing would show.

#include <cstddef>

const int QUERIES = 32;
const int KEYS = 32;
const int COLUMNS = 128;     // at most; those that head_dim lacks are zeros

// Value of the E2M1 code nearest to x: 0.5 apart up to 2, 1 up to 4, 2 up to 6; ties to even.
__device__ float nearest(float x) {
    const float y = fminf(fabsf(x), 6.0f);
    const float step = y < 2.0f ? 0.5f : y < 4.0f ? 1.0f : 2.0f;
    const float inverse = y < 2.0f ? 2.0f : y < 4.0f ? 1.0f : 0.5f;
    return copysignf(rintf(y * inverse) * step, x);
}

// The code of a value that E2M1 has, and back.
__device__ unsigned code_of(float value) {
    const float y = fabsf(value);
    const unsigned magnitude = y < 2.0f   ? unsigned(2.0f * y)
                               : y < 4.0f ? unsigned(y) + 2
                                          : unsigned(y) / 2 + 4;
    return magnitude | __float_as_uint(value) >> 31 << 3;
}

__device__ float value_of(unsigned code) {
    const unsigned magnitude = code & 7;
    const float y = magnitude < 4   ? 0.5f * magnitude
                    : magnitude < 6 ? magnitude - 2.0f
                                    : 2.0f * magnitude - 8.0f;
    return code & 8 ? -y : y;
}

// Four lanes hold a row: lane p the float4s p, p + 4, p + 8 ..., so two of each block of 32.
__device__ void quantize(float (&row)[COLUMNS / 4], float (&scales)[COLUMNS / 32]) {
    for (int block = 0; block < COLUMNS / 32; block++) {
        float* x = row + 8 * block;
        float amax = 0.0f;
        for (int i = 0; i < 8; i++) amax = fmaxf(amax, fabsf(x[i]));
        amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, 1));
        amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, 2));
        const unsigned byte = max(__float_as_uint(amax) >> 23, 3u) - 2;
        scales[block] = __uint_as_float(byte << 23);
        const float reciprocal = __uint_as_float((254 - byte) << 23);
        for (int i = 0; i < 8; i++) x[i] = nearest(x[i] * reciprocal);
    }
}

__device__ int column_of(int part, int i) { return i / 4 * 16 + 4 * part + i % 4; }

__device__ void load(const float* row, int part, int d, float (&x)[COLUMNS / 4]) {
    for (int i = 0; i < COLUMNS / 4; i++) {
        x[i] = row && column_of(part, i) < d ? row[column_of(part, i)] : 0.0f;
    }
}

__global__ void attend(const float* q, const float* k, const float* v, float* out, size_t seq_q,
                       size_t seq_k, int d) {
    __shared__ unsigned char tile[KEYS][COLUMNS / 2];
    __shared__ float tile_scales[KEYS][COLUMNS / 32];
    const int part = threadIdx.x % 4, mine = threadIdx.x / 4;
    const size_t query = blockIdx.x * QUERIES + mine;
    q += blockIdx.y * seq_q * d, out += blockIdx.y * seq_q * d;
    k += blockIdx.y * seq_k * d, v += blockIdx.y * seq_k * d;

    float x[COLUMNS / 4], row[COLUMNS / 4], scales[COLUMNS / 32];
    float sum[COLUMNS / 4] = {}, weights = 0.0f, largest = -INFINITY;
    load(query < seq_q ? q + query * d : nullptr, part, d, x);
    quantize(x, scales);
    for (int i = 0; i < COLUMNS / 4; i++) x[i] *= scales[i / 8];

    for (size_t start = 0; start < seq_k; start += KEYS) {
        load(start + mine < seq_k ? k + (start + mine) * d : nullptr, part, d, row);
        quantize(row, scales);
        __syncthreads();
        for (int i = 0; i < COLUMNS / 4; i += 2) {
            tile[mine][column_of(part, i) / 2] = code_of(row[i]) << 4 | code_of(row[i + 1]);
            tile_scales[mine][i / 8] = scales[i / 8];
        }
        __syncthreads();

        const int keys = min(seq_k - start, size_t(KEYS));
        for (int key = 0; key < keys; key++) {
            float score = 0.0f;
            for (int i = 0; i < COLUMNS / 4; i++) {
                const unsigned code = tile[key][column_of(part, i) / 2] >> i % 2 * 4 & 15;
                score += x[i] * value_of(code) * tile_scales[key][i / 8];
            }
            score += __shfl_xor_sync(0xffffffffu, score, 1);
            score += __shfl_xor_sync(0xffffffffu, score, 2);
            score *= rsqrtf(float(d));

            const float grown = fmaxf(largest, score);
            const float shrink = expf(largest - grown), weight = expf(score - grown);
            largest = grown;
            weights = weights * shrink + weight;
            load(v + (start + key) * d, part, d, row);
            for (int i = 0; i < COLUMNS / 4; i++) sum[i] = sum[i] * shrink + weight * row[i];
        }
    }
    for (int i = 0; i < COLUMNS / 4; i++) {
        const int column = column_of(part, i);
        if (query < seq_q && column < d) out[query * d + column] = sum[i] / weights;
    }
}

extern "C" void solution(const float* q, const float* k, const float* v, float* out, size_t batch,
                         size_t heads, size_t seq_q, size_t seq_k, size_t head_dim) {
    const dim3 grid(unsigned((seq_q + QUERIES - 1) / QUERIES), unsigned(batch * heads));
    attend<<<grid, 4 * QUERIES>>>(q, k, v, out, seq_q, seq_k, int(head_dim));
}
