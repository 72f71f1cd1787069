// Several threads hold one of several permits, or read while another writes.  The default schedule runs each
// critical section alone, and each finds what the one before has given back.  It would have been let in without
// that, so nothing orders the two.  With one permit it would have waited.
// case two_permits: | | subtract 2
// expect two_permits: error data-race subtract_update
// says two_permits: would have been let in without that: several threads may be inside at once
// case one_permit: | | subtract 1
// expect one_permit: clean
// case two_by_swaps: | | swap 2
// expect two_by_swaps: error data-race swap_update
// case one_by_swaps: | | swap 1
// expect one_by_swaps: clean
// case two_of_library: | | library 2
// expect two_of_library: error data-race library_update
// case one_of_library: | | library 1
// expect one_of_library: clean
// case writer_among_readers: | | readers 0
// expect writer_among_readers: error data-race shared_read shared_write
// case writer_alone: | | readers 1
// expect writer_alone: clean
// case early_release: | | meet 0
// expect early_release: error data-race reset meeting
// case late_release: | | meet 1
// expect late_release: clean
#include <cstdlib>
#include <cstring>
#include <cuda/semaphore>

using Semaphore = cuda::counting_semaphore<cuda::thread_scope_device, 4>;

__global__ void subtract(int* free, int* count) {
  while (atomicSub(free, 1) <= 0) atomicAdd(free, 1);
  __threadfence();
  *count += 1;  //~ subtract_update
  __threadfence();
  atomicAdd(free, 1);
}

__global__ void swap(int* free, int* count) {
  int found;
  do found = *(volatile int*)free;
  while (found <= 0 || atomicCAS(free, found, found - 1) != found);
  __threadfence();
  *count += 1;  //~ swap_update
  __threadfence();
  atomicAdd(free, 1);
}

__global__ void make(Semaphore* semaphore, int permits) { new (semaphore) Semaphore(permits); }

__global__ void acquire(Semaphore* semaphore, int* count) {
  semaphore->acquire();
  *count += 1;  //~ library_update
  semaphore->release();
}

// The writer takes anything but another writer for free.
template <bool kWaitsForReaders>
__global__ void read_or_write(int* readers, int* value, int* out) {
  constexpr int kWriter = 1000;
  if (blockIdx.x % 4 == 1) {
    if (kWaitsForReaders) {
      while (atomicCAS(readers, 0, -kWriter) != 0) {}
    } else {
      while (atomicCAS(readers, 0, -kWriter) == -kWriter) {}
    }
    __threadfence();
    *value = 7;  //~ shared_write
    __threadfence();
    atomicAdd(readers, kWriter);
    return;
  }
  while (atomicAdd(readers, 1) < 0) atomicSub(readers, 1);
  __threadfence();
  out[blockIdx.x] = *value;  //~ shared_read
  __threadfence();
  atomicSub(readers, 1);
}

// The last block lets the others go on before it has reset the counter.  In this execution it also reads the
// phase of the next round, by an atomic operation that changes nothing, before the others look at it.
template <bool kResetsFirst>
__global__ void meet(unsigned* arrived, unsigned* phase) {
  for (int round = 0; round < 3; ++round) {
    __threadfence();
    const unsigned now = atomicAdd(phase, 0);
    if (atomicAdd(arrived, 1) == gridDim.x - 1) {  //~ meeting
      if (kResetsFirst) {
        atomicExch(arrived, 0);
        __threadfence();
      }
      atomicAdd(phase, 1);
      __threadfence();
      if (!kResetsFirst) *arrived = 0;  //~ reset
    } else {
      while (atomicAdd(phase, 0) == now) {}
    }
    __threadfence();
  }
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  const int number = atoi(arguments[2]);
  int *word, *data;
  cudaMalloc(&word, 64);
  cudaMalloc(&data, 64);
  cudaMemset(word, 0, 64);
  cudaMemset(data, 0, 64);
  if (is("subtract") || is("swap")) cudaMemcpy(word, &number, sizeof number, cudaMemcpyHostToDevice);
  if (is("subtract")) subtract<<<4, 1>>>(word, data);
  if (is("swap")) swap<<<4, 1>>>(word, data);
  if (is("library")) {
    make<<<1, 1>>>((Semaphore*)word, number);
    acquire<<<4, 1>>>((Semaphore*)word, data);
  }
  if (is("readers") && number == 0) read_or_write<false><<<8, 1>>>(word, data, data + 1);
  if (is("readers") && number == 1) read_or_write<true><<<8, 1>>>(word, data, data + 1);
  if (is("meet") && number == 0) meet<false><<<4, 1>>>((unsigned*)word, (unsigned*)data);
  if (is("meet") && number == 1) meet<true><<<4, 1>>>((unsigned*)word, (unsigned*)data);
  cudaDeviceSynchronize();
  cudaFree(word);
  cudaFree(data);
  return 0;
}
