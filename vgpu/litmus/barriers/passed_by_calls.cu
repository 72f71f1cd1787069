// Barriers in functions that some threads pass by: inlined and called functions, recursion,
// functions called through pointers; and operations of a warp whose masks name lanes that pass
// them by.
#include <cooperative_groups.h>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;
namespace cg = cooperative_groups;

// expect: barrier-divergence
__device__ __forceinline__ int sum_inlined(int* out, int v) {
  out[threadIdx.x] = v;
  __syncthreads();                           //~ wait
  return v + 1;
}
__global__ void inlines(int* out, int n) {
  int v = 4;
  if (threadIdx.x < n) v = sum_inlined(out, v);
  out[threadIdx.x + 64] = v;                 //~ run
}
LITMUS(passes_an_inlined_function_by) { inlines<<<1, 64>>>(zeroed<int>(128), 40); }
// expect: clean
LITMUS(all_call_an_inlined_function) { inlines<<<1, 64>>>(zeroed<int>(128), 64); }

// expect: barrier-divergence
__device__ __noinline__ int sum_called(int* out, int v) {
  out[threadIdx.x] = v;
  __syncthreads();                           //~ wait
  return v + 1;
}
__global__ void calls(int* out, int n) {
  int v = 4;
  if (threadIdx.x < n) v = sum_called(out, v);
  out[threadIdx.x + 64] = v;                 //~ run
}
LITMUS(passes_a_call_by) { calls<<<1, 64>>>(zeroed<int>(128), 40); }
// expect: clean
LITMUS(all_call_a_function) { calls<<<1, 64>>>(zeroed<int>(128), 64); }

// Threads return from the function early, and run on in its caller.
// expect: barrier-divergence
__device__ __noinline__ void leaves_early(int* out, int n) {
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = 1;
  __syncthreads();                           //~ wait
  out[threadIdx.x] = 2;
}
__global__ void runs_on_in_the_caller(int* out, int n) {
  leaves_early(out, n);
  out[threadIdx.x + 64] = 1;                 //~ run
}
LITMUS(returns_early_to_its_caller) { runs_on_in_the_caller<<<1, 64>>>(zeroed<int>(128), 40); }
// expect: clean
LITMUS(nobody_returns_early) { runs_on_in_the_caller<<<1, 64>>>(zeroed<int>(128), 64); }

// expect: clean
__global__ void only_calls(int* out, int n) { leaves_early(out, n); }
LITMUS(returns_early_and_leaves) { only_calls<<<1, 64>>>(zeroed<int>(128), 40); }

// Both branches call one function.
// expect: barrier-divergence
__device__ __noinline__ int sum_in_both(int* out, int v) {
  out[threadIdx.x] = v;
  __syncthreads();                           //~ wait
  return v + 1;
}
__global__ void calls_in_both(int* out, int n) {
  int v = 0;
  if (threadIdx.x < n) {
    v = sum_in_both(out, 1);
  } else {
    v = sum_in_both(out, 2) + out[threadIdx.x + 64];
  }
  out[threadIdx.x + 64] = v;
}
LITMUS(calls_in_both_branches) { calls_in_both<<<1, 64>>>(zeroed<int>(128), 40); }

// expect: barrier-divergence
__device__ __noinline__ void descends(int* out, int depth) {
  if (depth == 0) return;
  out[threadIdx.x] += depth;
  __syncthreads();                           //~ wait
  descends(out, depth - 1);
  out[threadIdx.x] += 1;                     //~ run
}
__global__ void recurses_by_thread(int* out, int n) {
  descends(out, threadIdx.x < n ? 3 : 2);
}
LITMUS(recurses_less_deeply) { recurses_by_thread<<<1, 64>>>(zeroed<int>(64), 40); }
// expect: clean
LITMUS(all_recurse_as_deeply) { recurses_by_thread<<<1, 64>>>(zeroed<int>(64), 64); }

// The barriers come on the way back.
// expect: barrier-divergence
__device__ __noinline__ int unwinds(int* out, int depth) {
  if (depth == 0) return 1;
  const int below = unwinds(out, depth - 1) + out[threadIdx.x];
  __syncthreads();                           //~ wait
  return below + 1;
}
__global__ void unwinds_by_thread(int* out, int n) {
  out[threadIdx.x + 64] = unwinds(out, threadIdx.x < n ? 3 : 1);  //~ run
}
LITMUS(unwinds_earlier) { unwinds_by_thread<<<1, 64>>>(zeroed<int>(128), 40); }
// expect: clean
LITMUS(all_unwind_together) { unwinds_by_thread<<<1, 64>>>(zeroed<int>(128), 64); }

using Callback = void (*)(int*);

// expect: barrier-divergence
__device__ __noinline__ void step_with_barrier(int* out) {
  out[threadIdx.x] = 1;
  __syncthreads();                           //~ wait
}
__device__ __noinline__ void step_alone(int* out) { out[threadIdx.x] = 2; }
__device__ Callback kCallbacks[2] = {step_with_barrier, step_alone};
__global__ void calls_back(int* out, int n) {
  kCallbacks[threadIdx.x < n ? 0 : 1](out);
  out[threadIdx.x + 64] = 1;                 //~ run
}
LITMUS(calls_back_without_a_barrier) { calls_back<<<1, 64>>>(zeroed<int>(128), 40); }
// expect: clean
LITMUS(all_call_back_with_a_barrier) { calls_back<<<1, 64>>>(zeroed<int>(128), 64); }

