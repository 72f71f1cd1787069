// Launches that never end, because nobody can change what their threads wait for; and long ones that
// do end.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// Macros, so that a poll is at the line that names it.
#define TAKE(lock) while (atomicCAS(lock, 0, 1) != 0)
#define WAIT_FOR(flag, value) while (atomicAdd(flag, 0) != (value))

namespace {

__device__ void give_back(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

}  // namespace

// Whoever comes first ends without giving it back.
// expect: deadlock
__global__ void lock_is_kept(int* lock, int* count) {
  TAKE(lock) {}                              //~ spin //~ write
  atomicAdd(count, 1);
}
LITMUS(lock_is_kept) { lock_is_kept<<<3, 1>>>(zeroed<int>(1), zeroed<int>(1)); }

// expect: clean
__global__ void lock_is_given_back(int* lock, int* count) {
  for (int i = 0; i < 300; ++i) {
    TAKE(lock) {}
    __threadfence();
    ++*count;
    give_back(lock);
  }
}
LITMUS(lock_is_given_back) { lock_is_given_back<<<20, 1>>>(zeroed<int>(1), zeroed<int>(1)); }

// The kernel that raises it comes later.
// expect: deadlock
__global__ void flag_of_a_later_kernel(int* flag) {
  WAIT_FOR(flag, 1) __nanosleep(100);        //~ spin
}
__global__ void raises_it(int* flag) { atomicExch(flag, 1); }
LITMUS(flag_of_a_later_kernel) {
  int* const flag = zeroed<int>(1);
  flag_of_a_later_kernel<<<1, 1>>>(flag);
  raises_it<<<1, 1>>>(flag);
}

// expect: clean
__global__ void flag_of_an_earlier_kernel(int* flag) {
  WAIT_FOR(flag, 1) __nanosleep(100);
}
LITMUS(flag_of_an_earlier_kernel) {
  int* const flag = zeroed<int>(1);
  raises_it<<<1, 1>>>(flag);
  flag_of_an_earlier_kernel<<<1, 1>>>(flag);
}

// A barrier of the grid by hand: all blocks have to be resident.
// expect: deadlock
__global__ void too_many_blocks(int* arrived) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    WAIT_FOR(arrived, gridDim.x) {}          //~ spin
  }
  __syncthreads();                           //~ wait
}
LITMUS(too_many_blocks) { too_many_blocks<<<300, 64>>>(zeroed<int>(1)); }

// expect: clean
__global__ void blocks_that_fit(int* arrived) {
  for (int step = 1; step <= 40; ++step) {
    if (threadIdx.x == 0) {
      atomicAdd(arrived, 1);
      while (atomicAdd(arrived, 0) < step * gridDim.x) {}
    }
    __syncthreads();
  }
}
LITMUS(blocks_that_fit) { blocks_that_fit<<<4, 64>>>(zeroed<int>(1)); }

// Each has the lock that the other wants.
// expect: deadlock
__global__ void locks_in_a_circle(int* locks) {
  const int own = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) TAKE(&locks[own]) {}      //~ write
  __syncthreads();
  if (threadIdx.x % 32 == 0) TAKE(&locks[1 - own]) {}  //~ spin
  __syncwarp();                                        //~ wait
  if (threadIdx.x % 32 == 0) {
    give_back(&locks[1 - own]);
    give_back(&locks[own]);
  }
}
LITMUS(locks_in_a_circle) { locks_in_a_circle<<<1, 64>>>(zeroed<int>(2)); }

// expect: clean
__global__ void locks_in_order(int* locks, int* count) {
  if (threadIdx.x % 32 != 0) return;
  for (int i = 0; i < 300; ++i) {
    TAKE(&locks[0]) {}
    TAKE(&locks[1]) {}
    __threadfence();
    ++*count;
    give_back(&locks[1]);
    give_back(&locks[0]);
  }
}
LITMUS(locks_in_order) { locks_in_order<<<4, 128>>>(zeroed<int>(2), zeroed<int>(1)); }

// Who has the lock waits for the lanes that want it.
// expect: deadlock
__global__ void lock_held_at_a_meeting(int* lock, int* count) {
  TAKE(lock) {}                              //~ spin //~ write
  __syncwarp();                              //~ wait
  ++*count;
  give_back(lock);
}
LITMUS(lock_held_at_a_meeting) { lock_held_at_a_meeting<<<1, 32>>>(zeroed<int>(1), zeroed<int>(1)); }

// It takes the lock that it has.
__device__ __noinline__ int visit(int* lock, int depth);
// expect: deadlock
__global__ void relocks_in_a_recursion(int* lock, int* out, int depth) {
  *out = visit(lock, depth);
}
__device__ __noinline__ int visit(int* lock, int depth) {
  TAKE(lock) {}                              //~ spin //~ write
  const int below = depth == 0 ? 0 : visit(lock, depth - 1);
  give_back(lock);
  return below + 1;
}
LITMUS(relocks_in_a_recursion) {
  relocks_in_a_recursion<<<1, 1>>>(zeroed<int>(1), zeroed<int>(1), 3);
}

