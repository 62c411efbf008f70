// Tensor cores against the emulator: every form of mma that sm_90 has, on operands made up from a counter. A line for
// each form and round holds a hash of D. The same program runs on the card (nvcc -arch=sm_90a) and on the emulator
// (nibble run --arch sm_90a); equal lines are equal bits in every element. Rounds: 0 to 15 are numbers near one,
// 16 to 23 of a wide range, 24 to 27 any bits at all.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int ROUNDS = 28;

// How the words of an operand are made.
enum Kind { HALF, BRAIN, FLOAT, BYTES, E4M3, E5M2, DOUBLE };

__host__ __device__ inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

// A float whose exponent is within `spread` of one's.
__device__ uint32_t near_one(uint32_t seed, int bits, int bias, int mantissa, int spread) {
  uint32_t random = mix(seed);
  uint32_t exponent = bias + int(mix(random) % (2 * spread + 1)) - spread;
  uint32_t sign = random >> 31 << (bits - 1);
  return sign | exponent << mantissa | (random & ((1u << mantissa) - 1));
}

__device__ uint32_t word(Kind kind, uint32_t seed, int round) {
  uint32_t random = mix(seed * 31 + round * 0x9e3779b9u);
  bool wild = round >= 24, wide = round >= 16;
  if (wild || kind == BYTES) return random;
  switch (kind) {
    case HALF:
      return near_one(random, 16, 15, 10, wide ? 13 : 4) | near_one(random + 1, 16, 15, 10, wide ? 13 : 4) << 16;
    case BRAIN:
      return near_one(random, 16, 127, 7, wide ? 40 : 4) | near_one(random + 1, 16, 127, 7, wide ? 40 : 4) << 16;
    case FLOAT:
      return near_one(random, 32, 127, 23, wide ? 40 : 6);
    case E4M3:  // no NaN
      return random & ~0x08080808u;
    case E5M2:  // no infinity, no NaN
      return random & ~0x04040404u & ~0x40404040u;
    default:
      return random;
  }
}

// Up to 8 registers of 32 bits for each operand; doubles take two.
struct Operands {
  uint32_t a[16], b[8], c[8];
};

__device__ void fill(Operands& o, Kind ab, Kind c, int round) {
  uint32_t seed = threadIdx.x * 64 + round * 4096 + ab * 131072;
  for (int i = 0; i < 16; i++) o.a[i] = word(ab, seed + i, round);
  for (int i = 0; i < 8; i++) o.b[i] = word(ab, seed + 16 + i, round);
  for (int i = 0; i < 8; i++) o.c[i] = word(c, seed + 24 + i, round);
}

#define KERNEL(NAME, AB, C, OUT, CODE)                                              \
  __global__ void NAME(uint32_t* d) {                                               \
    for (int round = 0; round < ROUNDS; round++) {                                  \
      Operands o;                                                                   \
      fill(o, AB, C, round);                                                        \
      uint32_t r[8] = {};                                                           \
      CODE;                                                                         \
      for (int i = 0; i < OUT; i++) d[(round * 32 + threadIdx.x) * 8 + i] = r[i];   \
    }                                                                               \
  }

// D of four registers; A of four, two or one; B of two or one.
#define MMA_442(FORM)                                                                                              \
  asm volatile("mma.sync.aligned." FORM " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"                  \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                                    \
               : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "r"(o.b[0]), "r"(o.b[1]), "r"(o.c[0]),        \
                 "r"(o.c[1]), "r"(o.c[2]), "r"(o.c[3]))
#define MMA_421(FORM)                                                                                              \
  asm volatile("mma.sync.aligned." FORM " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"                              \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                                    \
               : "r"(o.a[0]), "r"(o.a[1]), "r"(o.b[0]), "r"(o.c[0]), "r"(o.c[1]), "r"(o.c[2]), "r"(o.c[3]))
#define MMA_242(FORM)                                                                                              \
  asm volatile("mma.sync.aligned." FORM " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};"                                  \
               : "=r"(r[0]), "=r"(r[1])                                                                            \
               : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "r"(o.b[0]), "r"(o.b[1]), "r"(o.c[0]),        \
                 "r"(o.c[1]))
#define MMA_221(FORM)                                                                                              \
  asm volatile("mma.sync.aligned." FORM " {%0,%1},{%2,%3},{%4},{%5,%6};"                                           \
               : "=r"(r[0]), "=r"(r[1])                                                                            \
               : "r"(o.a[0]), "r"(o.a[1]), "r"(o.b[0]), "r"(o.c[0]), "r"(o.c[1]))

