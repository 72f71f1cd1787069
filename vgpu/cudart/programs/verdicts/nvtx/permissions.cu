// Permissions that a program gives its kernels by NVTX, for all devices, for one device, and for a
// stream.
// case allowed: | | 0
// expect allowed: clean
// case written: | | 1
// expect written: error out-of-bounds store
// says written: (1) writes memory that the program allows no writes to by its NVTX permissions
// case read: | | 2
// expect read: error out-of-bounds load
// case atomic: | | 3
// expect atomic: error out-of-bounds add
// case of_region: | | 4
// expect of_region: error out-of-bounds store
// case of_device: | | 5
// expect of_device: clean
// case of_other_device: | --devices 2 | 6
// expect of_other_device: clean
// case reset: | | 7
// expect reset: clean
// case bound: | | 8
// expect bound: error out-of-bounds store
// case bound_elsewhere: | | 9
// expect bound_elsewhere: clean
// case unbound: | | 10
// expect unbound: clean
// case excluded: | | 11
// expect excluded: error out-of-bounds store
// case strict: | | 12
// expect strict: error out-of-bounds store
// case of_memory: | | 13
// expect of_memory: error out-of-bounds store
// case after_the_region: | | 14
// expect after_the_region: clean
// case in_a_graph: | | 15
// expect in_a_graph: error out-of-bounds store
// case copies: | | 16
// expect copies: clean
// case of_threads: | | 17
// expect of_threads: clean
// says of_threads: not checked: nvtxMemPermissionsBind: accesses of threads of the host
// case named: | | 18
// expect named: error out-of-bounds store
// says named: 4 bytes, 0 bytes past the end of table (256 bytes)
// case not_bound_yet: | | 19
// expect not_bound_yet: clean
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "described.hpp"

constexpr unsigned kNone = NVTX_MEM_PERMISSIONS_REGION_FLAGS_NONE,
                   kRead = NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ,
                   kWrite = NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE,
                   kAtomic = NVTX_MEM_PERMISSIONS_REGION_FLAGS_ATOMIC,
                   kReset = NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET;

