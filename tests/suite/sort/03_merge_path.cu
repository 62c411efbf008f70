/*
 * Merge sort: runs of 32 sorted in the warp by a bitonic network of shuffles, then rounds of merging in which every
 * thread finds its stretch of the output by a binary search on its diagonal (merge path). Stable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long u64;   /* key in the upper half, original position in the lower one */

__global__ void sort_warps(u64 *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 x = i < n ? data[i] : ~0ull;
    int lane = threadIdx.x & 31;
    for (int size = 2; size <= 32; size <<= 1)
        for (int stride = size >> 1; stride; stride >>= 1) {
            u64 y = __shfl_xor_sync(0xffffffff, x, stride);
            bool keep_small = ((lane & stride) == 0) == ((lane & size) == 0);
            x = keep_small ? min(x, y) : max(x, y);
        }
    if (i < n) data[i] = x;
}

__global__ void merge_runs(const u64 *in, u64 *out, int n, int run, int per_thread)
{
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
    if (start >= n) return;
    int pair = start / (2 * run) * (2 * run);
    const u64 *a = in + pair, *b = in + min(n, pair + run);
    int na = min(run, n - pair), nb = max(0, min(run, n - pair - run));
    int diag = start - pair;
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1; else hi = mid;
    }
    int i = lo, j = diag - lo;
    for (int k = 0; k < per_thread && diag + k < na + nb; k++)
        out[start + k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}

static int compare(const void *x, const void *y)
{
    u64 a = *(const u64 *)x, b = *(const u64 *)y;
    return (a > b) - (a < b);
}

int main()
{
    const int n = 3000, per = 4;
    u64 *h = (u64 *)malloc(n * sizeof(u64)), *want = (u64 *)malloc(n * sizeof(u64)), *d[2];
    srand(3);
    for (int i = 0; i < n; i++) h[i] = (u64)(rand() % 500) << 32 | i;
    memcpy(want, h, n * sizeof(u64));
    qsort(want, n, sizeof(u64), compare);
    cudaMalloc((void **)&d[0], n * sizeof(u64));
    cudaMalloc((void **)&d[1], n * sizeof(u64));
    cudaMemcpy(d[0], h, n * sizeof(u64), cudaMemcpyHostToDevice);
    sort_warps<<<(n + 127) / 128, 128>>>(d[0], n);
    int from = 0;
    for (int run = 32; run < n; run *= 2, from ^= 1)
        merge_runs<<<(n / per + 64) / 64, 64>>>(d[from], d[from ^ 1], n, run, per);
    if (cudaMemcpy(h, d[from], n * sizeof(u64), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    for (int i = 0; i < n; i++)
        if (h[i] != want[i]) { printf("position %d: %llx, expected %llx\n", i, h[i], want[i]); return 1; }
    printf("merge sort of %d keys, stable: in order\n", n);
    return 0;
}
