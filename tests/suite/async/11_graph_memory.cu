// Memory that belongs to a graph: allocated and freed by a captured stream, or by nodes made by hand; and copies in one batch.
// Nothing is taken from one launch to the next.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

__global__ void add_index(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += i;
}

static int failures = 0;
static void check(cudaError_t code, int line) {
  if (code == cudaSuccess) return;
  printf("line %d: %s\n", line, cudaGetErrorString(code));
  failures++;
}
#define CHECK(call) check(call, __LINE__)

int main() {
  const int n = 1000, grid = (n + 127) / 128;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int *out, *scratch;
  CHECK(cudaMallocHost(&out, n * sizeof(int)));
  auto expect = [&](const char* what, int factor) {
    for (int i = 0; i < n; i++)
      if (out[i] != factor * i && failures++ == 0) printf("%s: %d at %d, expected %d\n", what, out[i], i, factor * i);
  };

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&scratch, n * sizeof(int), stream));
  CHECK(cudaMemsetAsync(scratch, 0, n * sizeof(int), stream));
  add_index<<<grid, 128, 0, stream>>>(scratch, n);
  add_index<<<grid, 128, 0, stream>>>(scratch, n);
  CHECK(cudaMemcpyAsync(out, scratch, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(scratch, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int launch = 0; launch < 3; launch++) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect("captured", 2);
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));

  cudaMemAllocNodeParams memory = {};
  memory.bytesize = n * sizeof(int);
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  cudaGraphNode_t allocate, clear, kernel, copy, release;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &memory));
  cudaMemsetParams zero = {};
  zero.dst = memory.dptr;
  zero.elementSize = 4;
  zero.width = n;
  zero.height = 1;
  CHECK(cudaGraphAddMemsetNode(&clear, graph, &allocate, 1, &zero));
  int count = n;
  void* arguments[] = {&memory.dptr, &count};
  cudaKernelNodeParams launch = {(void*)add_index, dim3(grid), dim3(128), 0, arguments, nullptr};
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &launch));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, out, memory.dptr, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, memory.dptr));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect("by hand", 1);

  // What a graph has allocated may be freed outside of it, and is there again after the next launch.
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&scratch, n * sizeof(int), stream));
  CHECK(cudaMemsetAsync(scratch, 0, n * sizeof(int), stream));
  add_index<<<grid, 128, 0, stream>>>(scratch, n);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int launch = 0; launch < 2; launch++) {
    CHECK(cudaGraphLaunch(executable, stream));
    add_index<<<grid, 128, 0, stream>>>(scratch, n);
    CHECK(cudaMemcpyAsync(out, scratch, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(scratch, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect("freed outside", 2);
  }

  int* device;
  std::vector<int> from(n);
  for (int i = 0; i < n; i++) from[i] = 3 * i;
  CHECK(cudaMalloc(&device, n * sizeof(int)));
  const void* sources[] = {from.data(), from.data() + 100};
  void* targets[] = {device, device + 100};
  size_t sizes[] = {100 * sizeof(int), (n - 100) * sizeof(int)}, first = 0;
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &first, 1, stream));
  CHECK(cudaMemcpyAsync(out, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect("a batch", 3);
  if (!failures) printf("%d elements through memory of graphs\n", n);
  return failures != 0;
}
