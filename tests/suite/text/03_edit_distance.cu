// Levenshtein distance on anti-diagonals, a block for each pair; three diagonals in shared memory, a thread for each cell.
// And the longest common subsequence by 32-bit vectors with carries (Hyyro), one thread a pair.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

__global__ void levenshtein(const char* a, const int* an, const char* b, const int* bn, int stride, int* out) {
  extern __shared__ int diagonals[];
  const int n = an[blockIdx.x], m = bn[blockIdx.x], size = stride + 1;
  a += blockIdx.x * stride, b += blockIdx.x * stride;
  for (int s = 0; s <= n + m; s++) {
    int *now = diagonals + s % 3 * size, *one = diagonals + (s + 2) % 3 * size, *two = diagonals + (s + 1) % 3 * size;
    for (int i = threadIdx.x; i <= n && i <= s; i += blockDim.x) {
      int j = s - i;
      if (j > m) continue;
      int d;
      if (i == 0 || j == 0) d = i + j;
      else d = min(min(one[i - 1], one[i]) + 1, two[i - 1] + (a[i - 1] != b[j - 1]));
      now[i] = d;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = diagonals[(n + m) % 3 * size + n];
}

__global__ void common(const char* a, const int* an, const char* b, const int* bn, int stride, int pairs, int* out) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  unsigned v[3] = {~0u, ~0u, ~0u};
  for (int j = 0; j < bn[p]; j++) {
    unsigned carry = 0;
    for (int w = 0; w < 3; w++) {
      unsigned match = 0;
      for (int i = 0; i < 32 && w * 32 + i < an[p]; i++) match |= unsigned(a[p * stride + w * 32 + i] == b[p * stride + j]) << i;
      unsigned u = v[w] & match, sum, c;
      asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;" : "=r"(sum), "=r"(c) : "r"(v[w]), "r"(u));
      unsigned sum2 = sum + carry;
      carry = c + (sum2 < sum);
      v[w] = sum2 | (v[w] & ~match);
    }
  }
  int zeros = 0;
  for (int w = 0; w < 3; w++) zeros += __popc(~v[w]);
  out[p] = zeros;
}

int main() {
  const int pairs = 12, stride = 90;
  std::vector<std::string> a(pairs), b(pairs);
  std::vector<char> ta(pairs * stride), tb(pairs * stride);
  std::vector<int> an(pairs), bn(pairs), lev(pairs), lcs(pairs);
  for (int p = 0; p < pairs; p++) {
    for (int i = 0; i < p * 7 + 3; i++) a[p] += "acgt"[(i * i + p) % 7 % 4];
    for (int i = 0; i < 88 - p * 5; i++) b[p] += "acgt"[(i * 3 + p * i) % 5 % 4];
    an[p] = int(a[p].size()), bn[p] = int(b[p].size());
    std::copy(a[p].begin(), a[p].end(), &ta[p * stride]);
    std::copy(b[p].begin(), b[p].end(), &tb[p * stride]);
  }
  char *da, *db;
  int *dan, *dbn, *out;
  cudaMalloc(&da, ta.size()), cudaMalloc(&db, tb.size()), cudaMalloc(&dan, pairs * 4), cudaMalloc(&dbn, pairs * 4), cudaMalloc(&out, pairs * 4);
  cudaMemcpy(da, ta.data(), ta.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(db, tb.data(), tb.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(dan, an.data(), pairs * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dbn, bn.data(), pairs * 4, cudaMemcpyHostToDevice);
  levenshtein<<<pairs, 64, 3 * (stride + 1) * sizeof(int)>>>(da, dan, db, dbn, stride, out);
  cudaMemcpy(lev.data(), out, pairs * 4, cudaMemcpyDeviceToHost);
  common<<<1, 32>>>(da, dan, db, dbn, stride, pairs, out);
  if (cudaMemcpy(lcs.data(), out, pairs * 4, cudaMemcpyDeviceToHost)) return 2;
  for (int p = 0; p < pairs; p++) {
    std::vector<std::vector<int>> d(an[p] + 1, std::vector<int>(bn[p] + 1)), l = d;
    for (int i = 0; i <= an[p]; i++)
      for (int j = 0; j <= bn[p]; j++) {
        if (!i || !j) { d[i][j] = i + j; continue; }
        bool same = a[p][i - 1] == b[p][j - 1];
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + !same});
        l[i][j] = same ? l[i - 1][j - 1] + 1 : std::max(l[i - 1][j], l[i][j - 1]);
      }
    if (lev[p] != d[an[p]][bn[p]]) return printf("pair %d: distance %d, expected %d\n", p, lev[p], d[an[p]][bn[p]]), 1;
    if (lcs[p] != l[an[p]][bn[p]]) return printf("pair %d: common %d, expected %d\n", p, lcs[p], l[an[p]][bn[p]]), 1;
  }
  printf("edit distances and common subsequences of %d pairs: exact\n", pairs);
}
