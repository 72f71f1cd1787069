// Pools of host memory and of managed memory (CUDA 13).  A device has access to a pool of the host
// only when the pool is open to it.
//
// build: -arch=compute_75
// case host: | --leaks | 0
// expect host: clean
// prints host: 42 43 43
// case closed: | | 1
// expect closed: error out-of-bounds store
// says closed: (1) is in memory of the host, which device 0 has no access to: its pool is not open to it
// case managed: | --leaks | 2
// expect managed: clean
// prints managed: 42 43 43
// case default_pools: | | 3
// expect default_pools: clean
// prints default_pools: 1 1 1 1
// case past_the_end: | | 4
// expect past_the_end: error out-of-bounds store
// case after_free: | | 5
// expect after_free: error use-after-free store freed
// case leaked: | --leaks | 6
// expect leaked: error leak allocation
// case read_too_early: | | 7
// expect read_too_early: error data-race store early
// expect read_too_early: error data-race allocation early
// case wrong: | | 8
// expect wrong: note api-error current_node
// expect wrong: note api-error handle
// prints wrong: 1 1
#include <cstdio>
#include <cstdlib>

__global__ void store(int* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] = 42;  //~ store
}

cudaMemPool_t made(cudaMemLocationType where, cudaMemAllocationType type) {
  cudaMemPoolProps properties = {};
  properties.allocType = type;
  properties.location.type = where;
  cudaMemPool_t pool = nullptr;
  cudaMemPoolCreate(&pool, &properties);
  return pool;
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  if (kind == 3) {
    cudaMemPool_t host, managed, anywhere, of_device;
    cudaMemLocation location = {cudaMemLocationTypeHost, 0};
    cudaMemGetDefaultMemPool(&host, &location, cudaMemAllocationTypePinned);
    cudaMemGetDefaultMemPool(&managed, &location, cudaMemAllocationTypeManaged);
    cudaMemAccessFlags access = cudaMemAccessFlagsProtNone;
    cudaMemPoolGetAccess(&access, host, &location);
    location.type = cudaMemLocationTypeNone;
    cudaMemGetMemPool(&anywhere, &location, cudaMemAllocationTypeManaged);
    cudaDeviceGetDefaultMemPool(&of_device, 0);
    printf("%d %d %d %d\n", host != managed, managed == anywhere, host != of_device,
           access == cudaMemAccessFlagsProtReadWrite);
    return 0;
  }
  if (kind == 8) {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeHostNumaCurrent;
    cudaMemPool_t pool;
    const int first = cudaMemPoolCreate(&pool, &properties);  //~ current_node
    properties.location.type = cudaMemLocationTypeHost;
    properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    const int second = cudaMemPoolCreate(&pool, &properties);  //~ handle
    printf("%d %d\n", first, second);
    return 0;
  }
  const bool is_managed = kind == 2;
  const cudaMemPool_t pool =
      made(cudaMemLocationTypeHost,
           is_managed ? cudaMemAllocationTypeManaged : cudaMemAllocationTypePinned);
  if (kind != 1 && !is_managed) {
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    cudaMemPoolSetAccess(pool, &access, 1);
  }
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* p;
  cudaMallocFromPoolAsync((void**)&p, 64, pool, stream);  //~ allocation
  if (kind == 5) cudaFreeAsync(p, stream);                //~ freed
  store<<<1, 32, 0, stream>>>(p, kind == 4 ? 17 : 16);
  int early = 0;
  if (kind == 7) early = p[3];  //~ early
  cudaStreamSynchronize(stream);
  int copy = 0;
  if (kind != 5) {
    const int first = p[0];
    p[1] = 43 + early * 0;
    cudaMemcpy(&copy, p + 1, sizeof copy, cudaMemcpyDefault);
    printf("%d %d %d\n", first, p[1], copy);
  }
  if (kind != 5 && kind != 6) cudaFreeAsync(p, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaMemPoolDestroy(pool);
  return 0;
}
