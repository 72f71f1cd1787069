// Programs that take some ten seconds on one core, for exec_jobs.py: exec_jobs WHAT SIZE ROUNDS.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kTile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n; tile += kTile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void smooth(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

__global__ void accelerate(const float4* bodies, float4* accelerations, int n) {
  __shared__ float4 others[256];
  const float4 own = bodies[blockIdx.x * 256 + threadIdx.x];
  float4 sum = {0, 0, 0, 0};
  for (int tile = 0; tile < n; tile += 256) {
    others[threadIdx.x] = bodies[tile + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k) {
      const float4 other = others[k];
      const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
      const float weight = other.w * inverse * inverse * inverse;
      sum.x += x * weight;
      sum.y += y * weight;
      sum.z += z * weight;
    }
    __syncthreads();
  }
  accelerations[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Atomics in global memory, whose old values are unused.
__global__ void count_values(const float* in, int* bins, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += threads) {
    atomicAdd(bins + static_cast<int>(in[i] * 1000), 1);
  }
}

int main(int, char** argv) {
  const char* const what = argv[1];
  const int n = std::atoi(argv[2]), rounds = std::atoi(argv[3]);
  const bool is_bodies = std::strcmp(what, "bodies") == 0;
  const std::size_t count = is_bodies ? std::size_t{4} * n : std::size_t{1} * n * n;
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i * 7919 % 1000) / 1000;
  float *a, *b, *c;
  for (float** const one : {&a, &b, &c}) {
    cudaMalloc(one, count * sizeof(float));
    cudaMemcpy(*one, numbers.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  }
  for (int round = 0; round < rounds; ++round) {
    if (is_bodies) {
      accelerate<<<n / 256, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(c), n);
    } else if (std::strcmp(what, "product") == 0) {
      multiply<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(a, b, c, n);
    } else if (std::strcmp(what, "histogram") == 0) {
      count_values<<<n, 256>>>(a, reinterpret_cast<int*>(c), n);
    } else {
      smooth<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(round % 2 == 0 ? a : c, round % 2 == 0 ? c : a,
                                                   n);
    }
  }
  cudaMemcpy(numbers.data(), c, count * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (const float number : numbers) sum += number;
  std::printf("%s %.6f %s\n", what, sum, cudaGetErrorString(cudaGetLastError()));
}
