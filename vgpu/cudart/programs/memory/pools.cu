// Memory ordered by streams: the default pool, one of our own, attributes, reuse, trimming.
// MUTANT: the memory is used behind its free in the stream.
// expect: use-after-free
#include <cstdint>

#include "check.hpp"

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }  //~
__global__ void add(const int* data, int* sum) { atomicAdd(sum, data[threadIdx.x]); }

int main() {
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* sum;
  require(cudaMallocManaged(&sum, sizeof *sum));
  *sum = 0;
  cudaMemPool_t pool;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  require(cudaMemPoolCreate(&pool, &properties));
  uint64_t threshold = UINT64_MAX;
  require(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  for (int round = 0; round < 5; ++round) {
    int *data, *other;
    require(cudaMallocAsync(&data, 64 * sizeof(int), stream));
    require(cudaMallocFromPoolAsync(&other, 64 * sizeof(int), pool, stream));
    fill<<<1, 64, 0, stream>>>(data, round);
    fill<<<1, 64, 0, stream>>>(other, 1);
    add<<<1, 64, 0, stream>>>(data, sum);
    add<<<1, 64, 0, stream>>>(other, sum);
    require(cudaFreeAsync(data, stream));
    require(cudaFreeAsync(other, stream));
#ifdef MUTANT
    if (round == 4) fill<<<1, 64, 0, stream>>>(data, 0);
#endif
  }
  uint64_t reserved, used;
  require(cudaStreamSynchronize(stream));
  require(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  require(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  bool is_right = *sum == 64 * (0 + 1 + 2 + 3 + 4 + 5) && used == 0 && reserved >= used;
  require(cudaMemPoolTrimTo(pool, 0));
  require(cudaMemPoolDestroy(pool));
  int device, supported;
  require(cudaGetDevice(&device));
  require(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  cudaMemPool_t standard, current;
  require(cudaDeviceGetDefaultMemPool(&standard, device));
  require(cudaDeviceGetMemPool(&current, device));
  is_right &= supported == 1 && standard == current;
  require(cudaFree(sum));
  require(cudaStreamDestroy(stream));
  return verdict(is_right);
}
