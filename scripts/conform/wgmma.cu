// wgmma against the emulator: its types, sparse ones too, and the layouts of shared memory that descriptors name, on
// operands made up from a counter. A line for each case and round holds a hash of D, as in matrix.cu; with a file's name
// all of D is written there, too. Rounds: 0 to 11 are numbers near one, 12 to 19 of a wide range, 20 to 23 any bits
// at all.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int ROUNDS = 24;
constexpr int SHARED = 96 * 1024;
// Where A and B begin in it.
constexpr uint32_t A = 0, B = 48 * 1024;

// How the words of an operand are made.
enum Kind { HALF, BRAIN, FLOAT, BYTES, E4M3, E5M2 };

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
  bool wild = round >= 20, wide = round >= 12;
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

// Four bits of metadata each: two places in ascending order, or one of the two that tf32 has.
__device__ uint32_t metadata(uint32_t seed, bool pairs) {
  const uint32_t two[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  uint32_t out = 0;
  for (int i = 0; i < 8; i++) {
    uint32_t random = mix(seed * 8 + i);
    out |= (pairs ? (random & 1 ? 0x4u : 0xeu) : two[random % 6]) << (4 * i);
  }
  return out;
}

// What a descriptor holds besides the start: bytes.
struct Layout {
  uint32_t step, leading, stride, base, code;
};

__device__ uint64_t descriptor(const char* shared, uint32_t at, Layout layout) {
  uint64_t start = uint32_t(__cvta_generic_to_shared(shared)) + at + layout.step;
  return (start & 0x3ffff) >> 4 | uint64_t(layout.leading >> 4) << 16 | uint64_t(layout.stride >> 4) << 32 |
         uint64_t(layout.base) << 49 | uint64_t(layout.code) << 62;
}

struct Arguments {
  uint32_t a[4];
  uint64_t in_a, in_b;
  uint32_t add, metadata;
};

#define INPUTS                                                                                                     \
  "r"(x.a[0]), "r"(x.a[1]), "r"(x.a[2]), "r"(x.a[3]), "l"(x.in_a), "l"(x.in_b), "r"(x.add), "r"(x.metadata)
#define EIGHT(C, FROM)                                                                                             \
  C(d[FROM]), C(d[FROM + 1]), C(d[FROM + 2]), C(d[FROM + 3]), C(d[FROM + 4]), C(d[FROM + 5]), C(d[FROM + 6]),      \
      C(d[FROM + 7])

// Sixteen registers of D: A in shared memory is %20, in registers {%16,%17,%18,%19}; metadata are %23.
#define WIDE(CONSTRAINT, FORM, A, TAIL)                                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %22, 0;\nwgmma.mma_async" FORM                                    \
               " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, " A ", %21" TAIL ";\n}"                  \
               : EIGHT(CONSTRAINT, 0), EIGHT(CONSTRAINT, 8)                                                        \
               : INPUTS)
// Eight.
#define NARROW(FORM, A, TAIL)                                                                                      \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %14, 0;\nwgmma.mma_async" FORM                                    \
               " {%0,%1,%2,%3,%4,%5,%6,%7}, " A ", %13" TAIL ";\n}"                                                \
               : EIGHT("+r", 0)                                                                                    \
               : INPUTS)

