// Breadth-first search with frontiers: a warp expands a vertex, new vertices are claimed by atomicCAS on the distance and
// appended with one atomic for each warp.
#include <cstdio>
#include <queue>
#include <vector>

__global__ void expand(const int* offsets, const int* edges, int* distance, const int* frontier, int size, int* next, int* next_size,
                       int level) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= size) return;
  int v = frontier[warp];
  for (int e = offsets[v]; e < offsets[v + 1]; e += 32) {
    bool fresh = false;
    int to = 0;
    if (e + lane < offsets[v + 1]) {
      to = edges[e + lane];
      fresh = atomicCAS(&distance[to], -1, level) == -1;
    }
    unsigned votes = __ballot_sync(~0u, fresh);
    int base = 0;
    if (lane == 0 && votes) base = atomicAdd(next_size, __popc(votes));
    base = __shfl_sync(~0u, base, 0);
    if (fresh) next[base + __popc(votes & ((1u << lane) - 1))] = to;
  }
}

int main() {
  const int n = 1200;
  std::vector<std::vector<int>> adjacent(n);
  for (int i = 0; i < n; i++) {
    if (i % 100 == 99) continue;  // and some vertices nobody reaches
    adjacent[i].push_back((i * 17 + 5) % 1100);
    adjacent[i].push_back((i + 1) % 1100);
    if (i % 97 == 0)
      for (int j = 0; j < 70; j++) adjacent[i].push_back((i * j + 3 * j) % 1100);
  }
  std::vector<int> offsets{0}, edges, want(n, -1), got(n);
  for (auto& a : adjacent) edges.insert(edges.end(), a.begin(), a.end()), offsets.push_back(edges.size());
  std::queue<int> q({0});
  want[0] = 0;
  for (; !q.empty(); q.pop())
    for (int to : adjacent[q.front()])
      if (want[to] < 0) want[to] = want[q.front()] + 1, q.push(to);

  int *doff, *dedges, *distance, *frontier[2], *size, host_size = 1, zero = 0;
  cudaMalloc(&doff, offsets.size() * 4), cudaMalloc(&dedges, edges.size() * 4), cudaMalloc(&distance, n * 4);
  cudaMalloc(&frontier[0], n * 4), cudaMalloc(&frontier[1], n * 4), cudaMalloc(&size, 4);
  cudaMemcpy(doff, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dedges, edges.data(), edges.size() * 4, cudaMemcpyHostToDevice);
  cudaMemset(distance, 0xff, n * 4);
  cudaMemcpy(distance, &zero, 4, cudaMemcpyHostToDevice);
  cudaMemcpy(frontier[0], &zero, 4, cudaMemcpyHostToDevice);
  int level = 0;
  while (host_size > 0) {
    cudaMemset(size, 0, 4);
    level++;
    expand<<<(host_size + 3) / 4, 128>>>(doff, dedges, distance, frontier[level % 2 ^ 1], host_size, frontier[level % 2], size, level);
    if (cudaMemcpy(&host_size, size, 4, cudaMemcpyDeviceToHost)) return 2;
  }
  cudaMemcpy(got.data(), distance, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (got[i] != want[i]) return printf("vertex %d: distance %d, expected %d\n", i, got[i], want[i]), 1;
  printf("breadth-first search in %d levels: exact\n", level - 1);
}
