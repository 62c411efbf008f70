// redux.sync: the whole warp's sum, minimum, maximum and bits in one instruction, for lanes chosen by a mask.
#include <cstdio>
#include <cstdint>

struct Result { int sum, lo, hi; unsigned umin, umax, all, any, odd, half; };

__global__ void reduce(const int *in, Result *out)
{
    int v = in[blockIdx.x * 32 + threadIdx.x];
    Result r;
    const unsigned full = 0xffffffffu;
    r.sum  = __reduce_add_sync(full, v);
    r.lo   = __reduce_min_sync(full, v);
    r.hi   = __reduce_max_sync(full, v);
    r.umin = __reduce_min_sync(full, (unsigned)v);
    r.umax = __reduce_max_sync(full, (unsigned)v);
    r.all  = __reduce_and_sync(full, (unsigned)v);
    r.any  = __reduce_or_sync(full, (unsigned)v);
    r.odd  = __reduce_xor_sync(full, (unsigned)v);
    // Only the upper half takes part in the last one.
    if (threadIdx.x >= 16) r.half = __reduce_add_sync(0xffff0000u, (unsigned)v);
    if (threadIdx.x == 31) out[blockIdx.x] = r;
}

int main()
{
    const int warps = 40;
    int *in;
    Result *out;
    cudaMallocManaged(&in, warps * 32 * sizeof(int));
    cudaMallocManaged(&out, warps * sizeof(Result));
    uint32_t x = 2463534242u;
    for (int i = 0; i < warps * 32; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        in[i] = i < 64 ? (int)(x >> 1) | 5 : (int)x;
    }
    reduce<<<warps, 32>>>(in, out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    for (int w = 0; w < warps; w++) {
        Result e = {0, INT32_MAX, INT32_MIN, UINT32_MAX, 0, ~0u, 0, 0, 0};
        unsigned sum = 0;
        for (int i = 0; i < 32; i++) {
            int v = in[w * 32 + i];
            unsigned u = v;
            sum += u;
            e.lo = v < e.lo ? v : e.lo;
            e.hi = v > e.hi ? v : e.hi;
            e.umin = u < e.umin ? u : e.umin;
            e.umax = u > e.umax ? u : e.umax;
            e.all &= u; e.any |= u; e.odd ^= u;
            if (i >= 16) e.half += u;
        }
        e.sum = (int)sum;
        const unsigned *p = (const unsigned *)&e, *q = (const unsigned *)&out[w];
        for (int i = 0; i < 9; i++)
            if (p[i] != q[i]) { printf("warp %d, value %d: %08x, expected %08x\n", w, i, q[i], p[i]); return 1; }
    }
    printf("redux over %d warps: exact\n", warps);
    return 0;
}
