#include "bench/kernels/float_loops.hpp"

namespace {

constexpr int kMatrixTile = 16;
constexpr int kGroupOfBodies = 256;  // threads of a block of bodies

__global__ void bench_matrix_product(const int* a, const int* b, int* out) {
  __shared__ float rows[kMatrixTile][kMatrixTile], columns[kMatrixTile][kMatrixTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * kMatrixTile + y;
  const int column = static_cast<int>(blockIdx.x) * kMatrixTile + x;
  float sum = 0;
  for (int tile = 0; tile < bench::kMatrixSide; tile += kMatrixTile) {
    rows[y][x] = static_cast<float>(a[row * bench::kMatrixSide + tile + x]);
    columns[y][x] = static_cast<float>(b[(tile + y) * bench::kMatrixSide + column]);
    __syncthreads();
    for (int k = 0; k < kMatrixTile; ++k) sum += rows[y][k] * columns[k][x];
    __syncthreads();
  }
  out[row * bench::kMatrixSide + column] = static_cast<int>(sum);
}

__global__ void bench_stencil(const float* in, float* out, int side) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= side || y >= side) return;
  const int i = y * side + x;
  if (x == 0 || y == 0 || x == side - 1 || y == side - 1) {
    out[i] = in[i];
    return;
  }
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - side] + in[i + side]);
}

__global__ void bench_bodies(const int4* in, float* out) {
  __shared__ float4 tile[kGroupOfBodies];
  const auto body = [&](int i) {
    const int4 from = in[i];
    return make_float4(static_cast<float>(from.x), static_cast<float>(from.y),
                       static_cast<float>(from.z), static_cast<float>(from.w));
  };
  const int t = static_cast<int>(threadIdx.x);
  const float4 own = body(static_cast<int>(blockIdx.x) * kGroupOfBodies + t);
  float force = 0;
  for (int first = 0; first < bench::kBodies; first += kGroupOfBodies) {
    tile[t] = body(first + t);
    __syncthreads();
    for (int j = 0; j < kGroupOfBodies; ++j) {
      const float x = tile[j].x - own.x, y = tile[j].y - own.y, z = tile[j].z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 1.0f);
      force += tile[j].w * inverse * inverse * inverse * sqrtf(x * x);
    }
    __syncthreads();
  }
  out[static_cast<int>(blockIdx.x) * kGroupOfBodies + t] = force;
}

}  // namespace

cudaError_t bench::matrix_product(const int* in, int* out, int /*n*/) {
  constexpr int kTiles = kMatrixSide / kMatrixTile;
  const dim3 tiles(kTiles, kTiles), threads(kMatrixTile, kMatrixTile);
  bench_matrix_product<<<tiles, threads>>>(in, in + kMatrixSide * kMatrixSide, out);
  return cudaGetLastError();
}

cudaError_t bench::stencil(const int* in, int* out, int n) {
  int side = 32;
  while (side * side < n) side += 32;
  const dim3 blocks(side / 32, side / 8), threads(32, 8);
  bench_stencil<<<blocks, threads>>>(reinterpret_cast<const float*>(in),
                                     reinterpret_cast<float*>(out), side);
  return cudaGetLastError();
}

cudaError_t bench::bodies(const int* in, int* out, int /*n*/) {
  bench_bodies<<<kBodies / kGroupOfBodies, kGroupOfBodies>>>(reinterpret_cast<const int4*>(in),
                                                             reinterpret_cast<float*>(out));
  return cudaGetLastError();
}
