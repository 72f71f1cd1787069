// Structs with padding: a kernel fills them, another one moves them through shared memory as a
// whole, and the host copies the result.  Padding is nobody's value, wherever it has been.
// MUTANT: one struct's last member is never written.
// expect: uninitialized-read
// notes: uninitialized-read
#include "check.hpp"

struct Particle {
  char kind;
  double mass;
  float3 position;
  bool is_alive;
  double charge;
};
constexpr int kCount = 64;

__global__ void fill(Particle* particles) {
  Particle& each = particles[threadIdx.x];
  each.kind = 'p';
  each.mass = threadIdx.x;
  each.position = make_float3(threadIdx.x, 1, 2);
  each.is_alive = true;
#ifdef MUTANT
  if (threadIdx.x == 5) return;
#endif
  each.charge = 2.0 * threadIdx.x;
}

__global__ void reverse(const Particle* from, Particle* to) {
  __shared__ Particle staged[kCount];
  staged[threadIdx.x] = from[threadIdx.x];  //~
  __syncthreads();
  to[threadIdx.x] = staged[kCount - 1 - threadIdx.x];
}

int main() {
  Particle *from, *to, result[kCount];
  require(cudaMalloc(&from, sizeof result));
  require(cudaMalloc(&to, sizeof result));
  fill<<<1, kCount>>>(from);
  reverse<<<1, kCount>>>(from, to);
  require(cudaMemcpy(result, to, sizeof result, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < kCount; ++i) {
    const int source = kCount - 1 - i;
    is_right &= result[i].kind == 'p' && result[i].mass == source;
    is_right &= result[i].position.x == source && result[i].is_alive;
#ifndef MUTANT
    is_right &= result[i].charge == 2.0 * source;
#endif
  }
  require(cudaFree(from));
  require(cudaFree(to));
  return verdict(is_right);
}
