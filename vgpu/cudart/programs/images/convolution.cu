// A separable Gaussian and a Sobel filter: the mask in constant memory, tiles with aprons, RGBA
// pixels by uchar4, edges clamped.
// MUTANT: the apron is one pixel too narrow.
// expect: uninitialized-read
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"

constexpr int kRadius = 3, kTile = 32;
__constant__ float mask[2 * kRadius + 1];

__global__ void blur_rows(const uchar4* in, uchar4* out, int width) {
  __shared__ uchar4 line[kTile + 2 * kRadius];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y;
#ifdef MUTANT
  const int loaded = kTile + 2 * kRadius - 1;
#else
  const int loaded = kTile + 2 * kRadius;
#endif
  for (int i = threadIdx.x; i < loaded; i += kTile) {
    const int from = min(max(static_cast<int>(blockIdx.x) * kTile + i - kRadius, 0), width - 1);
    line[i] = in[y * width + from];
  }
  __syncthreads();
  if (x >= width) return;
  float3 sum = make_float3(0, 0, 0);
  for (int k = 0; k <= 2 * kRadius; ++k) {
    const uchar4 pixel = line[threadIdx.x + k];  //~
    sum.x += mask[k] * pixel.x, sum.y += mask[k] * pixel.y, sum.z += mask[k] * pixel.z;
  }
  out[y * width + x] = make_uchar4(sum.x, sum.y, sum.z, 255);
}

__global__ void edges(const uchar4* in, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const auto at = [&](int dx, int dy) {
    const int i = min(max(x + dx, 0), width - 1), j = min(max(y + dy, 0), height - 1);
    return static_cast<int>(in[j * width + i].x);
  };
  const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  out[y * width + x] = min(255, abs(gx) + abs(gy));
}

int main() {
  const int width = 70, height = 20, n = width * height;
  const float weights[2 * kRadius + 1] = {1 / 64.f,  6 / 64.f, 15 / 64.f, 20 / 64.f,
                                          15 / 64.f, 6 / 64.f, 1 / 64.f};
  std::vector<uchar4> image(n);
  std::vector<unsigned char> found(n);
  for (int i = 0; i < n; ++i) image[i] = make_uchar4(i * 7, i % width < 30 ? 200 : 10, i, 255);
  uchar4 *in, *blurred;
  unsigned char* lines;
  require(cudaMalloc(&in, n * sizeof *in));
  require(cudaMalloc(&blurred, n * sizeof *blurred));
  require(cudaMalloc(&lines, n));
  require(cudaMemcpy(in, image.data(), n * sizeof *in, cudaMemcpyHostToDevice));
  require(cudaMemcpyToSymbol(mask, weights, sizeof weights));
  blur_rows<<<dim3((width + kTile - 1) / kTile, height), kTile>>>(in, blurred, width);
  edges<<<dim3(5, 2), dim3(16, 16)>>>(blurred, lines, width, height);
  std::vector<uchar4> result(n);
  require(cudaMemcpy(result.data(), blurred, n * sizeof *in, cudaMemcpyDeviceToHost));
  require(cudaMemcpy(found.data(), lines, n, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = -kRadius; k <= kRadius; ++k) {
      const int x = std::min(std::max(i % width + k, 0), width - 1);
      sum += weights[k + kRadius] * image[i / width * width + x].y;
    }
    is_right &= std::abs(result[i].y - sum) <= 1;
    const auto at = [&](int dx, int dy) {
      const int x = std::min(std::max(i % width + dx, 0), width - 1);
      const int y = std::min(std::max(i / width + dy, 0), height - 1);
      return static_cast<int>(result[y * width + x].x);
    };
    const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    is_right &= found[i] == std::min(255, std::abs(gx) + std::abs(gy));
  }
  require(cudaFree(lines));
  require(cudaFree(blurred));
  require(cudaFree(in));
  return verdict(is_right);
}
