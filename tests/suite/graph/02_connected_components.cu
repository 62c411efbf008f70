// idiom: racy reads of labels that only ever sink; a stale one costs a round, never the result
// Connected components by hooking and pointer jumping (Shiloach and Vishkin), until nothing changes.
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void hook(const int2* edges, int m, int* label, int* changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int a = label[edges[i].x], b = label[edges[i].y];
  if (a == b) return;
  int low = min(a, b), high = max(a, b);
  if (atomicMin(&label[high], low) > low) *changed = 1;  // everybody writes the same
}

__global__ void jump(int* label, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int l = label[i];
  while (l != label[l]) l = label[l];
  label[i] = l;
}

int main() {
  const int n = 2000;
  std::vector<int2> edges;
  for (int i = 0; i + 7 < n; i++)
    if (i % 50 != 0) edges.push_back(make_int2(i, i + 7 - i % 3));
  for (int i = 0; i < 100; i++) edges.push_back(make_int2(i * 19 % n, i * 23 % 400));
  std::vector<int> parent(n), got(n);
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](int x) { while (parent[x] != x) x = parent[x] = parent[parent[x]]; return x; };
  for (auto e : edges) {
    int a = find(e.x), b = find(e.y);
    parent[a > b ? a : b] = a > b ? b : a;
  }
  const int m = edges.size();
  int2* de;
  int *label, *changed;
  cudaMalloc(&de, m * sizeof(int2)), cudaMalloc(&label, n * 4);
  cudaMallocManaged(&changed, 4);
  cudaMemcpy(de, edges.data(), m * sizeof(int2), cudaMemcpyHostToDevice);
  std::iota(got.begin(), got.end(), 0);
  cudaMemcpy(label, got.data(), n * 4, cudaMemcpyHostToDevice);
  int rounds = 0;
  do {
    *changed = 0;
    hook<<<(m + 127) / 128, 128>>>(de, m, label, changed);
    jump<<<(n + 127) / 128, 128>>>(label, n);
    if (cudaDeviceSynchronize()) return 2;
    rounds++;
  } while (*changed && rounds < 100);
  cudaMemcpy(got.data(), label, n * 4, cudaMemcpyDeviceToHost);
  int components = 0;
  for (int i = 0; i < n; i++) {
    components += find(i) == i;
    if (got[i] != find(i)) return printf("vertex %d: component %d, expected %d\n", i, got[i], find(i)), 1;
  }
  printf("%d components in %d rounds\n", components, rounds);
}
