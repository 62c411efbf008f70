// The driver's interface, called directly: a module from PTX, its kernel and its variable, arguments as a list and in one
// buffer, errors that are the driver's. Nothing of it is left for cudaGetLastError.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static const char text[] = R"(
.version 8.0
.target sm_80
.address_size 64
.global .u32 factor = 3;
.visible .entry scale(.param .u64 data, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r2, %r3, %r4, %r2;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra done;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r3, [%d1];
  ld.global.u32 %r4, [factor];
  mul.lo.u32 %r3, %r3, %r4;
  st.global.u32 [%d1], %r3;
done:
  ret;
})";

static void check(CUresult code, int line) {
  if (code == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  printf("line %d: %s\n", line, name);
  exit(1);
}
#define CHECK(call) check(call, __LINE__)

int main() {
  int failures = 0;
  auto expect = [&](const char* what, bool right) {
    if (!right) printf("wrong: %s\n", what), failures++;
  };
  const unsigned n = 1000, block = 128, grid = (n + block - 1) / block;
  CUdevice device;
  CUcontext context, current;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuCtxGetCurrent(&current));
  expect("the context is current", current == context);
  char name[8];
  CHECK(cuDeviceGetName(name, sizeof name, device));
  expect("a name is cut to its room", strlen(name) == 7);

  CUmodule module;
  CUfunction scale, none;
  CUdeviceptr factor, data;
  size_t bytes;
  CHECK(cuModuleLoadData(&module, text));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  CHECK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  expect("a variable's size", bytes == 4);
  expect("no such kernel", cuModuleGetFunction(&none, module, "other") == CUDA_ERROR_NOT_FOUND);
  const unsigned seven = 7;
  CHECK(cuMemcpyHtoD(factor, &seven, 4));

  CHECK(cuMemAlloc(&data, n * 4));
  CHECK(cuMemsetD32(data, 5, n));
  CUstream stream;
  CUevent begin, end;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  unsigned count = n;
  void* list[] = {&data, &count};
  CHECK(cuEventRecord(begin, stream));
  CHECK(cuLaunchKernel(scale, grid, 1, 1, block, 1, 1, 0, stream, list, nullptr));
  CHECK(cuEventRecord(end, stream));
  struct { CUdeviceptr data; unsigned n; } buffer = {data, n - 1};
  size_t size = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(scale, grid, 1, 1, block, 1, 1, 0, stream, nullptr, extra));
  CHECK(cuStreamSynchronize(stream));
  float milliseconds;
  CHECK(cuEventElapsedTime(&milliseconds, begin, end));
  std::vector<unsigned> got(n);
  CHECK(cuMemcpyDtoH(got.data(), data, n * 4));
  for (unsigned i = 0; i < n; i++) expect("an element", got[i] == (i < n - 1 ? 5u * 49 : 5u * 7));

  CUresult (*allocate)(CUdeviceptr*, size_t) = nullptr;
  CUdriverProcAddressQueryResult status;
  CHECK(cuGetProcAddress("cuMemAlloc", (void**)&allocate, 13000, 0, &status));
  expect("by name", allocate == (void*)cuMemAlloc && status == CU_GET_PROC_ADDRESS_SUCCESS);
  expect("a grid of none", cuLaunchKernel(scale, 0, 1, 1, 1, 1, 1, 0, stream, list, nullptr) == CUDA_ERROR_INVALID_VALUE);
  char log[200] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)(size_t)sizeof log};
  CUmodule broken;
  expect("no PTX", cuModuleLoadDataEx(&broken, ".version 8.0\nnonsense", 2, options, values) == CUDA_ERROR_INVALID_PTX);
  expect("the log says where", strstr(log, "line 2"));
  expect("the runtime knows of no error", cudaGetLastError() == cudaSuccess);
  CHECK(cuMemFree(data));
  CHECK(cuModuleUnload(module));
  expect("unloaded", cuModuleGetFunction(&none, module, "scale") == CUDA_ERROR_INVALID_HANDLE);

  cudaLibrary_t library;
  cudaKernel_t kernel;
  unsigned* managed;
  cudaMallocManaged(&managed, 4);
  *managed = 2;
  expect("as a library", cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess);
  expect("its kernel", cudaLibraryGetKernel(&kernel, library, "scale") == cudaSuccess);
  count = 1;
  void* arguments[] = {&managed, &count};
  expect("its launch", cudaLaunchKernel((const void*)kernel, dim3(1), dim3(1), arguments, 0, nullptr) == cudaSuccess);
  cudaDeviceSynchronize();
  expect("its variable is its own", *managed == 6);
  if (!failures) printf("%u elements by the driver\n", n);
  return failures != 0;
}
