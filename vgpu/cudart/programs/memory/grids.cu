// Three-dimensional grids and blocks that do not divide what they cover, very wide grids, strided
// loops.
// MUTANT: nobody asks whether the last planes exist.
// expect: out-of-bounds
#include "check.hpp"

__global__ void number(int* volume, int3 size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
#ifdef MUTANT
  if (x >= size.x || y >= size.y) return;
#else
  if (x >= size.x || y >= size.y || z >= size.z) return;
#endif
  volume[(z * size.y + y) * size.x + x] = 10000 * z + 100 * y + x;  //~
}
__global__ void mark_blocks(unsigned char* marks) {
  if (threadIdx.x == 0) marks[blockIdx.x] = 1;
}

int main() {
  const int3 size = make_int3(19, 11, 6);
  const int n = size.x * size.y * size.z, blocks = 70000;
  int* volume;
  unsigned char* marks;
  require(cudaMallocManaged(&volume, n * sizeof(int)));
  require(cudaMallocManaged(&marks, blocks));
  number<<<dim3(3, 3, 2), dim3(8, 4, 4)>>>(volume, size);
  mark_blocks<<<blocks, 1>>>(marks);
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const int x = i % size.x, y = i / size.x % size.y, z = i / size.x / size.y;
    is_right &= volume[i] == 10000 * z + 100 * y + x;
  }
  for (int block = 0; block < blocks; ++block) is_right &= marks[block] == 1;
  require(cudaFree(marks));
  require(cudaFree(volume));
  return verdict(is_right);
}
