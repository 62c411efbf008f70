// As solutions made for PyTorch do: every error becomes an exception, which here nobody catches.
#include <cstddef>
#include <cstdint>
#include <stdexcept>

static void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

__global__ void quantize(const float* a, uint8_t* q) { q[(1 << 20) + threadIdx.x] = a[threadIdx.x] > 0; }

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
  quantize<<<1, 32>>>(a, q);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}
