// Decoding one token: the keys of a long context are split over blocks, each leaves (maximum, sum, weighted values), and
// a second kernel combines them. Grouped queries: four heads share one pair of K and V. Paged: blocks of the cache come
// in the order of a table.
#include <cstdio>
#include <cmath>
#include <cuda_bf16.h>
#include <vector>

constexpr int DIM = 32, GROUP = 4, PAGE = 16;

struct Partial {
  float m, l, acc[DIM];
};

__global__ void partial(const float* q, const __nv_bfloat16* kcache, const __nv_bfloat16* vcache, const int* table, int length,
                        int pages_per_split, Partial* out) {
  // A warp for each query head of the group; a lane for each dimension.
  const int head = threadIdx.y, lane = threadIdx.x;
  const float mine = q[head * DIM + lane];
  float m = -INFINITY, l = 0, acc = 0;
  const int first = blockIdx.x * pages_per_split;
  for (int p = first; p < first + pages_per_split && p * PAGE < length; p++) {
    const int base = table[p] * PAGE * DIM;
    for (int i = 0; i < PAGE && p * PAGE + i < length; i++) {
      float s = mine * __bfloat162float(kcache[base + i * DIM + lane]);
#pragma unroll
      for (int d = 1; d < 32; d *= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
      s *= rsqrtf(float(DIM));
      float top = fmaxf(m, s), keep = __expf(m - top), w = __expf(s - top);
      l = l * keep + w;
      acc = acc * keep + w * __bfloat162float(vcache[base + i * DIM + lane]);
      m = top;
    }
  }
  Partial& o = out[blockIdx.x * GROUP + head];
  o.acc[lane] = acc;
  if (lane == 0) o.m = m, o.l = l;
}

__global__ void combine(const Partial* parts, int splits, float* out) {
  const int head = threadIdx.y, lane = threadIdx.x;
  float m = -INFINITY, l = 0, acc = 0;
  for (int s = 0; s < splits; s++) m = fmaxf(m, parts[s * GROUP + head].m);
  for (int s = 0; s < splits; s++) {
    const Partial& p = parts[s * GROUP + head];
    float w = __expf(p.m - m);
    l += p.l * w;
    acc += p.acc[lane] * w;
  }
  out[head * DIM + lane] = acc / l;
}

int main() {
  const int length = 203, pages = (length + PAGE - 1) / PAGE, splits = 4, per = (pages + splits - 1) / splits;
  std::vector<float> q(GROUP * DIM), out(GROUP * DIM);
  std::vector<__nv_bfloat16> k(pages * PAGE * DIM), v(k.size());
  std::vector<int> table(pages);
  for (int p = 0; p < pages; p++) table[p] = p * 5 % pages;  // 13 pages: a permutation
  for (size_t i = 0; i < q.size(); i++) q[i] = std::sin(i + 1.f);
  for (size_t i = 0; i < k.size(); i++) k[i] = __float2bfloat16(std::sin(i * 0.3f)), v[i] = __float2bfloat16(std::cos(i * 0.7f));
  float *dq, *dout;
  __nv_bfloat16 *dk, *dv;
  int* dt;
  Partial* parts;
  cudaMalloc(&dq, q.size() * 4), cudaMalloc(&dout, q.size() * 4), cudaMalloc(&dk, k.size() * 2), cudaMalloc(&dv, k.size() * 2);
  cudaMalloc(&dt, pages * 4), cudaMalloc(&parts, splits * GROUP * sizeof(Partial));
  cudaMemcpy(dq, q.data(), q.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dk, k.data(), k.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(dv, v.data(), v.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(dt, table.data(), pages * 4, cudaMemcpyHostToDevice);
  partial<<<splits, dim3(32, GROUP)>>>(dq, dk, dv, dt, length, per, parts);
  combine<<<1, dim3(32, GROUP)>>>(parts, splits, dout);
  if (cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int h = 0; h < GROUP; h++) {
    std::vector<double> w(length), o(DIM);
    double sum = 0;
    for (int j = 0; j < length; j++) {
      double s = 0;
      int at = (table[j / PAGE] * PAGE + j % PAGE) * DIM;
      for (int d = 0; d < DIM; d++) s += double(q[h * DIM + d]) * __bfloat162float(k[at + d]);
      sum += w[j] = std::exp(s / std::sqrt(double(DIM)));
      for (int d = 0; d < DIM; d++) o[d] += w[j] * __bfloat162float(v[at + d]);
    }
    for (int d = 0; d < DIM; d++)
      if (!(std::fabs(out[h * DIM + d] - o[d] / sum) < 1e-5))  // 203 steps of __expf, weights below one
        return printf("head %d, dimension %d: %g, expected %g\n", h, d, out[h * DIM + d], o[d] / sum), 1;
  }
  printf("paged decoding over %d keys in %d splits: within 1e-5\n", length, splits);
}