KERNEL(f16_k16, HALF, FLOAT, 4, MMA_442("m16n8k16.row.col.f32.f16.f16.f32"))
KERNEL(f16_k8, HALF, FLOAT, 4, MMA_421("m16n8k8.row.col.f32.f16.f16.f32"))
KERNEL(f16_k16_f16, HALF, HALF, 2, MMA_242("m16n8k16.row.col.f16.f16.f16.f16"))
KERNEL(f16_k8_f16, HALF, HALF, 2, MMA_221("m16n8k8.row.col.f16.f16.f16.f16"))
KERNEL(bf16_k16, BRAIN, FLOAT, 4, MMA_442("m16n8k16.row.col.f32.bf16.bf16.f32"))
KERNEL(bf16_k8, BRAIN, FLOAT, 4, MMA_421("m16n8k8.row.col.f32.bf16.bf16.f32"))
KERNEL(tf32_k8, FLOAT, FLOAT, 4, MMA_442("m16n8k8.row.col.f32.tf32.tf32.f32"))
KERNEL(tf32_k4, FLOAT, FLOAT, 4, MMA_421("m16n8k4.row.col.f32.tf32.tf32.f32"))
KERNEL(e4m3_k32, E4M3, FLOAT, 4, MMA_442("m16n8k32.row.col.f32.e4m3.e4m3.f32"))
KERNEL(e5m2_k32, E5M2, FLOAT, 4, MMA_442("m16n8k32.row.col.f32.e5m2.e5m2.f32"))
KERNEL(e4m3_k16, E4M3, FLOAT, 4, MMA_421("m16n8k16.row.col.f32.e4m3.e4m3.f32"))
KERNEL(e4m3_k32_f16, E4M3, HALF, 2, MMA_242("m16n8k32.row.col.f16.e4m3.e4m3.f16"))
KERNEL(s8_k32, BYTES, BYTES, 4, MMA_442("m16n8k32.row.col.s32.s8.s8.s32"))
KERNEL(u8_k32_satfinite, BYTES, BYTES, 4, MMA_442("m16n8k32.row.col.satfinite.s32.u8.s8.s32"))
KERNEL(s8_k16, BYTES, BYTES, 4, MMA_421("m16n8k16.row.col.s32.s8.u8.s32"))
KERNEL(s4_k64, BYTES, BYTES, 4, MMA_442("m16n8k64.row.col.s32.s4.s4.s32"))
KERNEL(u4_k32, BYTES, BYTES, 4, MMA_421("m16n8k32.row.col.s32.u4.s4.s32"))
KERNEL(b1_k256_and, BYTES, BYTES, 4, MMA_442("m16n8k256.row.col.s32.b1.b1.s32.and.popc"))
KERNEL(b1_k128_xor, BYTES, BYTES, 4, MMA_421("m16n8k128.row.col.s32.b1.b1.s32.xor.popc"))

__device__ double number(uint32_t seed, int round) {
  double x = double(int32_t(mix(seed + round * 77))) / 65536.0;
  return round >= 16 ? x * exp2(double(int(mix(seed) % 80) - 40)) : x;
}

__global__ void f64_k4(uint32_t* d) {
  for (int round = 0; round < ROUNDS; round++) {
    double a = number(threadIdx.x, round), b = number(threadIdx.x + 100, round);
    double c[2] = {number(threadIdx.x + 200, round), number(threadIdx.x + 300, round)}, r[2];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%4,%5};"
                 : "=d"(r[0]), "=d"(r[1])
                 : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
    memcpy(d + (round * 32 + threadIdx.x) * 8, r, 16);
  }
}

__global__ void f64_k16(uint32_t* d) {
  for (int round = 0; round < ROUNDS; round++) {
    double a[8], b[4], c[4], r[4];
    for (int i = 0; i < 8; i++) a[i] = number(threadIdx.x + 1000 * i, round);
    for (int i = 0; i < 4; i++) b[i] = number(threadIdx.x + 1000 * i + 100, round);
    for (int i = 0; i < 4; i++) c[i] = number(threadIdx.x + 1000 * i + 200, round);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},"
        "{%12,%13,%14,%15},{%16,%17,%18,%19};"
        : "=d"(r[0]), "=d"(r[1]), "=d"(r[2]), "=d"(r[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
    memcpy(d + (round * 32 + threadIdx.x) * 8, r, 32);
  }
}

#define CASE(NAME) {#NAME, NAME}
struct {
  const char* name;
  void (*kernel)(uint32_t*);
} const FORMS[] = {CASE(f16_k16),      CASE(f16_k8),   CASE(f16_k16_f16), CASE(f16_k8_f16),       CASE(bf16_k16),
                   CASE(bf16_k8),      CASE(tf32_k8),  CASE(tf32_k4),     CASE(e4m3_k32),         CASE(e5m2_k32),
                   CASE(e4m3_k16),     CASE(e4m3_k32_f16), CASE(s8_k32),  CASE(u8_k32_satfinite), CASE(s8_k16),
                   CASE(s4_k64),       CASE(u4_k32),   CASE(b1_k256_and), CASE(b1_k128_xor),      CASE(f64_k4),
                   CASE(f64_k16)};

int main() {
  constexpr int WORDS = ROUNDS * 32 * 8;
  static uint32_t host[WORDS];
  uint32_t* d;
  cudaMalloc(&d, sizeof host);
  for (auto& form : FORMS) {
    cudaMemset(d, 0, sizeof host);
    form.kernel<<<1, 32>>>(d);
    cudaError_t error = cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
      printf("%s: %s\n", form.name, cudaGetErrorString(error));
      return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
      uint64_t hash = 0xcbf29ce484222325u;
      for (int i = 0; i < 256; i++) hash = (hash ^ host[round * 256 + i]) * 0x100000001b3u;
      printf("%-17s round %2d %016llx  %08x %08x\n", form.name, round, (unsigned long long)hash, host[round * 256],
             host[round * 256 + 9]);
    }
  }
  return 0;
}
