// Recursion, functions and methods through pointers, and memory of the stack.
#include <cstdio>
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int thrice(int x) { return 3 * x; }
typedef int (*op)(int);
__device__ op table[2] = {twice, thrice};
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const override { return s * s; } };
struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const override { return 3.0f * r * r; } };
__global__ void kernel(int *out, float *areas) {
    int t = threadIdx.x;
    out[t] = fib(t % 10);
    op f = table[t & 1];
    out[t + 32] = f(t);
    Shape *s;
    if (t & 1) s = new Square(t); else s = new Circle(t);
    areas[t] = s->area();
    delete s;
    int *scratch = (int *)alloca((t + 1) * 4);
    for (int i = 0; i <= t; i++) scratch[i] = i;
    int sum = 0;
    for (int i = 0; i <= t; i++) sum += scratch[t - i];
    out[t + 64] = sum;
}
int main() {
    int *out; float *areas;
    cudaMallocManaged(&out, 96 * 4); cudaMallocManaged(&areas, 32 * 4);
    kernel<<<1, 32>>>(out, areas);
    cudaError_t e = cudaDeviceSynchronize();
    int wrong = e != cudaSuccess;
    int fibs[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
    for (int t = 0; t < 32 && !e; t++) {
        wrong += out[t] != fibs[t % 10];
        wrong += out[t + 32] != (t & 1 ? 3 : 2) * t;
        wrong += areas[t] != (t & 1 ? 1.0f : 3.0f) * t * t;
        wrong += out[t + 64] != t * (t + 1) / 2;
    }
    printf("%s %d wrong\n", cudaGetErrorString(e), wrong);
    return wrong != 0;
}
