//! problem = "fp4_attention"
//
// Rung 1: no tensor core. Four lanes take one query and meet the keys one by one.
//
// The formula, with two ideas that every later rung keeps. First, a tile: the CTA quantizes 32 keys
// into shared memory, and 32 queries use them; without that, each query would quantize each key
// again, at ten instructions an element for two of arithmetic. Second, the online softmax: weights
// are relative to the largest score so far, and when a larger one comes, what has been added up
// shrinks by the difference. So no score is ever kept, not even those of a row.
//
// Four lanes for a query, because a lane that held all of it would need 128 registers for q and
// 128 for the sums. Each has a quarter of the columns, interleaved by float4: two of every block of
// 32, so that the largest magnitude of a block takes two shuffles, and so does a score.
//
// What to expect: at head_dim 128 a key costs a warp 32 multiply-adds for the scores of its eight
// queries and as many for the sums, with a 128-bit load for every four. All of it in f32, on the
// units that are the slowest way to multiply; V comes from global memory (well, L1: all warps read
// the same rows), with a latency that nothing covers.
//
// Modelled for an RTX 5090 (sm_120a, microseconds, 64 queries of 32 heads at head_dim 128): 99 for
// 128 keys, 377 for 512, 746 for 1024.

#include <cstddef>

const int QUERIES = 32;      // of a CTA
const int KEYS = 32;         // of a tile
const int THREADS = 4 * QUERIES;

// Value of the E2M1 code nearest to x. Codes are 0.5 apart up to 2, 1 up to 4, 2 up to 6; `rintf`
// gives ties to the even multiple, which is the even code.
__device__ float nearest(float x) {
    const float y = fminf(fabsf(x), 6.0f);
    const float step = y < 2.0f ? 0.5f : y < 4.0f ? 1.0f : 2.0f;
    const float inverse = y < 2.0f ? 2.0f : y < 4.0f ? 1.0f : 0.5f;
    return copysignf(rintf(y * inverse) * step, x);
}

// Four lanes hold a row: lane p the float4s p, p + 4, p + 8 ..., so two of each block of 32. Puts
// the row through MXFP4.
template <int D>
__device__ void quantize(float (&row)[D / 4]) {
    for (int block = 0; block < D / 32; block++) {
        float* x = row + 8 * block;
        float amax = 0.0f;
        for (int i = 0; i < 8; i++) amax = fmaxf(amax, fabsf(x[i]));
        amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, 1));
        amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, 2));

        // FLOOR: the exponent of amax, less the two binades that E2M1 itself reaches.
        const unsigned byte = max(__float_as_uint(amax) >> 23, 3u) - 2;
        const float scale = __uint_as_float(byte << 23);
        const float reciprocal = __uint_as_float((254 - byte) << 23);
        for (int i = 0; i < 8; i++) x[i] = nearest(x[i] * reciprocal) * scale;
    }
}

template <int D>
__device__ void load(const float* row, int part, float (&x)[D / 4]) {
    for (int i = 0; i < D / 16; i++) {
        const float4 four = reinterpret_cast<const float4*>(row)[part + 4 * i];
        x[4 * i] = four.x, x[4 * i + 1] = four.y, x[4 * i + 2] = four.z, x[4 * i + 3] = four.w;
    }
}

template <int D>
__global__ void attend(const float* q, const float* k, const float* v, float* out, size_t seq_q,
                       size_t seq_k) {
    __shared__ float tile[KEYS][D];
    const int part = threadIdx.x % 4, mine = threadIdx.x / 4;
    const size_t query = blockIdx.x * QUERIES + mine;
    q += blockIdx.y * seq_q * D, out += blockIdx.y * seq_q * D;
    k += blockIdx.y * seq_k * D, v += blockIdx.y * seq_k * D;

    float x[D / 4] = {}, sum[D / 4] = {}, weights = 0.0f, largest = -INFINITY;
    if (query < seq_q) load<D>(q + query * D, part, x);
    quantize<D>(x);

    for (size_t start = 0; start < seq_k; start += KEYS) {
        float row[D / 4] = {};
        if (start + mine < seq_k) load<D>(k + (start + mine) * D, part, row);
        quantize<D>(row);
        __syncthreads();
        for (int i = 0; i < D / 4; i++) tile[mine][i / 4 * 16 + 4 * part + i % 4] = row[i];
        __syncthreads();

        const int keys = min(seq_k - start, size_t(KEYS));
        for (int key = 0; key < keys; key++) {
            float score = 0.0f;
            for (int i = 0; i < D / 4; i++) {
                score += x[i] * tile[key][i / 4 * 16 + 4 * part + i % 4];
            }
            score += __shfl_xor_sync(0xffffffffu, score, 1);
            score += __shfl_xor_sync(0xffffffffu, score, 2);
            score *= rsqrtf(float(D));

            // What was added up so far is relative to the largest score so far.
            if (score > largest) {
                const float shrink = expf(largest - score);
                for (int i = 0; i < D / 4; i++) sum[i] *= shrink;
                weights *= shrink;
                largest = score;
            }
            const float weight = expf(score - largest);
            weights += weight;
            load<D>(v + (start + key) * D, part, row);
            for (int i = 0; i < D / 4; i++) sum[i] += weight * row[i];
        }
    }
    if (query < seq_q) {
        for (int i = 0; i < D / 4; i++) {
            out[query * D + i / 4 * 16 + 4 * part + i % 4] = sum[i] / weights;
        }
    }
}

extern "C" void solution(const float* q, const float* k, const float* v, float* out, size_t batch,
                         size_t heads, size_t seq_q, size_t seq_k, size_t head_dim) {
    const dim3 grid(unsigned((seq_q + QUERIES - 1) / QUERIES), unsigned(batch * heads));
    switch (head_dim) {
        case 32: attend<32><<<grid, THREADS>>>(q, k, v, out, seq_q, seq_k); break;
        case 64: attend<64><<<grid, THREADS>>>(q, k, v, out, seq_q, seq_k); break;
        case 96: attend<96><<<grid, THREADS>>>(q, k, v, out, seq_q, seq_k); break;
        case 128: attend<128><<<grid, THREADS>>>(q, k, v, out, seq_q, seq_k); break;
    }
}
