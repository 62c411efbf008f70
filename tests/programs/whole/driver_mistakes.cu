// What the driver's interface refuses: null, damaged, destroyed, too short, misaligned. Each has the error that `cuda.h`
// and the manual name for it.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>

static const char text[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry put(.param .u64 place)
{
  .reg .b64 %d;
  ld.param.u64 %d, [place];
  st.global.u32 [%d], 7;
  ret;
})";

static void write(const char* name, const void* bytes, size_t count) {
  FILE* file = fopen(name, "wb");
  fwrite(bytes, 1, count, file);
  fclose(file);
}

int main() {
  int failures = 0;
  auto expect = [&](const char* what, int got, int wanted) {
    if (got != wanted) printf("%s: %d, not %d\n", what, got, wanted), failures++;
  };
  CUcontext context;
  cuInit(0);
  expect("no such context", cuCtxSetCurrent((CUcontext)0x1234), CUDA_ERROR_INVALID_CONTEXT);
  expect("a context", cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  expect("its end", cuCtxDestroy(context), CUDA_SUCCESS);
  expect("its end again", cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  expect("a destroyed context", cuCtxPushCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
  char name[4] = "abc";
  expect("a name to nowhere", cuDeviceGetName(nullptr, 4, 0), CUDA_ERROR_INVALID_VALUE);
  expect("a name without room", cuDeviceGetName(name, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect("what is behind no room", name[0], 'a');

  CUmodule module;
  // A container that says it is longer than its file, and a wrapper, whose pointer is none in a file.
  const unsigned long long cut[2] = {0x0010'0001'ba55'ed50, 1ull << 40}, wrapper[3] = {0x1'4662'43b1, 0x1000, 0};
  write("cut.fatbin", cut, sizeof cut);
  write("wrapper.fatbin", wrapper, sizeof wrapper);
  write("text.ptx", text, sizeof text - 1);
  expect("a damaged file", cuModuleLoad(&module, "cut.fatbin"), CUDA_ERROR_INVALID_IMAGE);
  expect("a file that is none", cuModuleLoad(&module, "wrapper.fatbin"), CUDA_ERROR_INVALID_PTX);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {name, nullptr};
  expect("no options", cuModuleLoadDataEx(&module, "?", 2, nullptr, values), CUDA_ERROR_INVALID_PTX);
  expect("a log without room", cuModuleLoadDataEx(&module, "?", 2, options, values), CUDA_ERROR_INVALID_PTX);
  expect("what is behind it", name[0], 'a');
  expect("a good file", cuModuleLoad(&module, "text.ptx"), CUDA_SUCCESS);

  CUfunction nothing, put;
  CUdeviceptr data;
  cuModuleGetFunction(&nothing, module, "nothing");
  cuModuleGetFunction(&put, module, "put");
  cuMemAlloc(&data, 64);
  void* list[] = {&data};
  size_t size = sizeof data;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &data, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  void* empty[] = {CU_LAUNCH_PARAM_END};
  auto launch = [](CUfunction function, void** list, void** extra) {
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, list, extra);
  };
  expect("arguments twice", launch(put, list, extra), CUDA_ERROR_INVALID_VALUE);
  expect("none for one", launch(put, nullptr, empty), CUDA_ERROR_INVALID_VALUE);
  expect("none for none", launch(nothing, nullptr, empty), CUDA_SUCCESS);
  expect("words not at words", cuMemsetD32(data + 1, 0, 2), CUDA_ERROR_INVALID_VALUE);

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphNode_t node;
  void* none;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  expect("no bytes in a capture", cudaMallocAsync(&none, 0, stream), cudaErrorInvalidValue);
  cudaStreamEndCapture(stream, &graph);
  cudaMemAllocNodeParams nobody = {};
  expect("a node of no bytes", cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &nobody), cudaErrorInvalidValue);

  expect("all again", cudaDeviceReset(), cudaSuccess);
  expect("the thread's stream is still there", cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  if (!failures) printf("every mistake has its error\n");
  return failures != 0;
}