// Threads that call back without a barrier have nothing behind it.
// expect: clean
__global__ void calls_back_and_leaves(int* out, int n) {
  kCallbacks[threadIdx.x < n ? 0 : 1](out);
}
LITMUS(calls_back_alone_and_leaves) { calls_back_and_leaves<<<1, 64>>>(zeroed<int>(128), 40); }

// Lanes of a warp come to one barrier in two calls through a pointer.
// expect: barrier-divergence
__device__ __noinline__ void step_of_both(int* out) {
  out[threadIdx.x] += 1;
  __syncthreads();                           //~ wait
}
__device__ Callback kCallback = step_of_both;
__global__ void calls_back_apart(int* out, int n) {
  const Callback step = *const_cast<Callback volatile*>(&kCallback);
  if (threadIdx.x < n) {
    step(out);
    out[threadIdx.x + 64] = 1;
  } else {
    step(out + 128);
    out[threadIdx.x + 64] = 2;
  }
}
LITMUS(calls_back_in_both_branches) { calls_back_apart<<<1, 64>>>(zeroed<int>(192), 40); }

// expect: barrier-divergence
__global__ void lambdas(int* out, int n) {
  const auto meet = [&](bool takes_part, auto body) {
    if (takes_part) {
      body(1);
      __syncthreads();                       //~ wait
    }
    body(2);
  };
  meet(threadIdx.x < n, [&](int v) {
    out[threadIdx.x] = v;                    //~ run
  });
}
LITMUS(passes_by_in_a_lambda) { lambdas<<<1, 64>>>(zeroed<int>(64), 40); }
// expect: clean
LITMUS(all_meet_in_a_lambda) { lambdas<<<1, 64>>>(zeroed<int>(64), 64); }

#define WAIT_FOR_COUNT(number, threads) \
  asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory")

// A numbered barrier of all threads.
// expect: barrier-divergence
__global__ void numbered(int* out, int n) {
  if (threadIdx.x < n) asm volatile("barrier.sync 5;" ::: "memory");  //~ wait
  out[threadIdx.x] = 1;                                                //~ run
}
LITMUS(passes_a_numbered_barrier_by) { numbered<<<1, 96>>>(zeroed<int>(96), 64); }
// expect: clean
LITMUS(all_come_to_a_numbered_barrier) { numbered<<<1, 96>>>(zeroed<int>(96), 96); }

#define WAIT_IF_LESS(a, b)                                                             \
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, %1; @p bar.sync 0; }" ::"r"(a), "r"(b) \
               : "memory")

// A barrier with a guard in its instruction.
// expect: barrier-divergence
__global__ void guarded_barrier(int* out, int n) {
  const int t = threadIdx.x;
  WAIT_IF_LESS(t, n);                        //~ wait
  out[threadIdx.x] = 1;                      //~ run
}
LITMUS(its_guard_is_false) { guarded_barrier<<<1, 96>>>(zeroed<int>(96), 40); }
// expect: clean
LITMUS(all_guards_are_true) { guarded_barrier<<<1, 96>>>(zeroed<int>(96), 96); }

// A barrier for a number of threads: lanes of the warps that arrive run on.
// expect: barrier-divergence
__global__ void counted(int* out, int n) {
  if (threadIdx.x % 32 < n) WAIT_FOR_COUNT(1, 64);  //~ wait
  out[threadIdx.x] = 1;                      //~ run
}
LITMUS(lanes_pass_a_counted_barrier_by) { counted<<<1, 64>>>(zeroed<int>(64), 20); }
// expect: clean
LITMUS(all_come_to_a_counted_barrier) { counted<<<1, 64>>>(zeroed<int>(64), 32); }

// Warps that the barrier is not for may run on.
// expect: clean
__global__ void not_for_all(int* out, int n) {
  if (threadIdx.x < n) WAIT_FOR_COUNT(1, 64);
  out[threadIdx.x] = 1;
}
LITMUS(a_warp_that_is_not_meant) { not_for_all<<<1, 96>>>(zeroed<int>(96), 64); }

// expect: barrier-divergence
__global__ void meets_half_a_warp(int* out, int n) {
  if (threadIdx.x < n) __syncwarp();         //~ wait
  out[threadIdx.x] = 1;                      //~ run
}
LITMUS(lanes_pass_a_warp_barrier_by) { meets_half_a_warp<<<1, 32>>>(zeroed<int>(32), 20); }
// expect: clean
LITMUS(all_lanes_meet) { meets_half_a_warp<<<1, 32>>>(zeroed<int>(32), 32); }

