// Where does a pattern occur? A thread for each position, four bytes compared at a time at any alignment by funnel
// shifts; the pattern in constant memory. Then the same for many patterns with a rolling hash.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

__constant__ unsigned pattern_words[8];

__global__ void search(const unsigned* text, int length, int m, int* hits, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + m > length) return;
  bool equal = true;
  for (int k = 0; k < m && equal; k += 4) {
    // The word behind the last one is padding, and part of the allocation.
    int at = i + k;
    unsigned w = __funnelshift_r(text[at / 4], text[at / 4 + 1], at % 4 * 8);
    unsigned mask = m - k >= 4 ? ~0u : (1u << (m - k) * 8) - 1;
    equal = ((w ^ pattern_words[k / 4]) & mask) == 0;
  }
  if (equal) hits[atomicAdd(count, 1)] = i;
}

__global__ void rolling(const unsigned char* text, int length, int m, const unsigned* wanted, int patterns, int* counts) {
  int per = 32, start = (blockIdx.x * blockDim.x + threadIdx.x) * per;
  if (start + m > length) return;
  unsigned h = 0, out = 1;
  for (int k = 0; k < m; k++) h = h * 257 + text[start + k], out *= 257;
  for (int i = start; i < start + per && i + m <= length; i++) {
    for (int p = 0; p < patterns; p++)
      if (wanted[p] == h) atomicAdd(&counts[p], 1);
    if (i + m < length) h = h * 257 + text[i + m] - out * text[i];
  }
}

int main() {
  std::string text;
  for (int i = 0; i < 400; i++) text += i % 7 == 0 ? "abracadabra " : i % 3 ? "cadabra" : "abrac";
  const int n = int(text.size());
  unsigned* d;
  int *hits, *count;
  cudaMalloc(&d, n / 4 * 4 + 8), cudaMalloc(&hits, n * 4), cudaMalloc(&count, 4 * 4);
  cudaMemset(d, 0, n / 4 * 4 + 8);
  cudaMemcpy(d, text.data(), n, cudaMemcpyHostToDevice);
  for (std::string pattern : {"abra", "a", "dabrac", "abracadabra", "nowhere"}) {
    unsigned words[8] = {};
    memcpy(words, pattern.data(), pattern.size());
    cudaMemcpyToSymbol(pattern_words, words, sizeof words);
    cudaMemset(count, 0, 4);
    search<<<(n + 127) / 128, 128>>>(d, n, int(pattern.size()), hits, count);
    int found;
    if (cudaMemcpy(&found, count, 4, cudaMemcpyDeviceToHost)) return 2;
    std::vector<int> at(found);
    cudaMemcpy(at.data(), hits, found * 4, cudaMemcpyDeviceToHost);
    std::vector<char> mark(n);
    for (int i : at) mark[i]++;
    for (int i = 0; i < n; i++)
      if (mark[i] != (text.compare(i, pattern.size(), pattern) == 0 && i + int(pattern.size()) <= n))
        return printf("\"%s\" at %d: found %d times\n", pattern.c_str(), i, mark[i]), 1;
  }
  const char* many[4] = {"brac", "adab", "ra c", "zzzz"};
  unsigned hashes[4], *dh;
  for (int p = 0; p < 4; p++) {
    hashes[p] = 0;
    for (int k = 0; k < 4; k++) hashes[p] = hashes[p] * 257 + (unsigned char)many[p][k];
  }
  cudaMalloc(&dh, sizeof hashes);
  cudaMemcpy(dh, hashes, sizeof hashes, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, 16);
  rolling<<<(n / 32 + 64) / 64, 64>>>((unsigned char*)d, n, 4, dh, 4, count);
  int counts[4];
  if (cudaMemcpy(counts, count, 16, cudaMemcpyDeviceToHost)) return 2;
  for (int p = 0; p < 4; p++) {
    int want = 0;
    for (size_t i = text.find(many[p]); i != std::string::npos; i = text.find(many[p], i + 1)) want++;
    if (counts[p] != want) return printf("\"%s\": %d times, expected %d\n", many[p], counts[p], want), 1;
  }
  printf("searched %d letters for 9 patterns: exact\n", n);
}
