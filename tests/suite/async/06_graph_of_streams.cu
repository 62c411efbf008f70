// A CUDA graph captured from two streams that fork and join, with a host function in it, launched again and again.
#include <cuda_runtime.h>
#include <cstdio>

#define TRY(x) do { cudaError_t e_ = (x); if (e_) { printf("%s: %s\n", #x, cudaGetErrorString(e_)); return 2; } } while (0)

__global__ void scale(float* x, int n, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
__global__ void shift(float* x, int n, float b) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += b; }
__global__ void join(const float* x, const float* y, float* z, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = x[i] - y[i]; }

static void CUDART_CB count(void* data) { ++*static_cast<int*>(data); }

int main() {
  const int n = 1000, t = 128, b = (n + t - 1) / t;
  float *x, *y, *z, h[n];
  TRY(cudaMalloc(&x, n * 4)); TRY(cudaMalloc(&y, n * 4)); TRY(cudaMalloc(&z, n * 4));
  cudaStream_t main_stream, side;
  TRY(cudaStreamCreate(&main_stream)); TRY(cudaStreamCreate(&side));
  cudaEvent_t fork, joined;
  TRY(cudaEventCreate(&fork)); TRY(cudaEventCreate(&joined));
  for (int i = 0; i < n; i++) h[i] = i;
  TRY(cudaMemcpy(x, h, n * 4, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(y, h, n * 4, cudaMemcpyHostToDevice));
  int launches = 0;

  cudaGraph_t graph;
  TRY(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  TRY(cudaEventRecord(fork, main_stream));
  TRY(cudaStreamWaitEvent(side, fork));
  scale<<<b, t, 0, main_stream>>>(x, n, 2.f);
  shift<<<b, t, 0, side>>>(y, n, 1.f);
  TRY(cudaEventRecord(joined, side));
  TRY(cudaStreamWaitEvent(main_stream, joined));
  join<<<b, t, 0, main_stream>>>(x, y, z, n);
  TRY(cudaLaunchHostFunc(main_stream, count, &launches));
  TRY(cudaStreamEndCapture(main_stream, &graph));
  cudaGraphExec_t exec;
  TRY(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++) TRY(cudaGraphLaunch(exec, main_stream));
  TRY(cudaStreamSynchronize(main_stream));
  if (launches != 3) return printf("%d calls of the host function\n", launches), 1;
  TRY(cudaMemcpy(h, z, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    if (h[i] != 8.f * i - (i + 3.f)) return printf("z[%d] = %g, expected %g\n", i, h[i], 8.f * i - (i + 3.f)), 1;

  TRY(cudaGraphExecDestroy(exec)); TRY(cudaGraphDestroy(graph));
  puts("a captured graph, launched three times: exact");
  return 0;
}
