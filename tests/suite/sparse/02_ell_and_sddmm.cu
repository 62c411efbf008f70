/* ELLPACK (column-major, padded with -1) times a few vectors at once, and a sampled dense-dense product. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 130
#define COLS 90
#define WIDTH 7
#define VECTORS 4

__global__ void ell_spmm(const int *col, const float *val, const float4 *x, float4 *y) {
    int r = threadIdx.x + blockIdx.x * blockDim.x;
    if (r >= ROWS) return;
    float4 s = {0, 0, 0, 0};
    for (int k = 0; k < WIDTH; k++) {
        int c = col[k * ROWS + r];
        if (c < 0) break;
        float v = val[k * ROWS + r];
        float4 q = x[c];
        s.x += v * q.x; s.y += v * q.y; s.z += v * q.z; s.w += v * q.w;
    }
    y[r] = s;
}

/* out[k][r] = dot(a[r], b[col]) where there is an entry */
__global__ void sddmm(const int *col, const float4 *a, const float4 *b, float *out) {
    int r = blockIdx.x, k = threadIdx.x;
    int c = col[k * ROWS + r];
    if (c >= 0) {
        float4 p = a[r], q = b[c];
        out[k * ROWS + r] = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
}

int main() {
    static int col[WIDTH * ROWS];
    static float val[WIDTH * ROWS], x[COLS][VECTORS], y[ROWS][VECTORS], out[WIDTH * ROWS], yw[ROWS][VECTORS];
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < WIDTH; k++) {
            col[k * ROWS + r] = k < r % (WIDTH + 1) ? (r * 3 + k * 17) % COLS : -1;
            val[k * ROWS + r] = (float)((r + k) % 9 - 4);
        }
    for (int c = 0; c < COLS; c++) for (int v = 0; v < VECTORS; v++) x[c][v] = (float)((c * 5 + v) % 13 - 6);
    for (int r = 0; r < ROWS; r++) for (int k = 0; k < WIDTH && col[k * ROWS + r] >= 0; k++)
        for (int v = 0; v < VECTORS; v++) yw[r][v] += val[k * ROWS + r] * x[col[k * ROWS + r]][v];
    int *dcol; float *dval, *dout; float4 *dx, *dy;
    cudaMalloc((void **)&dcol, sizeof col); cudaMalloc((void **)&dval, sizeof val); cudaMalloc((void **)&dx, sizeof x);
    cudaMalloc((void **)&dy, sizeof y); cudaMalloc((void **)&dout, sizeof out);
    cudaMemcpy(dcol, col, sizeof col, cudaMemcpyHostToDevice);
    cudaMemcpy(dval, val, sizeof val, cudaMemcpyHostToDevice);
    cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemset(dout, 0, sizeof out);
    ell_spmm<<<(ROWS + 31) / 32, 32>>>(dcol, dval, dx, dy);
    sddmm<<<ROWS, WIDTH>>>(dcol, dy, dx, dout);
    cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
    if (cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    for (int r = 0; r < ROWS; r++) {
        for (int v = 0; v < VECTORS; v++)
            if (y[r][v] != yw[r][v]) { printf("y[%d][%d] = %g, expected %g\n", r, v, y[r][v], yw[r][v]); return 1; }
        for (int k = 0; k < WIDTH; k++) {
            float want = 0;
            int c = col[k * ROWS + r];
            if (c >= 0) for (int v = 0; v < VECTORS; v++) want += yw[r][v] * x[c][v];
            if (out[k * ROWS + r] != want) { printf("sample (%d, %d): %g, expected %g\n", r, c, out[k * ROWS + r], want); return 1; }
        }
    }
    printf("ELLPACK product and sampled product: exact\n");
    return 0;
}
