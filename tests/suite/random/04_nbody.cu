// Gravity between all pairs, tiles of bodies in shared memory, leapfrog; energy is checked, and each acceleration of the
// first step against double: rsqrtf is good to 2 ulp, so with 256 terms 1e-5 of the sum of magnitudes is generous.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int N = 256, P = 64;
constexpr float EPS2 = 0.01f;

__device__ float3 interaction(float4 bi, float4 bj, float3 ai) {
  float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
  float inv = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + EPS2);
  float s = bj.w * inv * inv * inv;
  ai.x += r.x * s, ai.y += r.y * s, ai.z += r.z * s;
  return ai;
}

__global__ void forces(const float4* pos, float4* acc) {
  __shared__ float4 tile[P];
  int i = blockIdx.x * P + threadIdx.x;
  float4 mine = pos[i];
  float3 a = {0, 0, 0};
  for (int t = 0; t < N; t += P) {
    tile[threadIdx.x] = pos[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < P; j++) a = interaction(mine, tile[j], a);
    __syncthreads();
  }
  acc[i] = make_float4(a.x, a.y, a.z, 0);
}

__global__ void kick_drift(float4* pos, float4* vel, const float4* acc, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = pos[i], v = vel[i], a = acc[i];
  v.x += a.x * dt, v.y += a.y * dt, v.z += a.z * dt;
  p.x += v.x * dt, p.y += v.y * dt, p.z += v.z * dt;
  pos[i] = p, vel[i] = v;
}

static double energy(const float4* p, const float4* v) {
  double e = 0;
  for (int i = 0; i < N; i++) {
    e += 0.5 * p[i].w * (double(v[i].x) * v[i].x + double(v[i].y) * v[i].y + double(v[i].z) * v[i].z);
    for (int j = 0; j < i; j++)
      e -= p[i].w * p[j].w / std::sqrt(std::pow(p[i].x - p[j].x, 2) + std::pow(p[i].y - p[j].y, 2) + std::pow(p[i].z - p[j].z, 2) + EPS2);
  }
  return e;
}

int main() {
  float4 *pos, *vel, *acc;
  for (float4** p : {&pos, &vel, &acc}) cudaMallocManaged(p, N * sizeof(float4));
  for (int i = 0; i < N; i++) {
    float t = 0.1f * i;
    pos[i] = make_float4(std::cos(t) * (1 + i % 7), std::sin(t) * (1 + i % 5), std::sin(3 * t), 1.f / N);
    vel[i] = make_float4(-std::sin(t) * 0.3f, std::cos(t) * 0.3f, 0, 0);
  }
  double before = energy(pos, vel);
  for (int s = 0; s < 4; s++) {
    forces<<<N / P, P>>>(pos, acc);
    if (s == 0) {
      if (cudaDeviceSynchronize()) return 2;
      for (int i = 0; i < N; i++) {
        double a[3] = {}, size = 0;
        for (int j = 0; j < N; j++) {
          double d[3] = {double(pos[j].x) - pos[i].x, double(pos[j].y) - pos[i].y, double(pos[j].z) - pos[i].z};
          double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + EPS2, s = pos[j].w / (r2 * std::sqrt(r2));
          for (int k = 0; k < 3; k++) a[k] += d[k] * s;
          size += std::sqrt(r2) * s;
        }
        if (!(std::fabs(acc[i].x - a[0]) + std::fabs(acc[i].y - a[1]) + std::fabs(acc[i].z - a[2]) < 1e-5 * size))
          return printf("body %d: acceleration (%g, %g, %g), expected (%g, %g, %g)\n", i, acc[i].x, acc[i].y, acc[i].z, a[0], a[1], a[2]), 1;
      }
    }
    kick_drift<<<N / P, P>>>(pos, vel, acc, 0.01f);
  }
  if (cudaDeviceSynchronize()) return 2;
  double after = energy(pos, vel);
  if (!(std::fabs(after - before) < 0.01 * std::fabs(before))) return printf("energy went from %g to %g\n", before, after), 1;
  printf("%d bodies: accelerations within 1e-5, energy kept\n", N);
}
