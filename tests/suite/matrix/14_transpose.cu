// Transposes: straight, through padded shared memory, and within a warp by shuffles. Any type of 1 to 16 bytes.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

template <class T>
__global__ void naive(T* out, const T* in, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && y < h) out[x * h + y] = in[y * w + x];
}

template <class T>
__global__ void through_shared(T* out, const T* in, int w, int h) {
  __shared__ T tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y)
    if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

// A 32 x 32 tile in the registers of one warp, rotated by five rounds of exchanges (Eklundh's method).
__global__ void in_registers(unsigned* data) {
  unsigned r[32];
  int lane = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 32; i++) r[i] = data[i * 32 + lane];
#pragma unroll
  for (int s = 16; s > 0; s >>= 1) {
#pragma unroll
    for (int i = 0; i < 32; i++)
      if (!(i & s)) {
        bool low = !(lane & s);
        unsigned give = low ? r[i | s] : r[i];
        unsigned got = __shfl_xor_sync(~0u, give, s);
        (low ? r[i | s] : r[i]) = got;
      }
  }
#pragma unroll
  for (int i = 0; i < 32; i++) data[i * 32 + lane] = r[i];
}

template <class T>
int check(const char* name) {
  const int w = 70, h = 45;
  std::vector<T> in(w * h), out(w * h);
  unsigned char* bytes = reinterpret_cast<unsigned char*>(in.data());
  for (size_t i = 0; i < in.size() * sizeof(T); i++) bytes[i] = i * 37 + i / 251;
  T *d_in, *d_out;
  cudaMalloc(&d_in, in.size() * sizeof(T));
  cudaMalloc(&d_out, in.size() * sizeof(T));
  cudaMemcpy(d_in, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice);
  for (int variant = 0; variant < 2; variant++) {
    cudaMemset(d_out, 0, in.size() * sizeof(T));
    if (variant == 0) naive<<<dim3(3, 6), dim3(32, 8)>>>(d_out, d_in, w, h);
    else through_shared<<<dim3(3, 2), dim3(32, 8)>>>(d_out, d_in, w, h);
    if (cudaMemcpy(out.data(), d_out, in.size() * sizeof(T), cudaMemcpyDeviceToHost)) return 2;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        if (memcmp(&out[x * h + y], &in[y * w + x], sizeof(T))) {
          printf("%s, variant %d: element (%d, %d) differs\n", name, variant, x, y);
          return 1;
        }
  }
  cudaFree(d_in), cudaFree(d_out);
  return 0;
}

int main() {
  if (int e = check<unsigned char>("bytes")) return e;
  if (int e = check<short>("shorts")) return e;
  if (int e = check<float>("floats")) return e;
  if (int e = check<double2>("16 bytes")) return e;
  unsigned* data;
  cudaMallocManaged(&data, 4096);
  for (int i = 0; i < 1024; i++) data[i] = i;
  in_registers<<<1, 32>>>(data);
  if (cudaDeviceSynchronize()) return 2;
  for (int i = 0; i < 1024; i++)
    if (data[i] != unsigned(i % 32 * 32 + i / 32)) return printf("register tile, element %d: %u\n", i, data[i]), 1;
  puts("transposes of 1, 2, 4 and 16 bytes, and in registers: exact");
}
