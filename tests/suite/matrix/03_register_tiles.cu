// SGEMM as one tunes it by hand: 64x64 block tiles, 4x4 outputs in the registers of each thread, float4
// loads, two shared buffers so that one barrier per step is enough.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>

constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
constexpr int THREADS = (BM / TM) * (BN / TN);

__global__ __launch_bounds__(THREADS) void sgemm(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ alignas(16) float As[2][BK][BM];  // transposed on the way in
  __shared__ alignas(16) float Bs[2][BK][BN];
  const int tid = threadIdx.x;
  const int aRow = tid / (BK / 4), aCol = tid % (BK / 4) * 4;
  const int bRow = tid / (BN / 4), bCol = tid % (BN / 4) * 4;
  const int ty = tid / (BN / TN) * TM, tx = tid % (BN / TN) * TN;
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  float acc[TM][TN] = {};
  auto stage = [&](int buffer, int k0) {
    if (tid < BM * BK / 4) {
      float4 a = *reinterpret_cast<const float4*>(&A[aRow * K + k0 + aCol]);
      As[buffer][aCol + 0][aRow] = a.x;
      As[buffer][aCol + 1][aRow] = a.y;
      As[buffer][aCol + 2][aRow] = a.z;
      As[buffer][aCol + 3][aRow] = a.w;
    }
    if (tid < BK * BN / 4)
      *reinterpret_cast<float4*>(&Bs[buffer][bRow][bCol]) =
          *reinterpret_cast<const float4*>(&B[(k0 + bRow) * N + bCol]);
  };
  stage(0, 0);
  __syncthreads();
  for (int k0 = 0, now = 0; k0 < K; k0 += BK, now ^= 1) {
    if (k0 + BK < K) stage(now ^ 1, k0 + BK);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
      *reinterpret_cast<float4*>(a) = *reinterpret_cast<float4*>(&As[now][k][ty]);
      *reinterpret_cast<float4*>(b) = *reinterpret_cast<float4*>(&Bs[now][k][tx]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] = __fmaf_rn(a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
  C += (blockIdx.y * BM + ty) * N + blockIdx.x * BN + tx;
  for (int i = 0; i < TM; ++i)
    *reinterpret_cast<float4*>(&C[i * N]) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

struct Freer {
  void operator()(float* p) const { cudaFree(p); }
};
using Managed = std::unique_ptr<float[], Freer>;

Managed managed(size_t count) {
  float* p = nullptr;
  cudaError_t e = cudaMallocManaged(&p, count * sizeof(float));
  assert(e == cudaSuccess), (void)e;
  return Managed(p);
}

int main() {
  const int M = 128, N = 64, K = 40;
  auto A = managed(M * K), B = managed(K * N), C = managed(M * N);
  for (int i = 0; i < M * K; ++i) A[i] = std::sin(float(i));
  for (int i = 0; i < K * N; ++i) B[i] = std::cos(float(i));
  sgemm<<<dim3(N / BN, M / BM), THREADS>>>(M, N, K, A.get(), B.get(), C.get());
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int r = 0; r < M; ++r)
    for (int c = 0; c < N; ++c) {
      float want = 0;
      for (int k = 0; k < K; ++k) want = std::fma(A[r * K + k], B[k * N + c], want);
      if (C[r * N + c] != want) {
        std::printf("C(%d,%d) = %.9g, expected %.9g\n", r, c, C[r * N + c], want);
        return 1;
      }
    }
  std::printf("sgemm %dx%dx%d with register tiles and two buffers: exact\n", M, N, K);
}
