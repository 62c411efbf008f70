// The two ends of a language model in training: embedding gradients by atomics on bfloat162, and the cross entropy with
// its gradient, logits of uneven width.
#include <cuda_bf16.h>
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void embedding_backward(const int* tokens, const __nv_bfloat162* grad, __nv_bfloat162* table, int pairs) {
  int t = blockIdx.x;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) atomicAdd(&table[tokens[t] * pairs + i], grad[t * pairs + i]);
}

__global__ void cross_entropy(const float* logits, const int* targets, float* losses, float* grad, int vocabulary) {
  __shared__ float part[32];
  const float* x = logits + blockIdx.x * vocabulary;
  auto everywhere = [&](float v, auto op) {
    for (int d = 16; d; d >>= 1) v = op(v, __shfl_xor_sync(~0u, v, d));
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < blockDim.x / 32; w++) v = op(v, part[w]);
    return v;
  };
  float top = -INFINITY;
  for (int i = threadIdx.x; i < vocabulary; i += blockDim.x) top = fmaxf(top, x[i]);
  top = everywhere(top, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int i = threadIdx.x; i < vocabulary; i += blockDim.x) sum += expf(x[i] - top);
  sum = everywhere(sum, [](float a, float b) { return a + b; });
  const int target = targets[blockIdx.x];
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + top - x[target];
  for (int i = threadIdx.x; i < vocabulary; i += blockDim.x)
    grad[blockIdx.x * vocabulary + i] = expf(x[i] - top) / sum - (i == target ? 1.f : 0.f);
}

int main() {
  const int tokens = 40, words = 9, dim = 64, vocabulary = 301, rows = 6;
  std::vector<int> ids(tokens), targets(rows);
  std::vector<__nv_bfloat16> g(tokens * dim), table(words * dim);
  std::vector<float> logits(rows * vocabulary), loss(rows), grad(rows * vocabulary);
  // Quarters: sums of up to 40 of them below 8 are exact in bf16, so that the order of atomics does not show.
  for (int t = 0; t < tokens; t++) ids[t] = t * t % words;
  for (int i = 0; i < tokens * dim; i++) g[i] = __float2bfloat16((i * 7 % 5 - 2) * 0.25f);
  for (int i = 0; i < rows * vocabulary; i++) logits[i] = std::sin(i * 0.37f) * 5;
  for (int r = 0; r < rows; r++) targets[r] = r * 53 % vocabulary;
  int *di, *dt;
  __nv_bfloat162 *dg, *dtab;
  float *dl, *dloss, *dgrad;
  cudaMalloc(&di, tokens * 4), cudaMalloc(&dt, rows * 4), cudaMalloc(&dg, g.size() * 2), cudaMalloc(&dtab, table.size() * 2);
  cudaMalloc(&dl, logits.size() * 4), cudaMalloc(&dloss, rows * 4), cudaMalloc(&dgrad, grad.size() * 4);
  cudaMemcpy(di, ids.data(), tokens * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dt, targets.data(), rows * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dg, g.data(), g.size() * 2, cudaMemcpyHostToDevice);
  cudaMemset(dtab, 0, table.size() * 2);
  cudaMemcpy(dl, logits.data(), logits.size() * 4, cudaMemcpyHostToDevice);
  embedding_backward<<<tokens, 32>>>(di, dg, dtab, dim / 2);
  cross_entropy<<<rows, 128>>>(dl, dt, dloss, dgrad, vocabulary);
  cudaMemcpy(table.data(), dtab, table.size() * 2, cudaMemcpyDeviceToHost);
  cudaMemcpy(loss.data(), dloss, rows * 4, cudaMemcpyDeviceToHost);
  if (cudaMemcpy(grad.data(), dgrad, grad.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int w = 0; w < words; w++)
    for (int d = 0; d < dim; d++) {
      float want = 0;
      for (int t = 0; t < tokens; t++) want += ids[t] == w ? __bfloat162float(g[t * dim + d]) : 0;
      if (__bfloat162float(table[w * dim + d]) != want) return printf("word %d, %d: %g, expected %g\n", w, d, __bfloat162float(table[w * dim + d]), want), 1;
    }
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int i = 0; i < vocabulary; i++) sum += std::exp(double(logits[r * vocabulary + i]));
    double want = std::log(sum) - logits[r * vocabulary + targets[r]];
    if (!(std::fabs(loss[r] - want) < 1e-5)) return printf("loss %d: %g, expected %g\n", r, loss[r], want), 1;
    for (int i = 0; i < vocabulary; i++) {
      double e = std::exp(double(logits[r * vocabulary + i])) / sum - (i == targets[r]);
      if (!(std::fabs(grad[r * vocabulary + i] - e) < 1e-6)) return printf("gradient (%d, %d): %g, expected %g\n", r, i, grad[r * vocabulary + i], e), 1;
    }
  }
  puts("embedding gradients exact, cross entropy within 1e-5");
}
