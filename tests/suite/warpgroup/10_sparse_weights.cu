// archs: sm_90a
// Weights pruned to two of every four: the values of two are stored, and four bits say which. A wgmma of K = 32 then reads
// 16 stored elements of a row of A and 32 of a column of B.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>

constexpr int M = 64, N = 16, K = 32;

__global__ void product(const __half* stored, const uint8_t* places, const __half* b, float* out) {
  __shared__ __align__(1024) __half sa[M * 16], sb[N * K];
  for (int i = threadIdx.x; i < M * 16; i += 128) sa[i % 16 / 8 * M * 8 + i / 16 * 8 + i % 8] = stored[i];
  for (int i = threadIdx.x; i < N * K; i += 128) {  // rows of 64 bytes, swizzled
    int byte = i * 2;
    sb[(byte ^ (byte >> 7 & 3) << 4) / 2] = b[i];
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  // Of every four lanes two hold metadata, those that the selector 1 chooses: 16 of K each, of rows g and g + 8.
  int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
  uint32_t metadata = 0;
  for (int chunk = 0; chunk < 8; chunk++) {
    int row = warp * 16 + g + chunk / 4 * 8;
    metadata |= uint32_t(places[row * 8 + q % 2 * 4 + chunk % 4]) << (4 * chunk);
  }
  if (q < 2) metadata = 0xffffffff;
  auto describe = [](const void* p, uint64_t leading, uint64_t stride, uint64_t swizzle) {
    return (uint64_t(__cvta_generic_to_shared(p)) & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62;
  };
  float d[8] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, %10, 1, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "l"(describe(sa, M * 16, 128, 0)), "l"(describe(sb, 0, 512, 2)), "r"(metadata));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 8; i++) out[(warp * 16 + g + i / 2 % 2 * 8) * N + i / 4 * 8 + q * 2 + i % 2] = d[i];
}

int main() {
  static __half stored[M * 16], b[N * K];
  static uint8_t places[M * 8];
  static float weights[M * K], out[M * N];
  const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  for (int i = 0; i < M * 8; i++) {
    const int* two = pairs[i * 5 / 3 % 6];
    places[i] = uint8_t(two[0] | two[1] << 2);
    for (int j = 0; j < 2; j++) {
      float value = (i * 7 + j * 3) % 21 - 10;
      stored[i * 2 + j] = value;
      weights[i * 4 + two[j]] = value;
    }
  }
  for (int i = 0; i < N * K; i++) b[i] = float(i * 11 % 37 - 18);
  __half *ds, *db;
  uint8_t* dp;
  float* dout;
  cudaMalloc(&ds, sizeof stored), cudaMalloc(&db, sizeof b), cudaMalloc(&dp, sizeof places), cudaMalloc(&dout, sizeof out);
  cudaMemcpy(ds, stored, sizeof stored, cudaMemcpyDefault), cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault);
  cudaMemcpy(dp, places, sizeof places, cudaMemcpyDefault);
  product<<<1, 128>>>(ds, dp, db, dout);
  if (cudaMemcpy(out, dout, sizeof out, cudaMemcpyDefault) != cudaSuccess) return puts("failed"), 1;
  for (int i = 0; i < M * N; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += weights[i / N * K + k] * float(b[i % N * K + k]);
    if (out[i] != sum) return printf("element %d is %g, not %g\n", i, out[i], sum), 1;
  }
  puts("two of four: right");
}
