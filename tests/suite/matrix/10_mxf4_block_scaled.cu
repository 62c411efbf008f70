// archs: sm_120a
// MXFP4 x MXFP4 on the tensor cores of sm_120a: m16n8k64, a power-of-two scale for every 32 codes. All values are
// small multiples of powers of two: the comparison is exact.
#include <cstdint>
#include <cstdio>
#include <vector>

static const float E2M1[16] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};

// A: m x k codes, row by row, even k in the low nibble; B: n x k likewise. sa, sb: one E8M0 byte for 32 codes.
__global__ void mxf4(const uint8_t* A, const uint8_t* B, const uint8_t* sa, const uint8_t* sb, float* D, int n, int k) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int m0 = blockIdx.y * 16, n0 = blockIdx.x * 8;
  float d[4] = {};
  for (int k0 = 0; k0 < k; k0 += 64) {
    auto codes = [&](const uint8_t* x, int row, int at) {
      return *reinterpret_cast<const uint32_t*>(x + (row * k + k0 + at) / 2);
    };
    uint32_t a0 = codes(A, m0 + g, t * 8), a1 = codes(A, m0 + g + 8, t * 8);
    uint32_t a2 = codes(A, m0 + g, t * 8 + 32), a3 = codes(A, m0 + g + 8, t * 8 + 32);
    uint32_t b0 = codes(B, n0 + g, t * 8), b1 = codes(B, n0 + g, t * 8 + 32);
    // scale_vec::2X: two bytes of a word. With thread-id 0, lanes 0 and 1 of a quad give rows g and g + 8 of A,
    // lane 0 gives column g of B.
    uint32_t sfa = *reinterpret_cast<const uint16_t*>(sa + ((m0 + g + (t & 1) * 8) * k + k0) / 32);
    uint32_t sfb = *reinterpret_cast<const uint16_t*>(sb + ((n0 + g) * k + k0) / 32);
    asm volatile(
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(sfa), "r"(sfb));
  }
  for (int i = 0; i < 4; i++) D[(m0 + g + i / 2 * 8) * n + n0 + t * 2 + i % 2] = d[i];
}

int main() {
  const int m = 32, n = 24, k = 192;
  std::vector<uint8_t> A(m * k / 2), B(n * k / 2), sa(m * k / 32), sb(n * k / 32);
  uint32_t s = 99;
  auto rnd = [&] { s ^= s << 13, s ^= s >> 17, s ^= s << 5; return s; };
  for (auto& x : A) x = rnd();
  for (auto& x : B) x = rnd();
  for (auto& x : sa) x = 127 + rnd() % 5 - 2;
  for (auto& x : sb) x = 127 + rnd() % 5 - 2;
  auto up = [](const std::vector<uint8_t>& v) {
    uint8_t* d;
    cudaMalloc(&d, v.size());
    cudaMemcpy(d, v.data(), v.size(), cudaMemcpyHostToDevice);
    return d;
  };
  float* dD;
  cudaMalloc(&dD, m * n * 4);
  mxf4<<<dim3(n / 8, m / 16), 32>>>(up(A), up(B), up(sa), up(sb), dD, n, k);
  std::vector<float> D(m * n);
  if (cudaMemcpy(D.data(), dD, m * n * 4, cudaMemcpyDeviceToHost)) return 2;
  auto value = [&](const std::vector<uint8_t>& x, const std::vector<uint8_t>& sc, int row, int j) {
    int i = row * k + j;
    return E2M1[x[i / 2] >> (i % 2 * 4) & 15] * float(1 << (sc[i / 32] - 120)) / 128;
  };
  for (int i = 0; i < m * n; i++) {
    double want = 0;
    for (int j = 0; j < k; j++) want += double(value(A, sa, i / n, j)) * value(B, sb, i % n, j);
    if (D[i] != want) return printf("D[%d][%d] = %g, expected %g\n", i / n, i % n, D[i], want), 1;
  }
  printf("mxf4 block-scaled mma: %d elements exact\n", m * n);
}
