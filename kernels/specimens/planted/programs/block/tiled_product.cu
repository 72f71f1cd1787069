// data-race: __syncthreads()
#include "planted_program.hpp"

constexpr int kSide = 16, kTile = 8;

__global__ void tiled_product(const int* a, const int* b, int* c) {
  __shared__ int left[kTile][kTile], right[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  int sum = 0;
  for (int tile = 0; tile < kSide / kTile; ++tile) {
    left[y][x] = a[row * kSide + tile * kTile + x];                   //@
    right[y][x] = b[(tile * kTile + y) * kSide + column];             //@
    for (int k = 0; k < kTile; ++k) sum += left[y][k] * right[k][x];  //@
  }
  c[row * kSide + column] = sum;
}

int main() {
  Buffers buffers(kSide * kSide);
  tiled_product<<<dim3(2, 2), dim3(kTile, kTile)>>>(buffers.in, buffers.in, buffers.out);
  return buffers.status([](int i) {
    int sum = 0;
    for (int k = 0; k < kSide; ++k)
      sum += input_at(i / kSide * kSide + k) * input_at(k * kSide + i % kSide);
    return sum;
  });
}
