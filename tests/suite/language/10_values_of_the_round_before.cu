// Loops whose values come from the round before, or from the round that was best; arrays walked from before
// their first element; recursion with much at hand.
#include <cstdio>
#include <vector>

__host__ __device__ unsigned previous(const unsigned* a, int n)
{
    unsigned sum = 0, before;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        unsigned now = a[i] * 2654435761u;
        if (i) sum += before * now;
        before = now;
    }
    return sum;
}

__host__ __device__ int best(const unsigned* a, int n)
{
    unsigned least = 0xffffffff;
    int best;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        unsigned e = a[i] ^ 0x5bd1e995;
        int v = i * 3 + 1;
        if (e < least) {
            least = e;
            best = v;
        }
    }
    return best;
}

__host__ __device__ unsigned backwards(const unsigned* a, int n)
{
    unsigned char seen[7];
    for (int i = 0; i < 7; i++) seen[i] = (unsigned char)a[i % n];
    unsigned sum = 0;
    unsigned char* p = seen + a[0] % 7 + 1;
    while (p != seen) {
        sum = sum * 257 + p[-1];
        p--;
    }
    unsigned long long words[9];
    for (int i = 8; i >= 0; i--) words[i] = a[(i * 7) % n] * 3ull;
    for (unsigned long long t = a[1] % 9 + 1; t > 0; t--) sum += (unsigned)words[t - 1];
    return sum;
}

__host__ __device__ unsigned deep(const unsigned* a, int n, int depth, unsigned x, unsigned y, unsigned z)
{
    if (depth == 0) return x ^ y ^ z;
    unsigned left = deep(a, n, depth - 1, y + a[depth % n], z, x * 3);
    unsigned right = depth % 3 ? 0 : deep(a, n, depth - 2 < 0 ? 0 : depth - 2, left, x, y);
    return left * 5 + right * 7 + x + y * z;
}

struct Results { unsigned previous, backwards, deep; int best; };

__host__ __device__ Results all(const unsigned* a, int n)
{
    return {previous(a, n), backwards(a, n), deep(a, n, 12, a[0], a[1], a[2]), best(a, n)};
}

__global__ void kernel(const unsigned* a, int n, Results* out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = all(a + t, n - t % 5);
}

int main()
{
    const int threads = 256, n = 21;
    std::vector<unsigned> a(threads + n);
    unsigned state = 1;
    for (unsigned& x : a) x = state = state * 1664525 + 1013904223;
    unsigned* da;
    Results* dout;
    cudaMalloc(&da, a.size() * sizeof(unsigned));
    cudaMalloc(&dout, threads * sizeof(Results));
    cudaMemcpy(da, a.data(), a.size() * sizeof(unsigned), cudaMemcpyHostToDevice);
    kernel<<<2, threads / 2>>>(da, n, dout);
    std::vector<Results> out(threads);
    cudaError_t error = cudaMemcpy(out.data(), dout, threads * sizeof(Results), cudaMemcpyDeviceToHost);
    if (error) { printf("%s\n", cudaGetErrorString(error)); return 1; }
    for (int t = 0; t < threads; t++) {
        Results w = all(a.data() + t, n - t % 5), g = out[t];
        if (w.previous != g.previous || w.backwards != g.backwards || w.deep != g.deep || w.best != g.best) {
            printf("thread %d: %x %x %x %d, not %x %x %x %d\n", t, g.previous, g.backwards, g.deep, g.best, w.previous,
                   w.backwards, w.deep, w.best);
            return 1;
        }
    }
    printf("%d threads have the values of the host\n", threads);
}