// expect: barrier-divergence
__global__ void meets_by_mask(int* out, int n, unsigned mask) {
  if (threadIdx.x < n) __syncwarp(mask);     //~ wait
  out[threadIdx.x] = 1;                      //~ run
}
LITMUS(a_named_lane_runs_on) { meets_by_mask<<<1, 32>>>(zeroed<int>(32), 20, 0x1fffff); }
// Lanes that the mask does not name may run on.
// expect: clean
LITMUS(lanes_that_are_not_named_run_on) {
  meets_by_mask<<<1, 32>>>(zeroed<int>(32), 20, 0xfffff);
}

// Lanes that have returned are named, which is legal.
// expect: clean
__global__ void names_those_that_have_returned(int* out, int n) {
  if (threadIdx.x >= n) return;
  __syncwarp();
  out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
}
LITMUS(names_lanes_that_have_returned) {
  names_those_that_have_returned<<<1, 32>>>(zeroed<int>(32), 20);
}

// expect: barrier-divergence
__global__ void shuffles_in_a_branch(int* out, int n) {
  int v = threadIdx.x;
  if (threadIdx.x < n) v = __shfl_sync(~0u, v, 3);  //~ wait
  out[threadIdx.x] = v;                             //~ run
}
LITMUS(passes_a_shuffle_by) { shuffles_in_a_branch<<<1, 64>>>(zeroed<int>(64), 40); }
// expect: clean
LITMUS(a_warp_passes_a_shuffle_by) { shuffles_in_a_branch<<<1, 64>>>(zeroed<int>(64), 32); }

// expect: barrier-divergence
__global__ void votes_in_a_loop(int* out, int n) {
  int v = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 32) {
    v += __any_sync(~0u, i == 5);            //~ wait
  }
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(leaves_a_loop_of_votes_earlier) { votes_in_a_loop<<<1, 32>>>(zeroed<int>(32), 80); }
// expect: clean
LITMUS(all_leave_a_loop_of_votes) { votes_in_a_loop<<<1, 32>>>(zeroed<int>(32), 96); }

// expect: barrier-divergence
__device__ __noinline__ int sum_of_warp(int v) {
  for (int step = 16; step > 0; step /= 2) {
    v += __shfl_xor_sync(~0u, v, step);      //~ wait
  }
  return v;
}
__global__ void sums_in_a_function(int* out, int n) {
  int v = threadIdx.x;
  if (threadIdx.x < n) v = sum_of_warp(v);
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(passes_a_sum_by) { sums_in_a_function<<<1, 32>>>(zeroed<int>(32), 30); }
// expect: clean
LITMUS(all_sum) { sums_in_a_function<<<1, 32>>>(zeroed<int>(32), 32); }

// expect: barrier-divergence
__device__ __noinline__ int meets_deeper(int* out, int depth) {
  if (depth == 0) return 1;
  __syncwarp();                              //~ wait
  return meets_deeper(out, depth - 1) + out[threadIdx.x];  //~ run
}
__global__ void meets_recursively(int* out, int n) {
  out[threadIdx.x + 32] = meets_deeper(out, threadIdx.x < n ? 3 : 2);
}
LITMUS(meets_less_deeply) { meets_recursively<<<1, 32>>>(zeroed<int>(64), 10); }
// expect: clean
LITMUS(all_meet_as_deeply) { meets_recursively<<<1, 32>>>(zeroed<int>(64), 32); }

// A tile of 8 lanes, of which some run on.
// expect: barrier-divergence
__global__ void tiles(int* out, int n) {
  const unsigned tile = 0xffu << (threadIdx.x & 24u);
  if (threadIdx.x % 8 < n) __syncwarp(tile);  //~ wait
  out[threadIdx.x] = 1;                       //~ run
}
LITMUS(passes_its_tile_by) { tiles<<<1, 32>>>(zeroed<int>(32), 5); }
// expect: clean
LITMUS(all_of_a_tile_meet) { tiles<<<1, 32>>>(zeroed<int>(32), 8); }

// Whole tiles run on, which is their own affair.
// expect: clean
__global__ void some_tiles(int* out, int n) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = threadIdx.x;
  if (threadIdx.x < n) v = tile.shfl(v, 0);
  out[threadIdx.x] = v;
}
LITMUS(tiles_run_on) { some_tiles<<<1, 32>>>(zeroed<int>(32), 16); }
// expect: barrier-divergence
__global__ void part_of_a_tile(int* out, int n) {
  const unsigned tile = 0xffu << (threadIdx.x & 24u);
  int v = threadIdx.x;
  if (threadIdx.x < n) v = __shfl_sync(tile, v, 0, 8);  //~ wait
  out[threadIdx.x] = v;                                 //~ run
}
LITMUS(part_of_a_tile_runs_on) { part_of_a_tile<<<1, 32>>>(zeroed<int>(32), 20); }

// Lanes that are together form a group of their own.
// expect: clean
__global__ void those_together(int* out, int n) {
  int v = threadIdx.x;
  if (threadIdx.x % 3 < n) {
    const auto group = cg::coalesced_threads();
    group.sync();
    v = group.shfl(v, 0);
  }
  out[threadIdx.x] = v;
}
LITMUS(groups_of_those_together) { those_together<<<1, 32>>>(zeroed<int>(32), 2); }
