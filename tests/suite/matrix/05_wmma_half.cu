/*
 * Tensor cores through nvcuda::wmma: D = alpha * A * B + beta * C with f16 inputs, a leading dimension larger
 * than the row, and an accumulator that is scaled element by element.
 */
#include <mma.h>
#include <cstdio>
#include <vector>
using namespace nvcuda;

__global__ void wmma_gemm(const half *a, int lda, const half *b, int ldb, float *cd, int ldc, int k,
                          float alpha, float beta)
{
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int warpN = blockIdx.y * blockDim.y + threadIdx.y;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_frag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc, c_frag;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(a_frag, a + warpM * 16 * lda + i, lda);
        wmma::load_matrix_sync(b_frag, b + warpN * 16 * ldb + i, ldb);
        wmma::mma_sync(acc, a_frag, b_frag, acc);
    }
    float *tile = cd + warpM * 16 * ldc + warpN * 16;
    wmma::load_matrix_sync(c_frag, tile, ldc, wmma::mem_row_major);
    for (int i = 0; i < c_frag.num_elements; i++)
        c_frag.x[i] = alpha * acc.x[i] + beta * c_frag.x[i];
    wmma::store_matrix_sync(tile, c_frag, ldc, wmma::mem_row_major);
}

int main()
{
    const int m = 64, n = 48, k = 80, lda = k + 8, ldb = k + 16, ldc = n + 4;
    std::vector<half> a(m * lda), b(n * ldb);
    std::vector<float> c(m * ldc), d;
    for (int i = 0; i < m * lda; i++) a[i] = __int2half_rn(i * 5 % 13 - 6);
    for (int i = 0; i < n * ldb; i++) b[i] = __int2half_rn(i * 3 % 11 - 5);
    for (int i = 0; i < m * ldc; i++) c[i] = float(i % 9);
    half *da, *db; float *dc;
    cudaMalloc(&da, a.size() * sizeof(half));
    cudaMalloc(&db, b.size() * sizeof(half));
    cudaMalloc(&dc, c.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyDefault);
    cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyDefault);
    cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyDefault);
    dim3 block(64, 1), grid(m / 16 / 2, n / 16);
    wmma_gemm<<<grid, block>>>(da, lda, db, ldb, dc, ldc, k, 2.0f, -3.0f);
    d.resize(c.size());
    if (cudaMemcpy(d.data(), dc, d.size() * sizeof(float), cudaMemcpyDefault) != cudaSuccess) return 2;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < ldc; j++) {
            float expect = c[i * ldc + j];              /* what is past the row must stay */
            if (j < n) {
                float sum = 0;
                for (int l = 0; l < k; l++) sum += __half2float(a[i * lda + l]) * __half2float(b[j * ldb + l]);
                expect = 2.0f * sum - 3.0f * expect;
            }
            if (d[i * ldc + j] != expect) {
                printf("D[%d][%d]: got %f, expected %f\n", i, j, d[i * ldc + j], expect);
                return 1;
            }
        }
    printf("wmma 16x16x16 f16: all %d elements exact\n", m * n);
    return 0;
}
