// A transpose between pitched images; rectangles copied with cudaMemcpy2D, 2-D and 3-D memsets.
// MUTANT: rows are found by the width instead of the pitch.
// expect: uninitialized-read
#include <vector>

#include "check.hpp"

__global__ void transpose(const float* in, size_t in_pitch, float* out, size_t out_pitch, int width,
                          int height) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
#ifdef MUTANT
  in_pitch = width * sizeof(float);
#endif
  if (x < width && y < height) {
    const char* const row = reinterpret_cast<const char*>(in) + y * in_pitch;
    tile[threadIdx.y][threadIdx.x] = reinterpret_cast<const float*>(row)[x];
  }
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width) {
    char* const row = reinterpret_cast<char*>(out) + y * out_pitch;
    reinterpret_cast<float*>(row)[x] = tile[threadIdx.x][threadIdx.y];
  }
}

int main() {
  constexpr int width = 50, height = 37;
  std::vector<float> in(width * height), out(width * height, -1);
  for (int i = 0; i < width * height; ++i) in[i] = i;
  float *image, *turned;
  size_t pitch, turned_pitch;
  require(cudaMallocPitch(&image, &pitch, width * sizeof(float), height));
  require(cudaMallocPitch(&turned, &turned_pitch, height * sizeof(float), width));
  require(cudaMemcpy2D(image, pitch, in.data(), width * sizeof(float), width * sizeof(float),
                       height, cudaMemcpyHostToDevice));
  require(cudaMemset2D(turned, turned_pitch, 0, height * sizeof(float), width));
  transpose<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(
      image, pitch, turned, turned_pitch, width, height);
  require(cudaGetLastError());
  require(cudaMemcpy2D(out.data(), height * sizeof(float), turned, turned_pitch,
                       height * sizeof(float), width, cudaMemcpyDeviceToHost));
  bool is_right = pitch % 32 == 0 && pitch >= width * sizeof(float);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) is_right &= out[x * height + y] == in[y * width + x];
  }
  // A volume with pitched rows.
  cudaPitchedPtr volume;
  const cudaExtent extent = make_cudaExtent(10 * sizeof(float), 6, 4);
  require(cudaMalloc3D(&volume, extent));
  require(cudaMemset3D(volume, 0, extent));
  std::vector<float> box(3 * 2 * 2, 5), all(10 * 6 * 4);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(box.data(), 3 * sizeof(float), 3, 2);
  copy.dstPtr = volume;
  copy.dstPos = make_cudaPos(4 * sizeof(float), 1, 2);
  copy.extent = make_cudaExtent(3 * sizeof(float), 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  require(cudaMemcpy3D(&copy));
  copy = {};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(all.data(), 10 * sizeof(float), 10, 6);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  require(cudaMemcpy3D(&copy));
  for (int z = 0; z < 4; ++z) {
    for (int y = 0; y < 6; ++y) {
      for (int x = 0; x < 10; ++x) {
        const bool inside = 4 <= x && x < 7 && 1 <= y && y < 3 && 2 <= z;
        is_right &= all[(z * 6 + y) * 10 + x] == (inside ? 5 : 0);
      }
    }
  }
  require(cudaFree(volume.ptr));
  require(cudaFree(turned));
  require(cudaFree(image));
  return verdict(is_right);
}
