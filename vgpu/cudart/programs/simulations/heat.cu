// Heat in three dimensions: a seven-point stencil that keeps planes in registers and shared
// memory.
// MUTANT: the halo in x is not loaded for the last column.
// expect: uninitialized-read
#include <cmath>
#include <utility>
#include <vector>

#include "check.hpp"

constexpr int kX = 16, kY = 8;

struct Field {
  const float* values;
  int nx, ny, nz;
  __host__ __device__ float at(int x, int y, int z) const {
    const bool inside = 0 <= x && x < nx && 0 <= y && y < ny && 0 <= z && z < nz;
    return inside ? values[(z * ny + y) * nx + x] : 0;
  }
};

__global__ void diffuse(Field in, float* out) {
  __shared__ float plane[kY + 2][kX + 2];
  const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  float below = 0, here = in.at(x, y, 0);
  for (int z = 0; z < in.nz; ++z) {
    const float above = in.at(x, y, z + 1);
    plane[ty][tx] = here;
    if (tx == 1) plane[ty][0] = in.at(x - 1, y, z);
#ifndef MUTANT
    if (tx == kX) plane[ty][kX + 1] = in.at(x + 1, y, z);
#endif
    if (ty == 1) plane[0][tx] = in.at(x, y - 1, z);
    if (ty == kY) plane[kY + 1][tx] = in.at(x, y + 1, z);
    __syncthreads();
    float sum = below + above + plane[ty][tx - 1];
    sum += plane[ty][tx + 1];  //~
    sum += plane[ty - 1][tx] + plane[ty + 1][tx];
    const float next = here + 0.1f * (sum - 6 * here);
    if (x < in.nx && y < in.ny) out[(z * in.ny + y) * in.nx + x] = next;
    __syncthreads();
    below = here;
    here = above;
  }
}

int main() {
  const int nx = 20, ny = 13, nz = 9, n = nx * ny * nz;
  std::vector<float> expected(n), result(n);
  for (int i = 0; i < n; ++i) expected[i] = i % 23;
  float *from, *to;
  require(cudaMalloc(&from, n * sizeof(float)));
  require(cudaMalloc(&to, n * sizeof(float)));
  require(cudaMemcpy(from, expected.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  const dim3 grid((nx + kX - 1) / kX, (ny + kY - 1) / kY), block(kX, kY);
  for (int step = 0; step < 3; ++step) {
    diffuse<<<grid, block>>>({from, nx, ny, nz}, to);
    std::swap(from, to);
    const std::vector<float> before = expected;
    const Field field{before.data(), nx, ny, nz};
    for (int i = 0; i < n; ++i) {
      const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
      const float sum = field.at(x, y, z - 1) + field.at(x, y, z + 1) + field.at(x - 1, y, z) +
                        field.at(x + 1, y, z) + field.at(x, y - 1, z) + field.at(x, y + 1, z);
      expected[i] = before[i] + 0.1f * (sum - 6 * before[i]);
    }
  }
  require(cudaMemcpy(result.data(), from, n * sizeof(float), cudaMemcpyDeviceToHost));
  require(cudaFree(to));
  require(cudaFree(from));
  bool is_right = true;
  for (int i = 0; i < n; ++i) is_right &= std::abs(result[i] - expected[i]) < 1e-4f;
  return verdict(is_right);
}
