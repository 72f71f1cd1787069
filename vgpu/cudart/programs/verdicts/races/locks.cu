// A lock of relaxed atomics orders no other memory: what it protects races unless a fence follows where it is
// taken and another one precedes where it is given back.  The report names the lock and the missing fences.
// case lanes: | | lanes
// expect lanes: error data-race update
// says lanes: under the lock mutex, whose atomics order nothing else
// says lanes: behind its taking (locks.cu:62) and before it is given back (locks.cu:65)
// says lanes: Atomics that take and give back a lock order no other memory
// case blocks: | | blocks
// expect blocks: error data-race update
// says blocks: under the lock mutex, whose atomics order nothing else
// case pointer: | | pointer
// expect pointer: error data-race spin_update
// says pointer: under the lock, whose atomics order nothing else
// case spin: | | spin
// expect spin: error data-race spin_read spin_write
// expect spin: error data-race spin_write
// says spin: under the lock
// case no_release: | | no_release
// expect no_release: error data-race half_update
// says no_release: a fence is missing before it is given back (locks.cu:
// case no_acquire: | | no_acquire
// expect no_acquire: error data-race half_update
// says no_acquire: a fence is missing behind its taking (locks.cu:
// case volatile_give: | | volatile_give
// expect volatile_give: error data-race volatile_update
// expect volatile_give: note data-race give
// says volatile_give: under the lock mutex
// case fenced: | | fenced
// expect fenced: clean
// case acquired: | | acquired
// expect acquired: clean
// case leaving: | | leaving
// expect leaving: error data-race leaving_update
// says leaving: under the lock mutex
// case no_lock: | | no_lock
// expect no_lock: error data-race plain_update
// says no_lock: updates are lost
// case blocks_unoptimized: -G | | blocks
// expect blocks_unoptimized: error data-race update
// says blocks_unoptimized: under the lock
// case fenced_unoptimized: -G | | fenced
// expect fenced_unoptimized: clean
// case no_lock_unoptimized: -G | | no_lock
// expect no_lock_unoptimized: error data-race plain_update
// says no_lock_unoptimized: updates are lost
#include <cstdio>
#include <cstring>
#include <cuda/atomic>

__device__ int mutex, count, words[2];

enum Fences { none, behind_taking, before_giving, both };

template <typename Work>
__device__ void try_again(Work work) {
  while (!work()) {}
}

__global__ void add() {
  bool done = false;
  while (!done) {
    if (atomicCAS(&mutex, 0, 1) == 0) {
      count++;  //~ update

      atomicExch(&mutex, 0);
      done = true;
    }
  }
}

__global__ void add_by_pointer(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  *sum += 1;  //~ spin_update
  atomicExch(lock, 0);
}

__global__ void move_by_pointer(int* lock, int* from, int* to) {
  while (atomicExch(lock, 1) != 0) {}
  const int taken = from[0];  //~ spin_read
  from[0] = taken + 1;        //~ spin_write
  atomicExch(lock, 0);
}

template <Fences kFences>
__global__ void add_fenced() {
  while (atomicCAS(&mutex, 0, 1) != 0) {}
  if (kFences & behind_taking) __threadfence();
  count++;  //~ half_update
  if (kFences & before_giving) __threadfence();
  atomicExch(&mutex, 0);
}

__global__ void add_volatile() {
  while (atomicCAS(&mutex, 0, 1) != 0) {}
  count++;  //~ volatile_update
  *(volatile int*)&mutex = 0;  //~ give
}

__global__ void add_acquired() {
  const cuda::atomic_ref<int, cuda::thread_scope_device> lock(mutex);
  while (lock.exchange(1, cuda::memory_order_acquire) != 0) {}
  count++;
  lock.store(0, cuda::memory_order_release);
}

// The atomics are no lock.
__global__ void add_plain(int* seen) {
  if (atomicCAS(&words[0], 0, 1) == 0) *seen = 1;
  count++;  //~ plain_update
  atomicExch(&words[1], 0);
}

// A thread may leave the kernel between the lock and the access, without a branch.
__global__ void add_unless(int leaves) {
  while (atomicCAS(&mutex, 0, 1) != 0) {}
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p exit; }" ::"r"(leaves));
  count++;  //~ leaving_update
  atomicExch(&mutex, 0);
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int* data = nullptr;
  cudaMalloc(&data, 4 * sizeof(int));
  cudaMemset(data, 0, 4 * sizeof(int));
  if (is("lanes")) add<<<1, 4>>>();
  if (is("blocks")) add<<<4, 1>>>();
  if (is("pointer")) add_by_pointer<<<4, 1>>>(data, data + 1);
  if (is("spin")) move_by_pointer<<<4, 1>>>(data, data + 1, data + 2);
  if (is("no_release")) add_fenced<behind_taking><<<4, 1>>>();
  if (is("no_acquire")) add_fenced<before_giving><<<4, 1>>>();
  if (is("volatile_give")) add_volatile<<<4, 1>>>();
  if (is("fenced")) add_fenced<both><<<4, 1>>>();
  if (is("acquired")) add_acquired<<<4, 1>>>();
  if (is("leaving")) add_unless<<<4, 1>>>(0);
  if (is("no_lock")) add_plain<<<4, 1>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
  return 0;
}
