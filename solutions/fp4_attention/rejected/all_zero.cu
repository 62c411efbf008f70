// expect: wrong_answer all_zero
//! problem = "fp4_attention"
//
// Nothing is computed. Where inputs are so small that outputs hardly differ from zero, an absolute
// tolerance takes this for an answer; the first grader of such a problem did.

#include <cstddef>

__global__ void clear(float* out, size_t elements) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < elements) out[i] = 0.0f;
}

extern "C" void solution(const float* q, const float* k, const float* v, float* out, size_t batch,
                         size_t heads, size_t seq_q, size_t seq_k, size_t head_dim) {
    const size_t elements = batch * heads * seq_q * head_dim;
    clear<<<unsigned((elements + 255) / 256), 256>>>(out, elements);
}
