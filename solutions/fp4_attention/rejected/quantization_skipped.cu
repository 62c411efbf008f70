// expect: wrong_answer quantization_skipped
//! problem = "fp4_attention"
//
// Attention in f32. It is nearer to what attention should be, and not what was asked for.

#include <cstddef>

const int QUERIES = 32;
const int KEYS = 32;
const int COLUMNS = 128;     // at most; those that head_dim lacks are zeros

__device__ int column_of(int part, int i) { return i / 4 * 16 + 4 * part + i % 4; }

__device__ void load(const float* row, int part, int d, float (&x)[COLUMNS / 4]) {
    for (int i = 0; i < COLUMNS / 4; i++) {
        x[i] = row && column_of(part, i) < d ? row[column_of(part, i)] : 0.0f;
    }
}

__global__ void attend(const float* q, const float* k, const float* v, float* out, size_t seq_q,
                       size_t seq_k, int d) {
    __shared__ float tile[KEYS][COLUMNS];
    const int part = threadIdx.x % 4, mine = threadIdx.x / 4;
    const size_t query = blockIdx.x * QUERIES + mine;
    q += blockIdx.y * seq_q * d, out += blockIdx.y * seq_q * d;
    k += blockIdx.y * seq_k * d, v += blockIdx.y * seq_k * d;

    float x[COLUMNS / 4], row[COLUMNS / 4];
    float sum[COLUMNS / 4] = {}, weights = 0.0f, largest = -INFINITY;
    load(query < seq_q ? q + query * d : nullptr, part, d, x);

    for (size_t start = 0; start < seq_k; start += KEYS) {
        load(start + mine < seq_k ? k + (start + mine) * d : nullptr, part, d, row);
        __syncthreads();
        for (int i = 0; i < COLUMNS / 4; i++) tile[mine][column_of(part, i)] = row[i];
        __syncthreads();

        const int keys = min(seq_k - start, size_t(KEYS));
        for (int key = 0; key < keys; key++) {
            float score = 0.0f;
            for (int i = 0; i < COLUMNS / 4; i++) score += x[i] * tile[key][column_of(part, i)];
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
