// N bodies, all pairs by tiles in shared memory, float4 positions, two steps with swapped
// buffers.
// MUTANT: a tile is overwritten while slower warps still read it.
// expect: data-race
#include <cmath>
#include <utility>
#include <vector>

#include "check.hpp"

constexpr int kTile = 64;

__host__ __device__ void attract(float3& force, const float4& at, const float4& by) {
  const float x = by.x - at.x, y = by.y - at.y, z = by.z - at.z;
  const float square = x * x + y * y + z * z + 0.01f, strength = by.w / (square * sqrtf(square));
  force.x += x * strength, force.y += y * strength, force.z += z * strength;
}

__global__ void step(const float4* from, float4* to, float4* speeds, int n, float dt) {
  __shared__ float4 tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const float4 mine = i < n ? from[i] : make_float4(0, 0, 0, 0);
  float3 force = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += kTile) {
    const int other = first + threadIdx.x;
    tile[threadIdx.x] = other < n ? from[other] : make_float4(0, 0, 0, 0);  //~
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
      const float4 by = tile[k];  //~
      attract(force, mine, by);
    }
#ifndef MUTANT
    __syncthreads();
#endif
  }
  if (i >= n) return;
  float4 speed = speeds[i];
  speed.x += dt * force.x, speed.y += dt * force.y, speed.z += dt * force.z;
  to[i] = make_float4(mine.x + dt * speed.x, mine.y + dt * speed.y, mine.z + dt * speed.z, mine.w);
  speeds[i] = speed;
}

int main() {
  const int n = 150;
  Buffer<float4> a(n), b(n), speeds(n);
  for (int i = 0; i < n; ++i) {
    a[i] = make_float4(std::sin(i), std::cos(2 * i), i / 150.0f, 1 + i % 3);
    speeds[i] = make_float4(0, 0, 0, 0);
  }
  std::vector<float4> expected(a.begin(), a.end()), moving(n);
  float4 *from = a, *to = b;
  for (int round = 0; round < 2; ++round) {
    step<<<(n + kTile - 1) / kTile, kTile>>>(from, to, speeds, n, 0.01f);
    std::swap(from, to);
    const std::vector<float4> before = expected;
    for (int i = 0; i < n; ++i) {
      float3 force = make_float3(0, 0, 0);
      for (const float4& each : before) attract(force, before[i], each);
      moving[i].x += 0.01f * force.x, moving[i].z += 0.01f * force.z;
      moving[i].y += 0.01f * force.y;
      expected[i].x += 0.01f * moving[i].x, expected[i].y += 0.01f * moving[i].y;
      expected[i].z += 0.01f * moving[i].z;
    }
  }
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    is_right &= std::abs(from[i].x - expected[i].x) + std::abs(from[i].z - expected[i].z) < 1e-4f;
  }
  return verdict(is_right);
}
