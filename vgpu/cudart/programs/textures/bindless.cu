// Texture objects in a table in device memory, chosen by each thread: pages of different sizes.
// MUTANT: a page's texture object is destroyed before the launch.
// expect: use-after-free
#include "check.hpp"

constexpr int kPages = 3;

struct Page {
  cudaTextureObject_t texture;
  int width, height;
};

__global__ void sum_pages(const Page* pages, float* sums) {
  const Page page = pages[threadIdx.x % kPages];
  float sum = 0;
  for (int y = 0; y < page.height; ++y) {
    for (int x = 0; x < page.width; ++x) {
      sum += tex2D<float>(page.texture, x + 0.5f, y + 0.5f);  //~
    }
  }
  sums[threadIdx.x] = sum;
}

int main() {
  Buffer<Page> pages(kPages);
  Buffer<float> sums(32);
  cudaArray_t arrays[kPages];
  float expected[kPages] = {};
  for (int i = 0; i < kPages; ++i) {
    const int width = 4 + i, height = 3 + 2 * i;
    float texels[8 * 8];
    for (int j = 0; j < width * height; ++j) expected[i] += texels[j] = i + j;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    require(cudaMallocArray(&arrays[i], &format, width, height));
    require(cudaMemcpy2DToArray(arrays[i], 0, 0, texels, width * sizeof(float),
                                width * sizeof(float), height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = arrays[i];
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    require(cudaCreateTextureObject(&pages[i].texture, &resource, &description, nullptr));
    pages[i].width = width;
    pages[i].height = height;
  }
#ifdef MUTANT
  require(cudaDestroyTextureObject(pages[1].texture));
#endif
  sum_pages<<<1, 32>>>(pages, sums);
  finish();
  bool is_right = true;
  for (int i = 0; i < 32; ++i) is_right &= sums[i] == expected[i % kPages];
  for (int i = 0; i < kPages; ++i) {
#ifdef MUTANT
    if (i == 1) continue;
#endif
    require(cudaDestroyTextureObject(pages[i].texture));
  }
  for (cudaArray_t array : arrays) require(cudaFreeArray(array));
  return verdict(is_right);
}
