// tf32 through wmma: f32 in memory, rounded to 10 bits of mantissa on the way into the fragments.
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace nvcuda;

constexpr int M = 32, N = 32, K = 64;

__device__ __managed__ float A[M][K], B[K][N], C[M][N];

__global__ void tf32_product() {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
  wmma::fill_fragment(c, 0.f);
  const int row = blockIdx.y * 16, col = blockIdx.x * 16;
  for (int k = 0; k < K; k += 8) {
    wmma::load_matrix_sync(a, &A[row][k], K);
    wmma::load_matrix_sync(b, &B[k][col], N);
    for (auto& x : a.x) x = wmma::__float_to_tf32(x);
    for (auto& x : b.x) x = wmma::__float_to_tf32(x);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(&C[row][col], c, N, wmma::mem_row_major);
}

// cvt.rna.tf32: to nearest, ties away from zero.
float tf32(float x) {
  unsigned bits;
  memcpy(&bits, &x, 4);
  bits = (bits + 0x1000u) & ~0x1fffu;
  memcpy(&x, &bits, 4);
  return x;
}

int main() {
  for (int k = 0; k < K; k++) {
    for (int i = 0; i < M; i++) A[i][k] = std::sin((i * K + k) * 0.7f);
    for (int j = 0; j < N; j++) B[k][j] = std::cos((k * N + j) * 0.3f) * 2;
  }
  tf32_product<<<dim3(N / 16, M / 16), 32>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double want = 0, size = 0;
      for (int k = 0; k < K; k++) {
        double term = double(tf32(A[i][k])) * tf32(B[k][j]);
        want += term;
        size += std::fabs(term);
      }
      // Products are exact; each addition may lose 2^-23 of the largest term.
      if (!(std::fabs(C[i][j] - want) <= K * 0x1p-23 * size)) {
        std::printf("C[%d][%d] = %.8g, expected %.8g\n", i, j, C[i][j], want);
        return 1;
      }
    }
  std::printf("wmma tf32 %dx%dx%d: within rounding of the sums\n", M, N, K);
  return 0;
}
