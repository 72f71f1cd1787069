// __managed__ variables, and managed memory with advice and prefetches; host and device in turn.
// MUTANT: the weights are taken for one more than they are.
// expect: out-of-bounds
#include "check.hpp"

__managed__ int total;
__managed__ float weights[64] = {1, 2, 3};

struct Image {
  int width, height;
  float* pixels;
};

__global__ void weigh(const Image* image, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= image->width * image->height) return;
#ifdef MUTANT
  const int kinds = 65;
#else
  const int kinds = 64;
#endif
  out[i] = image->pixels[i] * weights[i % kinds];  //~
  atomicAdd(&total, 1);
}

int main() {
  Image* image;
  float* out;
  require(cudaMallocManaged(&image, sizeof *image));
  image->width = 20, image->height = 10;
  const int n = image->width * image->height;
  require(cudaMallocManaged(&image->pixels, n * sizeof(float)));
  require(cudaMallocManaged(&out, n * sizeof(float), cudaMemAttachGlobal));
  for (int i = 0; i < n; ++i) image->pixels[i] = i;
  for (int i = 3; i < 64; ++i) weights[i] = i % 4;
  int device;
  require(cudaGetDevice(&device));
  cudaMemLocation there = {};
  there.type = cudaMemLocationTypeDevice;
  there.id = device;
  require(cudaMemAdvise(image->pixels, n * sizeof(float), cudaMemAdviseSetReadMostly, there));
  require(cudaMemPrefetchAsync(image->pixels, n * sizeof(float), there, 0));
  for (int round = 0; round < 3; ++round) {
    weigh<<<4, 64>>>(image, out);
    require(cudaDeviceSynchronize());
    weights[0] += 1;
  }
  require(cudaDeviceSynchronize());
  bool is_right = total == 3 * n && weights[0] == 4;
  for (int i = 0; i < n; ++i) {
    const float weight = i % 64 < 3 ? i % 64 + 1 : i % 64 % 4;
    is_right &= out[i] == i * (i % 64 == 0 ? 3 : weight);
  }
  require(cudaFree(out));
  require(cudaFree(image->pixels));
  require(cudaFree(image));
  return verdict(is_right);
}
