// A program's own pool, whose regions NVTX describes: what lies outside them, also in other
// regions, is out of bounds.
// case right: | | 0
// expect right: clean
// case into_the_gap: | | 1
// expect into_the_gap: error out-of-bounds store
// says into_the_gap: 4 bytes, 0 bytes past the end of weights (256 bytes)
// says into_the_gap: (1) is in arena, where the program has registered no region
// case into_the_neighbour: | | 2
// expect into_the_neighbour: error out-of-bounds store
// says into_the_neighbour: the address of (1) is made from weights, but is in activations[0]
// case below: | | 3
// expect below: error out-of-bounds load
// says below: the address of (1) is made from activations, but is in weights[63]
// case ends_inside: | | 4
// expect ends_inside: error out-of-bounds wide
// says ends_inside: 16 bytes at byte 240 of weights (248 bytes)
// case no_region: | | 5
// expect no_region: error out-of-bounds store
// says no_region: (1) is in arena, where the program has registered no region
// case copy: | | 6
// expect copy: error out-of-bounds copy
// says copy: cudaMemcpy of 260 bytes is not inside one region of a memory pool (NVTX)
// case copies_right: | | 7
// expect copies_right: clean
// case fill: | | 8
// expect fill: error out-of-bounds fill
// case plain_half: | | 9
// expect plain_half: clean
// case layout: | | 10
// expect layout: clean
// case grown: | | 11
// expect grown: clean
// case shrunk: | | 12
// expect shrunk: error out-of-bounds store
// case shared_runtime: -cudart shared | | 2
// expect shared_runtime: error out-of-bounds store
// says shared_runtime: the address of (1) is made from weights, but is in activations[0]
// case jobs: | --jobs 2 | 2
// expect jobs: error out-of-bounds store
// case from_the_end: | | 14
// expect from_the_end: clean
// case pointers_in_memory: | | 15
// expect pointers_in_memory: clean
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "described.hpp"

__global__ void set(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;  //~ store
}
__global__ void below(int* p, int* out) {
  for (int i = 0; i < 2; ++i) out[i] = p[-i];  //~ load
}
__global__ void set_wide(int4* p, int n) {
  const int i = threadIdx.x;
  if (i < n) p[i] = make_int4(i, i, i, i);  //~ wide
}
__global__ void backwards(int* end, int n) {
  const int i = threadIdx.x;
  if (i < n) *(end - 1 - i) = i;
}
__global__ void set_each(int** each, int n) { each[blockIdx.x][threadIdx.x % n] = 1; }

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  char* pool = nullptr;
  cudaMalloc(&pool, 4096);
  const unsigned usage =
      kind == 10 ? NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT : NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  const std::size_t bytes_of_arena = kind == 9 ? 2048 : 4096;
  const auto arena = nvtxMemHeapRegister(domain(), heap(pool, bytes_of_arena, "arena", usage));
  const bool has_gap = kind == 1 || kind == 4;
  int* const weights = reinterpret_cast<int*>(pool);
  int* const activations = reinterpret_cast<int*>(pool + (has_gap ? 512 : 256));
  if (kind != 5) {
    nvtxMemRegionsRegister(domain(), region(arena, weights, kind == 4 ? 248 : 256));
    nvtxMemRegionsName(domain(), named(weights, "weights"));
    nvtxMemRegionsRegister(domain(), region(arena, activations, 256));
    nvtxMemRegionsName(domain(), named(activations, "activations"));
  }
  std::vector<int> host(65, 7);
  switch (kind) {
    case 0:
      set<<<2, 32>>>(weights, 64);
      set<<<2, 32>>>(activations, 64);
      break;
    case 1:
    case 2:
    case 5:
    case 10: set<<<3, 32>>>(weights, 65); break;
    case 3:
      set<<<4, 32>>>(weights, 64);
      set<<<4, 32>>>(activations, 64);
      below<<<1, 1>>>(activations, weights);
      break;
    case 4: set_wide<<<1, 32>>>(reinterpret_cast<int4*>(weights), 16); break;
    case 6: cudaMemcpy(weights, host.data(), 260, cudaMemcpyHostToDevice); break;  //~ copy
    case 7:
      cudaMemcpy(weights, host.data(), 256, cudaMemcpyHostToDevice);
      cudaMemcpy(activations, weights, 256, cudaMemcpyDeviceToDevice);
      cudaMemset(weights, 0, 256);
      cudaMemcpy(host.data(), activations, 256, cudaMemcpyDeviceToHost);
      break;
    case 8: cudaMemset(weights, 0, 512); break;  //~ fill
    case 9: set<<<1, 512>>>(reinterpret_cast<int*>(pool + 2048), 512); break;
    case 11:
    case 12:
      nvtxMemRegionsUnregister(domain(), at(activations));
      nvtxMemRegionsResize(domain(), resized(weights, kind == 11 ? 1024 : 128));
      set<<<1, 256>>>(weights, kind == 11 ? 256 : 33);
      break;
    case 14: backwards<<<1, 64>>>(activations, 64); break;
    case 15: {
      int* each[] = {weights, activations};
      int** on_device;
      cudaMalloc(&on_device, sizeof each);
      cudaMemcpy(on_device, each, sizeof each, cudaMemcpyHostToDevice);
      set_each<<<2, 1>>>(on_device, 64);
      cudaDeviceSynchronize();
      cudaFree(on_device);
    }
  }
  cudaDeviceSynchronize();
  nvtxMemHeapUnregister(domain(), arena);
  cudaFree(pool);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