#define KERNEL(NAME, T, COUNT, KIND_A, KIND_B, KIND_C, PAIRS, CODE)                                                \
  __global__ void NAME(uint32_t* out, Layout of_a, Layout of_b) {                                                  \
    extern __shared__ __align__(1024) char shared[];                                                               \
    for (int round = 0; round < ROUNDS; round++) {                                                                 \
      __syncthreads();                                                                                             \
      for (uint32_t at = threadIdx.x * 4; at < SHARED; at += 512)                                                  \
        *(uint32_t*)(shared + at) = word(at < B ? KIND_A : KIND_B, at + 7919, round);                              \
      asm volatile("fence.proxy.async;" ::: "memory");                                                             \
      __syncthreads();                                                                                             \
      uint32_t seed = threadIdx.x * 64 + 1000000;                                                                  \
      T d[COUNT];                                                                                                  \
      for (int i = 0; i < COUNT; i++) {                                                                            \
        uint32_t bits = word(KIND_C, seed + i, round);                                                             \
        if (KIND_C == BYTES) bits = round % 2 ? bits | 0x7fff0000u : bits & 0x8000ffffu;                           \
        memcpy(&d[i], &bits, 4);                                                                                   \
      }                                                                                                            \
      Arguments x;                                                                                                 \
      for (int i = 0; i < 4; i++) x.a[i] = word(KIND_A, seed + 32 + i, round);                                     \
      x.in_a = descriptor(shared, A, of_a);                                                                        \
      x.in_b = descriptor(shared, B, of_b);                                                                        \
      x.add = round % 4 != 3;                                                                                      \
      x.metadata = metadata(seed + round * 4096, PAIRS);                                                           \
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                      \
      CODE;                                                                                                        \
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");             \
      for (int i = 0; i < COUNT; i++) memcpy(out + (round * 128 + threadIdx.x) * 16 + i, &d[i], 4);                \
    }                                                                                                              \
  }

#define FLOATS(NAME, KIND_A, KIND_B, FORM, A, TAIL)                                                                \
  KERNEL(NAME, float, 16, KIND_A, KIND_B, FLOAT, false, WIDE("+f", FORM, A, TAIL))
#define HALVES(NAME, KIND_A, KIND_B, FORM, A, TAIL)                                                                \
  KERNEL(NAME, uint32_t, 8, KIND_A, KIND_B, HALF, false, NARROW(FORM, A, TAIL))
#define INTEGERS(NAME, FORM, A, TAIL) KERNEL(NAME, uint32_t, 16, BYTES, BYTES, BYTES, false, WIDE("+r", FORM, A, TAIL))
#define REGISTERS "{%16,%17,%18,%19}"
#define REGISTERS8 "{%8,%9,%10,%11}"
#define DENSE ".sync.aligned.m64n32"
#define SPARSE ".sp.sync.aligned.m64n32"

FLOATS(f16, HALF, HALF, DENSE "k16.f32.f16.f16", "%20", ", p, 1, 1, 0, 0")
FLOATS(f16_mn_a, HALF, HALF, DENSE "k16.f32.f16.f16", "%20", ", p, 1, 1, 1, 0")
FLOATS(f16_mn_b, HALF, HALF, DENSE "k16.f32.f16.f16", "%20", ", p, 1, 1, 0, 1")
FLOATS(f16_negated, HALF, HALF, DENSE "k16.f32.f16.f16", "%20", ", p, 1, -1, 0, 0")
FLOATS(f16_registers, HALF, HALF, DENSE "k16.f32.f16.f16", REGISTERS, ", p, -1, -1, 1")
HALVES(f16_f16, HALF, HALF, DENSE "k16.f16.f16.f16", "%12", ", p, 1, 1, 0, 0")
FLOATS(bf16, BRAIN, BRAIN, DENSE "k16.f32.bf16.bf16", "%20", ", p, 1, 1, 0, 0")
FLOATS(bf16_registers, BRAIN, BRAIN, DENSE "k16.f32.bf16.bf16", REGISTERS, ", p, 1, 1, 0")
FLOATS(tf32, FLOAT, FLOAT, DENSE "k8.f32.tf32.tf32", "%20", ", p, 1, 1")
FLOATS(tf32_registers, FLOAT, FLOAT, DENSE "k8.f32.tf32.tf32", REGISTERS, ", p, -1, 1")
FLOATS(e4m3, E4M3, E4M3, DENSE "k32.f32.e4m3.e4m3", "%20", ", p, 1, 1")
FLOATS(e4m3_e5m2, E4M3, E5M2, DENSE "k32.f32.e4m3.e5m2", "%20", ", p, 1, 1")
FLOATS(e5m2_e4m3, E5M2, E4M3, DENSE "k32.f32.e5m2.e4m3", REGISTERS, ", p, 1, 1")
FLOATS(e5m2, E5M2, E5M2, DENSE "k32.f32.e5m2.e5m2", "%20", ", p, 1, -1")
HALVES(e4m3_f16, E4M3, E4M3, DENSE "k32.f16.e4m3.e4m3", "%12", ", p, 1, 1")
HALVES(e5m2_f16, E5M2, E5M2, DENSE "k32.f16.e5m2.e5m2", REGISTERS8, ", p, 1, 1")
INTEGERS(s8, DENSE "k32.s32.s8.s8", "%20", ", p")
INTEGERS(u8_s8, DENSE "k32.s32.u8.s8", "%20", ", p")
INTEGERS(s8_u8_satfinite, DENSE "k32.satfinite.s32.s8.u8", REGISTERS, ", p")
INTEGERS(b1, DENSE "k256.s32.b1.b1.and.popc", "%20", ", p")
FLOATS(sparse_f16, HALF, HALF, SPARSE "k32.f32.f16.f16", "%20", ", %23, 0, p, 1, 1, 0, 0")
FLOATS(sparse_f16_1, HALF, HALF, SPARSE "k32.f32.f16.f16", REGISTERS, ", %23, 1, p, 1, 1, 0")
FLOATS(sparse_f16_mn, HALF, HALF, SPARSE "k32.f32.f16.f16", "%20", ", %23, 1, p, 1, 1, 1, 1")
HALVES(sparse_f16_f16, HALF, HALF, SPARSE "k32.f16.f16.f16", "%12", ", %15, 0, p, 1, 1, 0, 0")
FLOATS(sparse_bf16, BRAIN, BRAIN, SPARSE "k32.f32.bf16.bf16", "%20", ", %23, 0, p, -1, 1, 0, 0")
KERNEL(sparse_tf32, float, 16, FLOAT, FLOAT, FLOAT, true,
       WIDE("+f", SPARSE "k16.f32.tf32.tf32", "%20", ", %23, 0, p, 1, 1"))
KERNEL(sparse_tf32_1, float, 16, FLOAT, FLOAT, FLOAT, true,
       WIDE("+f", SPARSE "k16.f32.tf32.tf32", REGISTERS, ", %23, 1, p, 1, 1"))
FLOATS(sparse_e4m3, E4M3, E4M3, SPARSE "k64.f32.e4m3.e4m3", "%20", ", %23, 0, p, 1, 1")
FLOATS(sparse_e5m2, E5M2, E5M2, SPARSE "k64.f32.e5m2.e5m2", REGISTERS, ", %23, 0, p, 1, 1")
HALVES(sparse_e4m3_f16, E4M3, E4M3, SPARSE "k64.f16.e4m3.e4m3", "%12", ", %15, 0, p, 1, 1")
INTEGERS(sparse_s8, SPARSE "k64.s32.s8.s8", "%20", ", %23, 0, p")
INTEGERS(sparse_u8_satfinite, SPARSE "k64.satfinite.s32.u8.u8", REGISTERS, ", %23, 0, p")

using Pointer = void (*)(uint32_t*, Layout, Layout);
struct Case {
  const char* name;
  Pointer kernel;
  Layout a, b;
};

// Swizzled rows along K, and along M or N: 64 rows of A, 32 of B.
constexpr Layout K0{0, 1024, 128, 0, 0}, K32{0, 0, 256, 0, 3}, K64{0, 0, 512, 0, 2}, K128{0, 0, 1024, 0, 1};
constexpr Layout M0{0, 1024, 128, 0, 0}, M32{0, 256, 1024, 0, 3}, M64{0, 512, 1024, 0, 2}, M128{0, 1024, 1024, 0, 1};

#define CASE(NAME) {#NAME, NAME, K128, K128}
const Case CASES[] = {
    CASE(f16), CASE(f16_negated), CASE(f16_registers), CASE(f16_f16), CASE(bf16), CASE(bf16_registers), CASE(tf32),
    CASE(tf32_registers), CASE(e4m3), CASE(e4m3_e5m2), CASE(e5m2_e4m3), CASE(e5m2), CASE(e4m3_f16), CASE(e5m2_f16),
    CASE(s8), CASE(u8_s8), CASE(s8_u8_satfinite), CASE(b1), CASE(sparse_f16), CASE(sparse_f16_1),
    {"sparse_f16_mn", sparse_f16_mn, M128, M64}, CASE(sparse_f16_f16), CASE(sparse_bf16), CASE(sparse_tf32),
    CASE(sparse_tf32_1), CASE(sparse_e4m3), CASE(sparse_e5m2), CASE(sparse_e4m3_f16), CASE(sparse_s8),
    CASE(sparse_u8_satfinite),
    // Every width, with strides as they come.
    {"k_none", f16, K0, {0, 4096, 160, 0, 0}},
    {"k_32", f16, K32, {0, 64, 272, 0, 3}},
    {"k_64", f16, K64, {0, 48, 1040, 0, 2}},
    {"k_128", f16, K128, {0, 16, 2048, 0, 1}},
    {"mn_none", f16_mn_a, M0, K128},
    {"mn_32", f16_mn_a, M32, K128},
    {"mn_64", f16_mn_a, M64, K64},
    {"mn_128", f16_mn_a, M128, K32},
    {"mn_none_b", f16_mn_b, K128, {0, 2048, 144, 0, 0}},
    {"mn_32_b", f16_mn_b, K128, {0, 512, 4096, 0, 3}},
    {"mn_64_b", f16_mn_b, K128, {0, 512, 2048, 0, 2}},
    {"mn_128_b", f16_mn_b, K128, {0, 4096, 1024, 0, 1}},
    // Atoms entered within, and patterns that do not begin where they repeat.
    {"step_32", f16, {32, 0, 1024, 0, 1}, {96, 0, 1024, 0, 1}},
    {"step_16", f16, {16, 0, 512, 0, 2}, {48, 0, 1024, 0, 1}},
    {"step_rows", f16, {384, 0, 1024, 0, 1}, {128, 0, 512, 0, 2}},
    {"base_3", f16, {384, 0, 1024, 3, 1}, {128, 0, 1024, 1, 1}},
    {"base_64", f16, {128, 0, 512, 1, 2}, {384, 0, 512, 3, 2}},
    {"base_32", f16, {128, 0, 256, 1, 3}, K32},
    {"base_only", f16, {0, 0, 1024, 5, 1}, {0, 0, 1024, 2, 1}},
    // B of 64 bytes along K in rows of 32.
    {"sparse_k_32", sparse_f16_1, K128, {0, 4096, 256, 0, 3}},
    {"sparse_k_none", sparse_f16, K0, {0, 512, 128, 0, 0}},
};

int main(int count, char** arguments) {
  constexpr int WORDS = ROUNDS * 128 * 16;
  static uint32_t host[WORDS];
  FILE* all = count > 1 ? fopen(arguments[1], "wb") : nullptr;
  uint32_t* d;
  cudaMalloc(&d, sizeof host);
  for (auto& one : CASES) {
    cudaMemset(d, 0, sizeof host);
    cudaFuncSetAttribute(one.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    one.kernel<<<1, 128, SHARED>>>(d, one.a, one.b);
    cudaError_t error = cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
      printf("%s: %s\n", one.name, cudaGetErrorString(error));
      return 1;
    }
    if (all) fwrite(host, sizeof host, 1, all);
    for (int round = 0; round < ROUNDS; round++) {
      uint64_t hash = 0xcbf29ce484222325u;
      for (int i = 0; i < 2048; i++) hash = (hash ^ host[round * 2048 + i]) * 0x100000001b3u;
      printf("%-19s round %2d %016llx  %08x %08x\n", one.name, round, (unsigned long long)hash, host[round * 2048],
             host[round * 2048 + 17]);
    }
  }
  if (all) fclose(all);
  return 0;
}