__global__ void set(int* p) { p[threadIdx.x] = 1; }                              //~ store
__global__ void copy(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }  //~ load
__global__ void add(int* p) { atomicAdd(p, 1); }                                 //~ add

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  int *p, *q;
  cudaMalloc(&p, 256);
  cudaMalloc(&q, 256);
  cudaMemset(p, 0, 256);
  cudaMemset(q, 0, 256);
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  const auto all = nvtxMemCudaGetProcessWidePermissions(domain());
  const auto device = nvtxMemCudaGetDeviceWidePermissions(domain(), kind == 6 ? 1 : 0);
  const auto bind = [](nvtxMemPermissionsHandle_t own, unsigned flags) {
    nvtxMemPermissionsBind(domain(), own, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM, flags);
  };
  std::vector<int> host(64);
  switch (kind) {
    case 0:
      nvtxMemPermissionsAssign(domain(), rights(all, p, kRead));
      copy<<<1, 32>>>(p, q);
      break;
    case 1:
      nvtxMemPermissionsAssign(domain(), rights(all, p, kRead));
      copy<<<1, 32>>>(p, q);
      set<<<1, 32>>>(p);
      break;
    case 2:
      nvtxMemPermissionsAssign(domain(), rights(all, p, kWrite));
      set<<<1, 32>>>(p);
      copy<<<1, 32>>>(p, q);
      break;
    case 3:
      nvtxMemPermissionsAssign(domain(), rights(all, p, kRead | kWrite));
      set<<<1, 32>>>(p);
      add<<<1, 32>>>(p);
      break;
    case 4:
    case 14: {
      const auto pool = nvtxMemHeapRegister(domain(), heap(p, 256));
      nvtxMemRegionsRegister(domain(), region(pool, p, 128));
      nvtxMemRegionsName(domain(), named(p, "constants"));
      nvtxMemPermissionsAssign(domain(), rights(all, p, kRead));
      if (kind == 14) {
        nvtxMemRegionsUnregister(domain(), at(p));
        nvtxMemRegionsRegister(domain(), region(pool, p, 128));
      }
      set<<<1, 32>>>(p);
      break;
    }
    case 5:
    case 6:
      nvtxMemPermissionsAssign(domain(), rights(all, p, kind == 5 ? kRead : kRead | kWrite));
      nvtxMemPermissionsAssign(domain(), rights(device, p, kind == 5 ? kRead | kWrite : kRead));
      set<<<1, 32>>>(p);
      break;
    case 7:
      nvtxMemPermissionsAssign(domain(), rights(all, p, kNone));
      nvtxMemPermissionsAssign(domain(), rights(all, p, kReset));
      nvtxMemPermissionsAssign(domain(), rights(all, q, kNone));
      nvtxMemPermissionsReset(domain(), all);
      set<<<1, 32>>>(p);
      set<<<1, 32>>>(q);
      break;
    case 8:
    case 9:
    case 10: {
      const auto own = nvtxMemPermissionsCreate(domain(), NVTX_MEM_PERMISSIONS_CREATE_FLAGS_NONE);
      nvtxMemPermissionsAssign(domain(), rights(own, p, kRead));
      bind(own, NVTX_MEM_PERMISSIONS_BIND_FLAGS_NONE);
      copy<<<1, 32, 0, a>>>(p, q);
      if (kind == 10) {
        nvtxMemPermissionsUnbind(domain(), NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM);
        nvtxMemPermissionsDestroy(domain(), own);
      }
      cudaDeviceSynchronize();
      set<<<1, 32, 0, kind == 9 ? b : a>>>(p);
      break;
    }
    case 11:
    case 12: {
      const auto own = nvtxMemPermissionsCreate(
          domain(), kind == 11 ? NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_WRITE
                               : NVTX_MEM_PERMISSIONS_CREATE_FLAGS_NONE);
      nvtxMemPermissionsAssign(domain(), rights(own, q, kRead | kWrite));
      bind(own, kind == 12 ? NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_WRITE
                           : NVTX_MEM_PERMISSIONS_BIND_FLAGS_NONE);
      copy<<<1, 32, 0, a>>>(p, q);
      set<<<1, 32, 0, a>>>(p);
      break;
    }
    case 13:
      nvtxMemCudaSetPeerAccess(domain(), device, NVTX_MEM_CUDA_PEER_ALL_DEVICES, kRead);
      nvtxMemPermissionsAssign(domain(), rights(all, q, kRead | kWrite));
      set<<<1, 32>>>(q);
      set<<<1, 32>>>(p);
      break;
    case 15: {
      cudaGraph_t graph;
      cudaGraphExec_t executable;
      cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
      set<<<1, 32, 0, a>>>(p);
      cudaStreamEndCapture(a, &graph);
      cudaGraphInstantiate(&executable, graph, 0);
      cudaGraphLaunch(executable, a);
      nvtxMemPermissionsAssign(domain(), rights(all, p, kRead));
      cudaGraphLaunch(executable, a);
      cudaStreamSynchronize(a);
      cudaGraphExecDestroy(executable);
      cudaGraphDestroy(graph);
      break;
    }
    case 16:
      nvtxMemPermissionsAssign(domain(), rights(all, p, kNone));
      cudaMemset(p, 0, 256);
      cudaMemcpy(host.data(), p, 256, cudaMemcpyDeviceToHost);
      break;
    case 17: {
      const auto own = nvtxMemPermissionsCreate(domain(), NVTX_MEM_PERMISSIONS_CREATE_FLAGS_NONE);
      nvtxMemPermissionsBind(domain(), own, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD, 0);
      set<<<1, 32>>>(p);
      break;
    }
    case 18:  // a name, and no limits
      nvtxMemRegionsName(domain(), named(p, "table"));
      set<<<1, 65>>>(p);
      break;
    case 19: {  // what the object says later holds when it is bound again
      const auto own = nvtxMemPermissionsCreate(domain(), NVTX_MEM_PERMISSIONS_CREATE_FLAGS_NONE);
      bind(own, NVTX_MEM_PERMISSIONS_BIND_FLAGS_NONE);
      nvtxMemPermissionsAssign(domain(), rights(own, p, kRead));
      set<<<1, 32, 0, a>>>(p);
      break;
    }
  }
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(p);
  cudaFree(q);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
