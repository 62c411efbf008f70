// Quicksort without recursion: each thread sorts an array of its own with an explicit stack in local memory, insertion
// sort for short stretches, median of three.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Range { short lo, hi; };

template <class T>
__device__ void swap(T& a, T& b) { T t = a; a = b; b = t; }

__device__ void quicksort(int16_t* a, int n, int& deepest) {
  Range stack[24];
  int depth = 0;
  stack[depth++] = {0, short(n - 1)};
  while (depth > 0) {
    deepest = max(deepest, depth);
    Range r = stack[--depth];
    while (r.hi - r.lo > 8) {
      int mid = (r.lo + r.hi) / 2;
      if (a[mid] < a[r.lo]) swap(a[mid], a[r.lo]);
      if (a[r.hi] < a[r.lo]) swap(a[r.hi], a[r.lo]);
      if (a[r.hi] < a[mid]) swap(a[r.hi], a[mid]);
      int16_t pivot = a[mid];
      int i = r.lo, j = r.hi;
      while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) swap(a[i++], a[j--]);
      }
      // The longer part waits, so that the stack stays short.
      if (j - r.lo < r.hi - i) {
        stack[depth++] = {short(i), r.hi};
        r.hi = short(j);
      } else {
        stack[depth++] = {r.lo, short(j)};
        r.lo = short(i);
      }
    }
    for (int i = r.lo + 1; i <= r.hi; i++) {
      int16_t x = a[i];
      int j = i - 1;
      for (; j >= r.lo && a[j] > x; j--) a[j + 1] = a[j];
      a[j + 1] = x;
    }
  }
}

__global__ void sort_all(int16_t* data, const int* starts, int arrays, int* depths) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= arrays) return;
  int deepest = 0;
  quicksort(data + starts[t], starts[t + 1] - starts[t], deepest);
  depths[t] = deepest;
}

int main() {
  const int arrays = 70;
  std::vector<int> starts{0};
  std::vector<int16_t> data;
  for (int t = 0; t < arrays; t++) {
    int n = t * 3;
    for (int i = 0; i < n; i++)
      data.push_back(t % 4 == 0 ? i : t % 4 == 1 ? -i : t % 4 == 2 ? i % 5 : int16_t(i * 31415 + t * 9));
    starts.push_back(int(data.size()));
  }
  int16_t* d;
  int *ds, *dd;
  cudaMalloc(&d, data.size() * 2), cudaMalloc(&ds, starts.size() * 4), cudaMalloc(&dd, arrays * 4);
  cudaMemcpy(d, data.data(), data.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(ds, starts.data(), starts.size() * 4, cudaMemcpyHostToDevice);
  sort_all<<<3, 32>>>(d, ds, arrays, dd);
  std::vector<int16_t> got(data.size());
  std::vector<int> depths(arrays);
  if (cudaMemcpy(got.data(), d, got.size() * 2, cudaMemcpyDeviceToHost)) return 2;
  cudaMemcpy(depths.data(), dd, arrays * 4, cudaMemcpyDeviceToHost);
  for (int t = 0; t < arrays; t++) {
    std::sort(data.begin() + starts[t], data.begin() + starts[t + 1]);
    for (int i = starts[t]; i < starts[t + 1]; i++)
      if (got[i] != data[i]) return printf("array %d, element %d: %d, expected %d\n", t, i - starts[t], got[i], data[i]), 1;
  }
  printf("%d quicksorts, stacks at most %d deep\n", arrays, *std::max_element(depths.begin(), depths.end()));
}
