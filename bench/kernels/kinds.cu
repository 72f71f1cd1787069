#include "bench/kernels/kinds.hpp"

namespace {

constexpr int kThreads = 256, kSide = 512;

__global__ void bench_rotation(float* matrix) {
  constexpr int kHalf = kSide / 2;
  const int id = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = id / kHalf, column = id % kHalf;
  const int a = row * kSide + column, b = column * kSide + (kSide - 1 - row),
            c = (kSide - 1 - row) * kSide + (kSide - 1 - column),
            d = (kSide - 1 - column) * kSide + row;
  const float first = matrix[a];
  matrix[a] = matrix[d];
  matrix[d] = matrix[c];
  matrix[c] = matrix[b];
  matrix[b] = first;
}

constexpr int kLattice = 8;  // points in a direction
constexpr int kPoints = kLattice * kLattice * kLattice * kLattice;

// vectors: 3 complex numbers a point; links: 4 matrices of 3 x 3 complex numbers a point.
__global__ void bench_lattice(const float* numbers, float* out) {
  const int point = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float2* const vectors = reinterpret_cast<const float2*>(numbers);
  const float2* const links = vectors + 3 * kPoints;
  float2 sum[3] = {};
  for (int direction = 0; direction < 4; ++direction) {
    const int step = 1 << (3 * direction), at = point / step % kLattice;
    const int after = point + ((at + 1) % kLattice - at) * step,
              before = point + ((at + kLattice - 1) % kLattice - at) * step;
    for (int side = 0; side < 2; ++side) {
      const int other = side == 0 ? after : before;
      const float2* const link =
          links + ((side == 0 ? point : before) * 4 + direction) % (kPoints * 3) * 9;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          const float2 u = side == 0 ? link[i * 3 + j] : link[j * 3 + i],
                       v = vectors[other * 3 + j];
          sum[i].x += u.x * v.x - u.y * v.y;
          sum[i].y += u.x * v.y + u.y * v.x;
        }
      }
    }
  }
  float2* const to = reinterpret_cast<float2*>(out);
  for (int i = 0; i < 3; ++i) to[point * 3 + i] = sum[i];
}

__global__ void bench_hash_table(const int* in, int* slots, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int key = in[i] * 131 + i + 1;
  unsigned at = static_cast<unsigned>(key) * 2'654'435'761U;
  for (;; ++at) {
    at &= static_cast<unsigned>(n - 1);
    const int found = atomicCAS(&slots[at], 0, key);
    if (found == 0 || found == key) break;
  }
}

struct Body {
  float x, y, z, u, v, w, mass;
};

__global__ void bench_structs(Body* bodies, int steps) {
  Body& body = bodies[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 0; step < steps; ++step) {
    body.u -= body.x * 0.01F;
    body.v -= body.y * 0.01F;
    body.w -= body.z * 0.01F;
    body.x += body.u * body.mass;
    body.y += body.v * body.mass;
    body.z += body.w * body.mass;
  }
}

constexpr int kEdges = 48;

__global__ void bench_polygon(const int* in, int* out) {
  __shared__ float2 corners[kEdges];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  if (t < kEdges) {
    const float angle = static_cast<float>(t) * 0.13F,
                radius = 1000.0F + static_cast<float>(in[t] & 511);
    corners[t] = {radius * cosf(angle), radius * sinf(angle)};
  }
  __syncthreads();
  const float x = static_cast<float>(in[i] & 2047) - 1024,
              y = static_cast<float>(in[i] >> 2 & 2047) - 1024;
  int crossings = 0;
  for (int k = 0, j = kEdges - 1; k < kEdges; j = k++) {
    const float2 a = corners[k], b = corners[j];
    if ((a.y > y) != (b.y > y) && x < (b.x - a.x) * (y - a.y) / (b.y - a.y) + a.x) ++crossings;
  }
  out[i] = crossings & 1;
}

constexpr int kRow = 4096;

template <typename Operation>
__device__ float over_block(float* values, float mine, Operation operation) {
  const unsigned t = threadIdx.x;
  for (int distance = 16; distance > 0; distance /= 2) {
    mine = operation(mine, __shfl_xor_sync(~0U, mine, distance));
  }
  __syncthreads();
  if (t % 32 == 0) values[t / 32] = mine;
  __syncthreads();
  float all = values[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) all = operation(all, values[warp]);
  return all;
}

