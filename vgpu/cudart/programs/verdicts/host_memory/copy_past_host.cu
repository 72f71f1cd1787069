// A copy whose side in memory of the host is not mapped, or may not be accessed, is a finding at
// its call, and the call returns cudaErrorInvalidValue: the array is shorter than the copy, has
// been freed, or is read-only.  The program goes on.
// build: -arch=compute_75 -lcuda
// case short_source: | | 0
// expect short_source: error out-of-bounds upload
// says short_source: out-of-bounds on host memory 262144 bytes, of which the first 65536 are mapped
// says short_source: cudaMemcpy of 262144 bytes reads memory of the host that is not mapped: the host's array ends before the copy does
// prints short_source: invalid argument
// case short_target: | | 1
// expect short_target: error out-of-bounds download
// says short_target: cudaMemcpy of 262144 bytes writes memory of the host that is not mapped
// prints short_target: invalid argument
// case unmapped: | | 2
// expect unmapped: error out-of-bounds upload
// says unmapped: it has been freed, or the pointer is wrong
// case read_only: | | 3
// expect read_only: error out-of-bounds download
// says read_only: writes memory of the host that is read-only
// case barred: | | 4
// expect barred: error out-of-bounds upload
// says barred: reads memory of the host that allows no access
// case rows: | | 5
// expect rows: error out-of-bounds rows
// says rows: out-of-bounds on host memory 100 bytes
// says rows: cudaMemcpy2D of 400 bytes
// case async: | | 6
// expect async: error out-of-bounds async
// case symbol: | | 7
// expect symbol: error out-of-bounds symbol
// case driver: | | 8
// expect driver: error out-of-bounds driver
// says driver: cuMemcpyHtoD of 262144 bytes
// case volume: | | 9
// expect volume: error out-of-bounds volume
// case page_locked: | | 10
// expect page_locked: error out-of-bounds locked
// case freed_page_locked: | | 11
// expect freed_page_locked: error use-after-free freed unlock
// case registered: | | 12
// expect registered: error out-of-bounds registered
// case batch: | | 13
// expect batch: error out-of-bounds batch
// case literal: | | 14
// expect literal: error out-of-bounds literal
// case whole: | | 15
// expect whole: clean
// prints whole: no error
// case rows_with_gaps: | | 16
// expect rows_with_gaps: clean
#include <cuda.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

__device__ char variable[1 << 18];

constexpr size_t kPage = 1 << 16;

void said(cudaError_t error) { printf("%s\n", cudaGetErrorString(error)); }

int main(int, char** arguments) {
  char* host =
      (char*)mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* device;
  cudaMalloc(&device, 4 * kPage);
  cudaMemset(device, 1, 4 * kPage);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const int kind = atoi(arguments[1]);
  if (kind < 15 && kind != 3 && kind != 4) munmap(host + kPage, 3 * kPage);
  if (kind == 3) mprotect(host + kPage, kPage, PROT_READ);
  if (kind == 4) mprotect(host, kPage, PROT_NONE);
  if (kind == 0) said(cudaMemcpy(device, host, 4 * kPage, cudaMemcpyHostToDevice));  //~ upload
  if (kind == 1) said(cudaMemcpy(host, device, 4 * kPage, cudaMemcpyDeviceToHost));  //~ download
  if (kind == 2) said(cudaMemcpy(device, host + 2 * kPage, 16, cudaMemcpyDefault));  //~ upload
  if (kind == 3) said(cudaMemcpy(host, device, 2 * kPage, cudaMemcpyDeviceToHost));  //~ download
  if (kind == 4) said(cudaMemcpy(device, host + 8, 16, cudaMemcpyHostToDevice));     //~ upload
  if (kind == 5)
    said(cudaMemcpy2D(device, 256, host, kPage / 2, 100, 4, cudaMemcpyHostToDevice));  //~ rows
  if (kind == 6)
    said(cudaMemcpyAsync(device, host, 2 * kPage, cudaMemcpyHostToDevice, stream));      //~ async
  if (kind == 7) said(cudaMemcpyToSymbol(variable, host, 4 * kPage));                    //~ symbol
  if (kind == 8) said((cudaError_t)cuMemcpyHtoD((CUdeviceptr)device, host, 4 * kPage));  //~ driver
  if (kind == 9) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(device, 256, 256, 16);
    copy.dstPtr = make_cudaPitchedPtr(host, 4096, 256, 8);
    copy.extent = make_cudaExtent(256, 8, 4);
    copy.kind = cudaMemcpyDeviceToHost;
    said(cudaMemcpy3DAsync(&copy, stream));  //~ volume
  }
  if (kind == 10 || kind == 11) {
    char* locked;
    cudaMallocHost(&locked, 100);
    if (kind == 10) said(cudaMemcpy(device, locked, 104, cudaMemcpyHostToDevice));  //~ locked
    cudaFreeHost(locked);                                                           //~ unlock
    if (kind == 11)
      said(cudaMemcpyAsync(device, locked, 100, cudaMemcpyHostToDevice, stream));  //~ freed
  }
  if (kind == 12) {
    cudaHostRegister(host, kPage, 0);
    munmap(host, kPage);
    said(cudaMemcpy(device, host, kPage, cudaMemcpyHostToDevice));  //~ registered
  }
  if (kind == 13) {
    void* targets[] = {device};
    const void* sources[] = {host};
    const size_t sizes[] = {2 * kPage};
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    size_t first = 0;
    said(cudaMemcpyBatchAsync(targets, sources, sizes, 1, &how, &first, 1, stream));  //~ batch
  }
  if (kind == 14)
    said(cudaMemcpy((void*)"read-only", device, 9, cudaMemcpyDeviceToHost));  //~ literal
  if (kind == 15) {
    said(cudaMemcpy(device, host, 4 * kPage, cudaMemcpyHostToDevice));
    said(cudaMemcpy(host, device, 4 * kPage, cudaMemcpyDeviceToHost));
    said(cudaMemcpy(device, "read-only", 9, cudaMemcpyHostToDevice));
  }
  if (kind == 16) {  // pages between the rows are unmapped
    munmap(host + kPage, kPage);
    said(cudaMemcpy2D(device, 256, host, 2 * kPage, 100, 2, cudaMemcpyHostToDevice));
  }
  cudaStreamSynchronize(stream);
  cudaFree(device);
  cudaStreamDestroy(stream);
  return 0;
}
