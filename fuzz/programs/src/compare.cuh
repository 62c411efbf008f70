#endif
#include <stdio.h>

static u32 table[256], scratch[BLOCKS * THREADS * 8];
static u64 expected[BLOCKS * THREADS];
static u64 *begin(u32 block) {
    for (u32 t = 0; t < THREADS; t++) {
        const u32 at = block * THREADS + t;
        for (u32 n = 0; n < 8; n++) scratch[at * 8 + n] = n * at;
    }
    return expected + block * THREADS;
}
static u32 *mine(u32 block, u32 t) { return scratch + (block * THREADS + t) * 8; }
static void fill_table() {
    for (u32 n = 0; n < 256; n++) table[n] = n * 0x9e3779b9u;
}

#ifdef __CUDACC__
static u64 *out;
static u32 *device_table, *device_scratch;
static int wrong;
static void start() {
    fill_table();
    cudaMalloc(&out, sizeof expected);
    cudaMalloc(&device_table, sizeof table);
    cudaMalloc(&device_scratch, sizeof scratch);
    cudaMemcpy(device_table, table, sizeof table, cudaMemcpyHostToDevice);
}
static int finish() {
    printf("%d wrong\n", wrong);
    return wrong > 0;
}
static void compare(const char *kernel) {
    static u64 found[BLOCKS * THREADS];
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    if (const cudaError_t error = cudaGetLastError()) {
        printf("%s: %s\n", kernel, cudaGetErrorString(error));
        wrong++;
    }
    for (u32 at = 0; at < BLOCKS * THREADS; at++) {
        if (found[at] == expected[at]) continue;
        printf("%s: thread %u stores %llx, its twin %llx\n", kernel, at, found[at], expected[at]);
        wrong++;
        return;
    }
}
#define COMPARE(KERNEL) KERNEL<<<BLOCKS, THREADS>>>(out, device_table, device_scratch), compare(#KERNEL)
#else
static void start() { fill_table(); }
static int finish() { return 0; }
#define COMPARE(KERNEL) fwrite(expected, sizeof expected, 1, stdout)
#endif