__global__ void bench_softmax(const int* in, float* out) {
  __shared__ float values[kThreads / 32];
  const int* const row = in + blockIdx.x * kRow;
  float* const to = out + blockIdx.x * kRow;
  const int t = static_cast<int>(threadIdx.x);
  float most = -1;
  for (int i = t; i < kRow; i += kThreads) most = fmaxf(most, static_cast<float>(row[i]));
  most = over_block(values, most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int i = t; i < kRow; i += kThreads) {
    const float power = expf((static_cast<float>(row[i]) - most) / 64);
    to[i] = power;
    sum += power;
  }
  sum = over_block(values, sum, [](float a, float b) { return a + b; });
  for (int i = t; i < kRow; i += kThreads) to[i] /= sum;
}

constexpr int kTile = 16, kProduct = 128;

__global__ void bench_two_products(const int* in, float* out) {
  __shared__ float first[kTile][kProduct + 1], tile[kTile][kTile + 1], other[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.x) * kTile;
  const auto number = [&](int matrix, int i, int j) {
    return static_cast<float>(in[(matrix * kProduct + i) * kProduct + j]) / 4096;
  };
  for (int column = 0; column < kProduct; column += kTile) {
    float sum = 0;
    for (int k = 0; k < kProduct; k += kTile) {
      tile[y][x] = number(0, row + y, k + x);
      other[y][x] = number(1, k + y, column + x);
      __syncthreads();
      for (int i = 0; i < kTile; ++i) sum += tile[y][i] * other[i][x];
      __syncthreads();
    }
    first[y][column + x] = sum;
  }
  for (int column = 0; column < kProduct; column += kTile) {
    float sum = 0;
    for (int k = 0; k < kProduct; k += kTile) {
      other[y][x] = number(2, k + y, column + x);
      __syncthreads();
      for (int i = 0; i < kTile; ++i) sum += first[y][k + i] * other[i][x];
      __syncthreads();
    }
    out[(row + y) * kProduct + column + x] = sum;
  }
}

constexpr int kLockers = 512;

__global__ void bench_ticket_lock(const int* in, int* out) {
  volatile int *const tickets = out, *const serving = out + 1;
  int* const sum = out + 2;
  if (threadIdx.x % 32 != 0) return;
  const int mine = atomicAdd(out, 1);
  while (*serving != mine) {
  }
  while (mine == 0 && *tickets != kLockers) {
  }
  __threadfence();
  *sum += in[mine];
  __threadfence();
  *serving = mine + 1;
}

float* as_floats(int* numbers) { return reinterpret_cast<float*>(numbers); }

}  // namespace

cudaError_t bench::rotation(const int* in, int* out, int n) {
  bench_rotation<<<n / 4 / kThreads, kThreads>>>(as_floats(out));
  (void)in;
  return cudaGetLastError();
}

cudaError_t bench::lattice(const int* in, int* out, int /*n*/) {
  bench_lattice<<<kPoints / 128, 128>>>(reinterpret_cast<const float*>(in), as_floats(out));
  return cudaGetLastError();
}

cudaError_t bench::hash_table(const int* in, int* out, int n) {
  bench_hash_table<<<n / 2 / kThreads, kThreads>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t bench::structs(const int* in, int* out, int n) {
  bench_structs<<<n / 8 / kThreads, kThreads>>>(reinterpret_cast<Body*>(out), 8);
  (void)in;
  return cudaGetLastError();
}

cudaError_t bench::polygon(const int* in, int* out, int n) {
  bench_polygon<<<n / 4 / kThreads, kThreads>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::softmax(const int* in, int* out, int n) {
  bench_softmax<<<n / kRow, kThreads>>>(in, as_floats(out));
  return cudaGetLastError();
}

cudaError_t bench::two_products(const int* in, int* out, int /*n*/) {
  bench_two_products<<<kProduct / kTile, dim3(kTile, kTile)>>>(in, as_floats(out));
  return cudaGetLastError();
}

cudaError_t bench::ticket_lock(const int* in, int* out, int /*n*/) {
  cudaMemsetAsync(out, 0, 2 * sizeof(int));  // a benchmark launches it many times
  bench_ticket_lock<<<kLockers / 16, 512>>>(in, out);
  return cudaGetLastError();
}
