// y = A x with A in CSR: a thread for each row, 2 to 32 lanes for each row (a template), and a balanced version that gives
// every warp the same number of entries and finds rows by binary search.
#include <cstdio>
#include <vector>

struct Csr { int rows; const int *offsets, *columns; const double* values; };

__global__ void scalar(Csr a, const double* x, double* y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= a.rows) return;
  double sum = 0;
  for (int i = a.offsets[r]; i < a.offsets[r + 1]; i++) sum += a.values[i] * x[a.columns[i]];
  y[r] = sum;
}

template <int LANES>
__global__ void vector(Csr a, const double* __restrict__ x, double* y) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
  double sum = 0;
  if (r < a.rows)
    for (int i = a.offsets[r] + lane; i < a.offsets[r + 1]; i += LANES) sum += a.values[i] * __ldg(x + a.columns[i]);
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, LANES);
  if (lane == 0 && r < a.rows) y[r] = sum;
}

__global__ void balanced(Csr a, int entries, const double* x, double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, row = -1;
  double v = 0;
  if (i < entries) {
    int lo = 0, hi = a.rows;
    while (hi - lo > 1) {
      int mid = (lo + hi) / 2;
      (a.offsets[mid] <= i ? lo : hi) = mid;
    }
    row = lo;
    v = a.values[i] * x[a.columns[i]];
  }
  for (int d = 1; d < 32; d *= 2) {
    double up = __shfl_up_sync(~0u, v, d);
    int its = __shfl_up_sync(~0u, row, d);
    if (lane >= d && its == row) v += up;
  }
  int next = __shfl_down_sync(~0u, row, 1);
  if (row >= 0 && (lane == 31 || next != row)) atomicAdd(&y[row], v);
}

int main() {
  const int rows = 300, cols = 200;
  std::vector<int> offsets{0}, columns;
  std::vector<double> values, x(cols), want(rows);
  for (int r = 0; r < rows; r++) {
    int n = r % 11 == 0 ? 0 : r % 37 == 1 ? 150 : r % 9;
    for (int i = 0; i < n; i++) columns.push_back((r * 7 + i * 13) % cols), values.push_back(int(columns.size() * 31 % 41) - 20);
    offsets.push_back(columns.size());
  }
  for (int c = 0; c < cols; c++) x[c] = c % 17 - 8;
  for (int r = 0; r < rows; r++)
    for (int i = offsets[r]; i < offsets[r + 1]; i++) want[r] += values[i] * x[columns[i]];
  auto up = [](const auto& v) {
    void* d;
    cudaMalloc(&d, v.size() * sizeof v[0]);
    cudaMemcpy(d, v.data(), v.size() * sizeof v[0], cudaMemcpyHostToDevice);
    return d;
  };
  Csr a{rows, (int*)up(offsets), (int*)up(columns), (double*)up(values)};
  double *dx = (double*)up(x), *dy;
  cudaMalloc(&dy, rows * 8);
  const int entries = columns.size();
  for (int way = 0; way < 5; way++) {
    cudaMemset(dy, way == 4 ? 0 : 0xff, rows * 8);
    if (way == 0) scalar<<<(rows + 63) / 64, 64>>>(a, dx, dy);
    if (way == 1) vector<2><<<(rows * 2 + 63) / 64, 64>>>(a, dx, dy);
    if (way == 2) vector<8><<<(rows * 8 + 127) / 128, 128>>>(a, dx, dy);
    if (way == 3) vector<32><<<(rows * 32 + 127) / 128, 128>>>(a, dx, dy);
    if (way == 4) balanced<<<(entries + 127) / 128, 128>>>(a, entries, dx, dy);
    std::vector<double> got(rows);
    if (cudaMemcpy(got.data(), dy, rows * 8, cudaMemcpyDeviceToHost)) return 2;
    for (int r = 0; r < rows; r++)
      if (got[r] != want[r]) return printf("way %d, row %d: %g, expected %g\n", way, r, got[r], want[r]), 1;
  }
  printf("sparse matrix times vector, five ways, %d entries: exact\n", entries);
}
