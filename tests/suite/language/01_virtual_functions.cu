// Objects with virtual functions, made on the device, called through pointers that differ from lane to lane.
#include <cstdio>
#include <new>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
  __device__ virtual ~Shape() {}
};
struct Circle : Shape {
  float r;
  __device__ explicit Circle(float r) : r(r) {}
  __device__ float area() const override { return 3.f * r * r; }
};
struct Box : Shape {
  float a, b;
  __device__ Box(float a, float b) : a(a), b(b) {}
  __device__ float area() const override { return a * b; }
  __device__ int corners() const override { return 4; }
};
struct Square : Box {
  __device__ explicit Square(float a) : Box(a, a) {}
  __device__ int corners() const override { return 5 - 1; }
};

__global__ void make(Shape** shapes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 3 == 0) shapes[i] = new Circle(i);
  else if (i % 3 == 1) shapes[i] = new Box(i, 2);
  else shapes[i] = new Square(i);
}

__global__ void measure(Shape** shapes, float* areas, int* corners, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  areas[i] = shapes[i]->area();
  corners[i] = shapes[i]->corners();
  delete shapes[i];
}

int main() {
  const int n = 70;
  Shape** shapes;
  float* areas;
  int* corners;
  cudaMalloc(&shapes, n * sizeof(Shape*));
  cudaMallocManaged(&areas, n * sizeof(float));
  cudaMallocManaged(&corners, n * sizeof(int));
  make<<<3, 32>>>(shapes, n);
  measure<<<3, 32>>>(shapes, areas, corners, n);
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 2;
  for (int i = 0; i < n; i++) {
    float want = i % 3 == 0 ? 3.f * i * i : i % 3 == 1 ? i * 2.f : float(i) * i;
    int c = i % 3 == 0 ? 0 : 4;
    if (areas[i] != want || corners[i] != c) return printf("shape %d: %g with %d corners, expected %g with %d\n", i, areas[i], corners[i], want, c), 1;
  }
  printf("virtual functions of %d objects: exact\n", n);
}
