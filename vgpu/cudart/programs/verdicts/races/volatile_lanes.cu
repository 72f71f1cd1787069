// Threads that store different values to one word by volatile or relaxed stores do not race, but which
// value stays is chance: a note, between warps and between lanes that execute one store.  A plain store is
// an error, and one value, or a word for each lane, is neither.
// case global: | | global
// expect global: note data-race volatile
// says global: which of their values stays is chance
// case shared: | | shared
// expect shared: note data-race shared
// case warps: | | warps
// expect warps: note data-race volatile
// case relaxed: | | relaxed
// expect relaxed: note data-race relaxed
// case pairs: | | pairs
// expect pairs: note data-race pairs
// case fenced: | | fenced
// expect fenced: note data-race fenced
// case plain: | | plain
// expect plain: error data-race plain
// case same: | | same
// expect same: clean
// case fenced_same: | | fenced_same
// expect fenced_same: clean
// case own: | | own
// expect own: clean
// case one: | | one
// expect one: clean
// case global_unoptimized: -G | | global
// expect global_unoptimized: note data-race volatile
// case relaxed_unoptimized: -G | | relaxed
// expect relaxed_unoptimized: note data-race
// case same_unoptimized: -G | | same
// expect same_unoptimized: clean
// case lockstep: | --warp-model lockstep | global
// expect lockstep: clean
#include <cstdio>
#include <cstring>
#include <cuda/atomic>

__global__ void store_volatile(volatile int* out) {
  *out = threadIdx.x;  //~ volatile
}

__global__ void store_shared(int* out) {
  __shared__ int word;
  *(volatile int*)&word = threadIdx.x;  //~ shared
  __syncthreads();
  if (threadIdx.x == 0) *out = word;
}

__global__ void store_relaxed(int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> word(*out);
  word.store(threadIdx.x, cuda::memory_order_relaxed);  //~ relaxed
}

__global__ void store_pairs(volatile int* out) {
  out[threadIdx.x * 7 % 16] = threadIdx.x;  //~ pairs
}

__global__ void store_fenced(volatile int* out, int* data, bool same) {
  data[threadIdx.x] = threadIdx.x;
  __threadfence();
  *out = same ? 1 : threadIdx.x;  //~ fenced
}

__global__ void store_plain(int* out) {
  *out = threadIdx.x;  //~ plain
}

__global__ void store_same(volatile int* out) {
  *out = 1;
}

__global__ void store_own(volatile int* out) {
  out[threadIdx.x] = threadIdx.x;
}

__global__ void store_one(volatile int* out) {
  if (threadIdx.x == 5) *out = threadIdx.x;
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(out, 0, 64 * sizeof(int));
  if (is("global")) store_volatile<<<1, 32>>>(out);
  if (is("shared")) store_shared<<<1, 32>>>(out);
  if (is("warps")) store_volatile<<<1, 64>>>(out);
  if (is("relaxed")) store_relaxed<<<1, 32>>>(out);
  if (is("pairs")) store_pairs<<<1, 32>>>(out);
  if (is("fenced")) store_fenced<<<1, 32>>>(out, out + 32, false);
  if (is("plain")) store_plain<<<1, 32>>>(out);
  if (is("same")) store_same<<<1, 64>>>(out);
  if (is("fenced_same")) store_fenced<<<1, 32>>>(out, out + 32, true);
  if (is("own")) store_own<<<1, 64>>>(out);
  if (is("one")) store_one<<<1, 32>>>(out);
  int first = 0;
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return 0;
}
