// A thread that loads a value which it has stored itself, while other threads store the same value, can
// only find that value: a note, as two such stores are.  It is an error if a store differs, if the thread
// has not stored before, or if something else was stored in between.
// case all: | | all
// expect all: note data-race store
// expect all: note data-race store load
// case volatile: | | volatile
// expect volatile: note data-race volatile_store volatile_load
// case one_lane: | | one_lane
// expect one_lane: note data-race lane_store
// expect one_lane: note data-race lane_store lane_load
// case blocks: | | blocks
// expect blocks: note data-race global_store
// expect blocks: note data-race global_store global_load
// case fenced: | | fenced
// expect fenced: note data-race fenced_store
// expect fenced: note data-race fenced_store fenced_load
// case barrier: | | barrier
// expect barrier: note data-race store
// case volatile_barrier: | | volatile_barrier
// expect volatile_barrier: clean
// case one_differs: | | one_differs
// expect one_differs: error data-race any_store
// expect one_differs: note data-race any_store
// expect one_differs: error data-race any_store any_load
// expect one_differs: note data-race any_store any_load
// case reader: | | reader
// expect reader: note data-race half_store
// expect reader: error data-race half_store half_load
// expect reader: note data-race half_store half_load
// case between: | | between
// expect between: error data-race second first_load
// case all_unoptimized: -G | | all
// expect all_unoptimized: note data-race store
// expect all_unoptimized: note data-race store load
// case one_differs_unoptimized: -G | | one_differs
// expect one_differs_unoptimized: error data-race any_store
// expect one_differs_unoptimized: note data-race any_store
// expect one_differs_unoptimized: error data-race any_store any_load
// expect one_differs_unoptimized: note data-race any_store any_load
#include <cstdio>
#include <cstring>

#define KEEP_ORDER asm volatile("" ::: "memory")

__global__ void all(int* out, int n, bool waits) {
  __shared__ int limit;
  limit = n;  //~ store
  KEEP_ORDER;
  if (waits) __syncthreads();
  out[threadIdx.x] = limit;  //~ load
}

__global__ void with_volatile(int* out, bool waits) {
  __shared__ volatile int zero;
  zero = 0;  //~ volatile_store
  if (waits) __syncthreads();
  out[threadIdx.x] = zero;  //~ volatile_load
}

__global__ void one_lane(int* out, int n) {
  __shared__ int limit;
  if (threadIdx.x % 32 != 0) return;
  limit = n;  //~ lane_store
  KEEP_ORDER;
  out[threadIdx.x] = limit;  //~ lane_load
}

__global__ void blocks(int* out, int* limit, int n) {
  *limit = n;  //~ global_store
  KEEP_ORDER;
  out[blockIdx.x * blockDim.x + threadIdx.x] = *limit;  //~ global_load
}

__global__ void fenced(int* out, int n) {
  __shared__ int limit;
  limit = n;  //~ fenced_store
  __threadfence();
  out[threadIdx.x] = limit;  //~ fenced_load
}

__global__ void differs(int* out, const int* limits) {
  __shared__ int limit;
  limit = limits[threadIdx.x];  //~ any_store
  KEEP_ORDER;
  out[threadIdx.x] = limit;  //~ any_load
}

// Threads of the second half have not stored before they load.
__global__ void reader(int* out, int n) {
  __shared__ int limit;
  if (threadIdx.x == 0) limit = 0;
  __syncthreads();
  if (threadIdx.x < 64) limit = n;  //~ half_store
  KEEP_ORDER;
  out[threadIdx.x] = limit;  //~ half_load
}

// The value of the loading thread was replaced before.
__global__ void between(int* out, int n) {
  __shared__ int limit;
  if (threadIdx.x == 0) limit = n;
  __syncthreads();
  if (threadIdx.x == 40) limit = 7;
  __syncthreads();
  if (threadIdx.x == 33) limit = n;             //~ second
  if (threadIdx.x == 0) out[threadIdx.x] = limit;  //~ first_load
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int *out = nullptr, *in = nullptr;
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMalloc(&in, 256 * sizeof(int));
  int limits[64];
  for (int& limit : limits) limit = 5;
  limits[40] = 6;
  cudaMemcpy(in, limits, sizeof limits, cudaMemcpyHostToDevice);
  if (is("all")) all<<<1, 64>>>(out, 5, false);
  if (is("barrier")) all<<<1, 64>>>(out, 5, true);
  if (is("volatile")) with_volatile<<<1, 64>>>(out, false);
  if (is("volatile_barrier")) with_volatile<<<1, 64>>>(out, true);
  if (is("one_lane")) one_lane<<<1, 128>>>(out, 5);
  if (is("blocks")) blocks<<<4, 64>>>(out, in, 5);
  if (is("fenced")) fenced<<<1, 64>>>(out, 5);
  if (is("one_differs")) differs<<<1, 64>>>(out, in);
  if (is("reader")) reader<<<1, 128>>>(out, 5);
  if (is("between")) between<<<1, 64>>>(out, 5);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(in);
  return 0;
}
