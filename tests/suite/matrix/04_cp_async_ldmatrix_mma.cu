// A tensor-core HGEMM of the Ampere school: three cp.async stages, an XOR swizzle so that ldmatrix meets no
// bank conflict, mma.m16n8k16 with f32 sums. B is stored as K x N and read with ldmatrix.trans.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>

namespace {

constexpr int kBlockM = 64, kBlockN = 64, kBlockK = 32, kStages = 3, kWarps = 4;

__device__ uint32_t smem_u32(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void cp_async16(uint32_t dst, const void* src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(dst), "l"(src) : "memory");
}
__device__ void cp_async_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int N>
__device__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory"); }

__device__ void ldsm4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(addr));
}
__device__ void ldsm4_trans(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(addr));
}
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 16-byte chunks of a row, shuffled by the row's number.
__device__ int a_offset(int row, int chunk) { return row * kBlockK + ((chunk ^ (row >> 1 & 3)) << 3); }
__device__ int b_offset(int row, int chunk) { return row * kBlockN + ((chunk ^ (row & 7)) << 3); }

__global__ void __launch_bounds__(kWarps * 32) hgemm(const __half* A, const __half* B, float* C, int M, int N, int K) {
  extern __shared__ __align__(128) __half smem[];
  __half* sA = smem;
  __half* sB = smem + kStages * kBlockM * kBlockK;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int m0 = blockIdx.y * kBlockM, n0 = blockIdx.x * kBlockN;
  const int wm = warp / 2 * 32, wn = warp % 2 * 32;

  auto load = [&](int stage, int k0) {
    for (int i = threadIdx.x; i < kBlockM * kBlockK / 8; i += blockDim.x) {
      int row = i / (kBlockK / 8), chunk = i % (kBlockK / 8);
      cp_async16(smem_u32(sA + stage * kBlockM * kBlockK + a_offset(row, chunk)), A + (m0 + row) * K + k0 + chunk * 8);
    }
    for (int i = threadIdx.x; i < kBlockK * kBlockN / 8; i += blockDim.x) {
      int row = i / (kBlockN / 8), chunk = i % (kBlockN / 8);
      cp_async16(smem_u32(sB + stage * kBlockK * kBlockN + b_offset(row, chunk)), B + (k0 + row) * N + n0 + chunk * 8);
    }
  };

  float acc[2][4][4] = {};
  const int steps = K / kBlockK;
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < steps) load(s, s * kBlockK);
    cp_async_commit();
  }
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    int ahead = step + kStages - 1;
    if (ahead < steps) load(ahead % kStages, ahead * kBlockK);
    cp_async_commit();
    const __half* tileA = sA + step % kStages * kBlockM * kBlockK;
    const __half* tileB = sB + step % kStages * kBlockK * kBlockN;
    for (int kk = 0; kk < kBlockK; kk += 16) {
      uint32_t a[2][4], b[2][4];
      for (int i = 0; i < 2; ++i)
        ldsm4(a[i], smem_u32(tileA + a_offset(wm + i * 16 + lane % 16, kk / 8 + lane / 16)));
      for (int j = 0; j < 2; ++j)
        ldsm4_trans(b[j], smem_u32(tileB + b_offset(kk + lane % 16, (wn + j * 16) / 8 + lane / 16)));
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) mma(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      int row = m0 + wm + i * 16 + lane / 4, col = n0 + wn + j * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(C + row * N + col) = make_float2(acc[i][j][0], acc[i][j][1]);
      *reinterpret_cast<float2*>(C + (row + 8) * N + col) = make_float2(acc[i][j][2], acc[i][j][3]);
    }
}

}  // namespace

int main() {
  constexpr int M = 128, N = 128, K = 160;
  __half *A, *B;
  float* C;
  cudaMallocManaged(&A, M * K * 2);
  cudaMallocManaged(&B, K * N * 2);
  cudaMallocManaged(&C, M * N * 4);
  srand(7);
  // Multiples of 1/4 up to 2: products and sums of 160 of them are exact in f32.
  for (int i = 0; i < M * K; ++i) A[i] = __float2half((rand() % 17 - 8) * 0.25f);
  for (int i = 0; i < K * N; ++i) B[i] = __float2half((rand() % 17 - 8) * 0.25f);
  constexpr int bytes = kStages * (kBlockM + kBlockN) * kBlockK * 2;
  hgemm<<<dim3(N / kBlockN, M / kBlockM), kWarps * 32, bytes>>>(A, B, C, M, N, K);
  if (cudaError_t e = cudaDeviceSynchronize()) {
    printf("%s\n", cudaGetErrorString(e));
    return 2;
  }
  for (int r = 0; r < M; ++r)
    for (int c = 0; c < N; ++c) {
      float want = 0;
      for (int k = 0; k < K; ++k) want += __half2float(A[r * K + k]) * __half2float(B[k * N + c]);
      if (C[r * N + c] != want) {
        printf("C[%d,%d] is %g and should be %g\n", r, c, C[r * N + c], want);
        return 1;
      }
    }
  printf("hgemm %d x %d x %d, cp.async + ldmatrix + mma: exact\n", M, N, K);
  return 0;
}
