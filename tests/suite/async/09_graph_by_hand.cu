// A CUDA graph without a stream: nodes and edges one by one, asked for, changed, cloned and launched again. A matrix-free
// Jacobi step on a ring: y = (x rotated left + x rotated right) / 2 + b, then x = y, with b cleared by a memset node and set
// by a child graph, and a host node that counts.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

static bool ok(cudaError_t e, const char* what, int line) {
  if (e != cudaSuccess) printf("line %d: %s: %s\n", line, what, cudaGetErrorName(e));
  return e == cudaSuccess;
}
#define CHECK(x) if (!ok((x), #x, __LINE__)) return 1
#define EXPECT(c) if (!(c)) return printf("line %d: not so: %s\n", __LINE__, #c), 1

__global__ void average(const int* x, const int* b, int* y, int n, int scale) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = scale * (x[(i + 1) % n] + x[(i + n - 1) % n]) + b[i];
}
__global__ void spike(int* b, int at, int value) { b[at] += value; }

static void CUDART_CB count(void* data) { ++*static_cast<int*>(data); }

int main() {
  constexpr int n = 777, bytes = n * sizeof(int);
  int *x, *y, *b;
  CHECK(cudaMalloc(&x, bytes)); CHECK(cudaMalloc(&y, bytes)); CHECK(cudaMalloc(&b, bytes));
  std::vector<int> h(n), want(n), out(n);
  for (int i = 0; i < n; i++) want[i] = h[i] = i * i % 101;

  cudaGraph_t graph, child;
  CHECK(cudaGraphCreate(&graph, 0)); CHECK(cudaGraphCreate(&child, 0));

  // The child puts two spikes into b; no edge between them, since they touch different elements.
  int at0 = 5, at1 = 700, value = 1000;
  cudaGraphNode_t first, second;
  void* spike0[] = {&b, &at0, &value};
  void* spike1[] = {&b, &at1, &value};
  cudaKernelNodeParams k = {};
  k.func = (void*)spike, k.gridDim = 1, k.blockDim = 1, k.kernelParams = spike0;
  CHECK(cudaGraphAddKernelNode(&first, child, nullptr, 0, &k));
  k.kernelParams = spike1;
  CHECK(cudaGraphAddKernelNode(&second, child, nullptr, 0, &k));
  at0 = at1 = value = -1;  // the nodes have copies

  cudaGraphNode_t upload, clear, spikes, step, store, download, told, gate;
  CHECK(cudaGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, x, h.data(), bytes, cudaMemcpyHostToDevice));
  cudaMemsetParams m = {};
  m.dst = b, m.value = 7, m.elementSize = 4, m.width = n, m.height = 1, m.pitch = bytes;
  CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &m));
  CHECK(cudaGraphAddChildGraphNode(&spikes, graph, &clear, 1, child));
  CHECK(cudaGraphAddEmptyNode(&gate, graph, &upload, 1));
  int size = n, scale = 1;
  void* args[] = {&x, &b, &y, &size, &scale};
  k.func = (void*)average, k.gridDim = 3, k.blockDim = 128, k.kernelParams = args;
  CHECK(cudaGraphAddKernelNode(&step, graph, &gate, 1, &k));
  CHECK(cudaGraphAddDependencies(graph, &spikes, &step, nullptr, 1));
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(y, bytes, bytes, 1), c.dstPtr = make_cudaPitchedPtr(x, bytes, bytes, 1);
  c.extent = make_cudaExtent(bytes, 1, 1), c.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaGraphAddMemcpyNode(&store, graph, &step, 1, &c));
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeMemcpy;
  any.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(x, bytes, bytes, 1);
  any.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(out.data(), bytes, bytes, 1);
  any.memcpy.copyParams.extent = make_cudaExtent(bytes, 1, 1), any.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaGraphAddNode(&download, graph, &store, nullptr, 1, &any));
  int calls = 0;
  cudaHostNodeParams host = {count, &calls};
  CHECK(cudaGraphAddHostNode(&told, graph, &download, 1, &host));

  // What it looks like.
  size_t number = 0, roots = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &number)); EXPECT(number == 8);
  std::vector<cudaGraphNode_t> nodes(number), begin(4);
  CHECK(cudaGraphGetNodes(graph, nodes.data(), &number)); EXPECT(number == 8);
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots)); EXPECT(roots == 2);
  roots = 4;
  CHECK(cudaGraphGetRootNodes(graph, begin.data(), &roots));
  EXPECT(roots == 2 && (begin[0] == upload || begin[0] == clear) && (begin[1] == upload || begin[1] == clear) && !begin[2]);
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges)); EXPECT(edges == 7);
  cudaGraphNode_t before[2];
  size_t two = 2;
  CHECK(cudaGraphNodeGetDependencies(step, before, nullptr, &two));
  EXPECT(two == 2 && before[0] != before[1] && (before[0] == gate || before[0] == spikes) && (before[1] == gate || before[1] == spikes));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(spikes, &type)); EXPECT(type == cudaGraphNodeTypeGraph);
  CHECK(cudaGraphNodeGetType(download, &type)); EXPECT(type == cudaGraphNodeTypeMemcpy);
  cudaKernelNodeParams told_of = {};
  CHECK(cudaGraphKernelNodeGetParams(step, &told_of));
  EXPECT(told_of.gridDim.x == 3 && told_of.blockDim.x == 128 && *static_cast<int*>(told_of.kernelParams[3]) == n);

  // Three launches of the graph, each from h to out.
  auto expect = [&](int scale, int base, int s0, int s1, bool spiked) {
    for (int i = 0; i < n; i++) {
      want[i] = scale * (h[(i + 1) % n] + h[(i + n - 1) % n]) + base;
      if (spiked && (i == s0 || i == s1)) want[i] += 1000;
    }
    for (int i = 0; i < n; i++)
      if (out[i] != want[i]) return printf("x[%d] = %d, expected %d (scale %d)\n", i, out[i], want[i], scale), false;
    return true;
  };
  cudaGraphExec_t exec;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream)); CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 3; round++) {
    CHECK(cudaGraphLaunch(exec, stream)); CHECK(cudaStreamSynchronize(stream));
    EXPECT(expect(1, 7, 5, 700, true));
    h = out;
  }
  EXPECT(calls == 3);

  // Other parameters in what is launched; the graph keeps its own.
  scale = 3;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, step, &k));
  CHECK(cudaGraphNodeSetEnabled(exec, clear, 0));
  unsigned on = 9;
  CHECK(cudaGraphNodeGetEnabled(exec, clear, &on)); EXPECT(on == 0);
  for (int i = 0; i < n; i++) h[i] = i % 13;
  CHECK(cudaMemset(b, 0, bytes));
  CHECK(cudaGraphLaunch(exec, stream)); CHECK(cudaStreamSynchronize(stream));
  EXPECT(expect(3, 0, 5, 700, true));
  CHECK(cudaGraphKernelNodeGetParams(step, &told_of)); EXPECT(*static_cast<int*>(told_of.kernelParams[4]) == 1);

  // A clone with another fill takes its place; one with an edge less does not.
  cudaGraph_t clone;
  cudaGraphNode_t twin, spikes_twin, step_twin;
  CHECK(cudaGraphClone(&clone, graph)); CHECK(cudaGraphNodeFindInClone(&twin, clear, clone));
  CHECK(cudaGraphNodeFindInClone(&spikes_twin, spikes, clone)); CHECK(cudaGraphNodeFindInClone(&step_twin, step, clone));
  m.value = 0x01020304;
  CHECK(cudaGraphMemsetNodeSetParams(twin, &m));
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, clone, &info)); EXPECT(info.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphNodeSetEnabled(exec, clear, 1));
  CHECK(cudaGraphLaunch(exec, stream)); CHECK(cudaStreamSynchronize(stream));
  EXPECT(expect(1, 0x01020304, 5, 700, true));
  EXPECT(calls == 5);
  CHECK(cudaGraphRemoveDependencies(clone, &spikes_twin, &step_twin, nullptr, 1));
  EXPECT(cudaGraphExecUpdate(exec, clone, &info) == cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  cudaGetLastError();

  // Without the child there are no spikes; a circle cannot be launched.
  CHECK(cudaGraphDestroyNode(spikes)); CHECK(cudaGraphAddDependencies(graph, &clear, &step, nullptr, 1));
  cudaGraphExec_t plain;
  CHECK(cudaGraphInstantiate(&plain, graph, 0));
  CHECK(cudaGraphLaunch(plain, stream)); CHECK(cudaStreamSynchronize(stream));
  EXPECT(expect(1, 7, 0, 0, false));
  EXPECT(cudaGraphAddDependencies(graph, &download, &upload, nullptr, 1) != cudaSuccess || cudaGraphInstantiate(&plain, graph, 0) != cudaSuccess);
  cudaGetLastError();

  CHECK(cudaGraphExecDestroy(exec)); CHECK(cudaGraphDestroy(clone)); CHECK(cudaGraphDestroy(child)); CHECK(cudaGraphDestroy(graph));
  puts("a graph of 8 nodes built by hand, changed and cloned: exact");
  return 0;
}
