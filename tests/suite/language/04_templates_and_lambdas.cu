// C++ as the standard library's friends write it: fold expressions, if constexpr, structured bindings, constexpr tables,
// functors passed to kernels, CRTP, variadic kernels.
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

template <class... F>
struct Compose;
template <class F>
struct Compose<F> {
  F f;
  template <class T> __host__ __device__ constexpr auto operator()(T x) const { return f(x); }
};
template <class F, class... G>
struct Compose<F, G...> {
  F f;
  Compose<G...> rest;
  template <class T> __host__ __device__ constexpr auto operator()(T x) const { return rest(f(x)); }
};

struct AddN { int n; template <class T> __host__ __device__ constexpr T operator()(T x) const { return x + n; } };
struct Twice { template <class T> __host__ __device__ constexpr T operator()(T x) const { return x * 2; } };
struct Halve {
  template <class T> __host__ __device__ constexpr auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return x >> 1;
    else return x * T(0.5);
  }
};

template <class D>
struct Counter {
  __host__ __device__ int count(int x) const { return static_cast<const D*>(this)->matches(x) ? 1 : 0; }
};
struct Even : Counter<Even> { __host__ __device__ bool matches(int x) const { return x % 2 == 0; } };
struct Big : Counter<Big> { int limit; __host__ __device__ bool matches(int x) const { return x > limit; } };

__host__ __device__ constexpr int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
template <int... I>
__device__ int fib_at(int i, std::integer_sequence<int, I...>) {
  int r = -1;
  ((i == I ? void(r = fibonacci(I)) : void()), ...);
  return r;
}

template <class T, class F, class... C>
__global__ void run(T* x, int* counts, int n, F f, C... counters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = f(x[i]);
  auto body = [=](int v) { return (0 + ... + counters.count(v)) + fib_at(v % 16, std::make_integer_sequence<int, 16>{}); };
  counts[i] = body(i);
}

template <class T>
int test(const char* name) {
  const int n = 300;
  Compose<AddN, Twice, Halve, AddN> f{AddN{3}, {Twice{}, {Halve{}, {AddN{-1}}}}};
  Big big;
  big.limit = 250;
  T* x;
  int* counts;
  cudaMallocManaged(&x, n * sizeof(T)), cudaMallocManaged(&counts, n * sizeof(int));
  for (int i = 0; i < n; i++) x[i] = T(i) * 7;
  run<<<5, 64>>>(x, counts, n, f, Even{}, big);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int i = 0; i < n; i++) {
    auto [want, count] = std::make_tuple(f(T(i) * 7), (i % 2 == 0) + (i > 250) + fibonacci(i % 16));
    if (x[i] != want || counts[i] != count) return printf("%s %d: %g, %d\n", name, i, double(x[i]), counts[i]), 1;
  }
  return 0;
}

int main() {
  if (int e = test<int>("int")) return e;
  if (int e = test<float>("float")) return e;
  if (int e = test<long long>("long long")) return e;
  if (int e = test<double>("double")) return e;
  puts("templates over four types: exact");
}