// Each tile waits for the next one, and the last ones do not start.
// expect: deadlock
__global__ void tile_waits_for_a_later_one(int* done) {
  if (blockIdx.x + 1 < gridDim.x) WAIT_FOR(&done[blockIdx.x + 1], 1) {}  //~ spin
  atomicExch(&done[blockIdx.x], 1);
}
LITMUS(tile_waits_for_a_later_one) { tile_waits_for_a_later_one<<<300, 1>>>(zeroed<int>(300)); }

// expect: clean
__global__ void tile_waits_for_an_earlier_one(int* done) {
  if (blockIdx.x > 0) WAIT_FOR(&done[blockIdx.x - 1], 1) {}
  unsigned x = blockIdx.x;
  for (int i = 0; i < 300; ++i) x = x * 1664525u + 1013904223u + (x >> 7);
  atomicExch(&done[blockIdx.x], x == 5 ? 2 : 1);
}
LITMUS(tile_waits_for_an_earlier_one) {
  tile_waits_for_an_earlier_one<<<300, 1>>>(zeroed<int>(300));
}

// Counts its attempts, and waits longer after each.
// expect: deadlock
__global__ void backs_off_for_ever(int* flag, int* attempts) {
  unsigned pause = 1;
  int i = 0;
  for (; atomicAdd(flag, 0) == 0; ++i) {     //~ spin
    for (unsigned k = 0; k < pause; ++k) asm volatile("nanosleep.u32 %0;" ::"r"(pause));
    if (pause < 32) pause *= 2;
  }
  *attempts = i;
}
LITMUS(backs_off_for_ever) { backs_off_for_ever<<<1, 1>>>(zeroed<int>(1), zeroed<int>(1)); }

// The same by a function, which unoptimised code calls.
__device__ __noinline__ unsigned rest_a_while(unsigned pause) {
  for (unsigned k = 0; k < pause; ++k) __nanosleep(pause);
  return pause < 32 ? pause * 2 : pause;
}
// expect: deadlock
__global__ void rests_for_ever(int* flag, int* attempts) {
  unsigned pause = 1;
  int i = 0;
  for (; atomicAdd(flag, 0) == 0; ++i) {     //~ spin
    if (i % 2 == 1) pause = rest_a_while(pause);
  }
  *attempts = i;
}
LITMUS(rests_for_ever) { rests_for_ever<<<1, 1>>>(zeroed<int>(1), zeroed<int>(1)); }

// The function gives up.
__device__ __noinline__ void rest_or_give_up(int* flag, int i) {
  if (i >= 30'000) atomicExch(flag, 1);
}
// expect: clean
__global__ void rests_until_it_gives_up(int* flag, int* attempts) {
  int i = 0;
  for (; atomicAdd(flag, 0) == 0; ++i) {
    if (i % 2 == 1) rest_or_give_up(flag, i);
  }
  *attempts = i;
}
LITMUS(rests_until_it_gives_up) {
  rests_until_it_gives_up<<<1, 1>>>(zeroed<int>(1), zeroed<int>(1));
}

// The function only computes; its result ends the loop.
__device__ __noinline__ int enough(int i) { return i >= 30'000 ? 1 : 0; }
// expect: clean
__global__ void rests_until_it_is_enough(int* flag, int* attempts) {
  int i = 0, is_enough = 0;
  for (; atomicAdd(flag, 0) == 0 && is_enough == 0; ++i) {
    if (i % 2 == 1) is_enough = enough(i);
  }
  *attempts = i;
}
LITMUS(rests_until_it_is_enough) {
  rests_until_it_is_enough<<<1, 1>>>(zeroed<int>(1), zeroed<int>(1));
}

// expect: clean
__global__ void gives_up_after_many_attempts(int* flag, int* attempts) {
  int i = 0;
  while (atomicAdd(flag, 0) == 0 && i < 50'000) ++i;
  *attempts = i;
}
LITMUS(gives_up_after_many_attempts) {
  gives_up_after_many_attempts<<<1, 1>>>(zeroed<int>(1), zeroed<int>(1));
}

// expect: clean
__global__ void gives_up_after_a_time(int* flag, long long* waited) {
  const long long start = clock64();
  long long passed = 0;
  while (atomicAdd(flag, 0) == 0 && passed < 150'000) passed = clock64() - start;
  *waited = passed;
}
LITMUS(gives_up_after_a_time) {
  gives_up_after_a_time<<<1, 1>>>(zeroed<int>(1), zeroed<long long>(1));
}

// expect: clean
__global__ void waits_for_a_long_computation(int* flag, unsigned* out) {
  if (threadIdx.x == 0) {
    unsigned x = 1;
    for (int i = 0; i < 60'000; ++i) x = x * 1664525u + 1013904223u + (x >> 7);
    *out = x;
    atomicExch(flag, 1);
  } else if (threadIdx.x % 32 == 0) {
    WAIT_FOR(flag, 1) {}
  }
  __syncthreads();
}
LITMUS(waits_for_a_long_computation) {
  waits_for_a_long_computation<<<1, 128>>>(zeroed<int>(1), zeroed<unsigned>(1));
}

// expect: clean
__global__ void tickets(int* next, int* serving, int* count) {
  for (int i = 0; i < 20; ++i) {
    const int ticket = atomicAdd(next, 1);
    WAIT_FOR(serving, ticket) {}
    __threadfence();
    ++*count;
    __threadfence();
    atomicAdd(serving, 1);
  }
}
LITMUS(tickets) { tickets<<<6, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1)); }
