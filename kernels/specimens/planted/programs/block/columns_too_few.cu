// data-race:
#include "planted_program.hpp"

constexpr int kSide = 16, kTile = 8;

__global__ void columns_too_few(const int* in, int* out) {
  __shared__ int tile[kTile][kTile - 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * kSide + x];  //@
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  out[y * kSide + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  Buffers buffers(kSide * kSide);
  columns_too_few<<<dim3(2, 2), dim3(kTile, kTile)>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(i % kSide * kSide + i / kSide); });
}
