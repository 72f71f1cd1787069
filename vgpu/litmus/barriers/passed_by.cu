// Barriers of a block that some of its threads pass by and run on behind, by a branch, a loop, a
// call or a jump.  Each program has a twin in which all threads arrive, or in which those that do
// not arrive have nothing behind the barrier.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: barrier-divergence
__global__ void in_a_branch(int* out, int n) {
  if (threadIdx.x < n) __syncthreads();      //~ wait
  out[threadIdx.x] = 1;                      //~ run
}
LITMUS(lanes_pass_a_branch_by) { in_a_branch<<<1, 64>>>(zeroed<int>(64), 40); }
// expect: barrier-divergence
__global__ void in_a_branch_of_a_warp(int* out, int n) {
  if (threadIdx.x < n) __syncthreads();      //~ wait
  out[threadIdx.x] = 1;                      //~ run
}
LITMUS(a_warp_passes_a_branch_by) { in_a_branch_of_a_warp<<<1, 96>>>(zeroed<int>(96), 64); }
// expect: clean
LITMUS(all_take_the_branch) { in_a_branch<<<1, 64>>>(zeroed<int>(64), 64); }
// expect: clean
LITMUS(none_takes_the_branch) { in_a_branch<<<1, 64>>>(zeroed<int>(64), 0); }

// A whole kernel is guarded, and there is nothing behind the guard.
// expect: clean
__global__ void guarded_kernel(int* out, int n) {
  if (threadIdx.x < n) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
  }
}
LITMUS(a_guarded_kernel) { guarded_kernel<<<1, 96>>>(zeroed<int>(96), 40); }

// expect: clean
__global__ void two_guards(int* out, int n, int m) {
  if (threadIdx.x >= n) return;
  if (threadIdx.x < m) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
  }
}
LITMUS(two_guarded_parts) { two_guards<<<1, 96>>>(zeroed<int>(96), 70, 40); }

// Threads that do not arrive work on their own, and leave.
// expect: clean
__global__ void works_alone_and_leaves(int* out, int n) {
  if (threadIdx.x < n) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] = 3;
  }
}
LITMUS(others_work_alone_and_leave) { works_alone_and_leaves<<<1, 96>>>(zeroed<int>(96), 40); }

// expect: barrier-divergence
__global__ void works_alone_and_runs_on(int* out, int n) {
  if (threadIdx.x < n) {
    __syncthreads();                         //~ wait
    out[threadIdx.x] = 1;
  } else {
    atomicAdd(&out[192], 3);
  }
  out[threadIdx.x + 96] = 1;                 //~ run
}
LITMUS(others_work_alone_and_run_on) { works_alone_and_runs_on<<<1, 96>>>(zeroed<int>(193), 40); }
// expect: clean
LITMUS(nobody_works_alone) { works_alone_and_runs_on<<<1, 96>>>(zeroed<int>(193), 96); }

// What they run on to decides that they have nothing to do.
// expect: barrier-divergence
__global__ void has_nothing_to_do(int* out, int n) {
  if (threadIdx.x < n) __syncthreads();      //~ wait
  if (threadIdx.x == 0) out[0] = 1;          //~ run
}
LITMUS(runs_on_with_nothing_to_do) { has_nothing_to_do<<<1, 64>>>(zeroed<int>(1), 48); }
// expect: clean
LITMUS(all_arrive_and_have_nothing_to_do) { has_nothing_to_do<<<1, 64>>>(zeroed<int>(1), 64); }

// expect: barrier-divergence
__global__ void passes_a_count_by(int* out, const int* in) {
  int v = in[threadIdx.x];
  if (v % 2 == 0 && threadIdx.x % 2 == out[64]) {
    if (__syncthreads_count(v > 3) > 2) v = 7;  //~ wait
  }
  out[threadIdx.x] = v;                         //~ run
}
LITMUS(passes_by_a_count) { passes_a_count_by<<<1, 64>>>(zeroed<int>(65), zeroed<int>(64)); }

// expect: clean
__global__ void counts_together(int* out, const int* in) {
  int v = in[threadIdx.x];
  if (in[64] == 0) {
    if (__syncthreads_count(v > 3) > 2) v = 7;
  }
  out[threadIdx.x] = v;
}
LITMUS(counts_with_all) { counts_together<<<1, 64>>>(zeroed<int>(65), zeroed<int>(65)); }

// expect: barrier-divergence
__global__ void short_circuit(int* out, int n) {
  int v = 1;
  if (threadIdx.x < n && __syncthreads_or(threadIdx.x == 3)) v = 2;  //~ wait
  out[threadIdx.x] = v;                                              //~ run
}
LITMUS(passes_by_in_a_condition) { short_circuit<<<1, 64>>>(zeroed<int>(64), 33); }
// expect: clean
LITMUS(all_evaluate_the_condition) { short_circuit<<<1, 64>>>(zeroed<int>(64), 64); }

// expect: barrier-divergence
__global__ void second_barrier(int* out, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int v = s[63 - threadIdx.x];
  if (threadIdx.x >= n) {
    v += s[threadIdx.x];
    __syncthreads();                         //~ wait
  }
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(passes_the_second_barrier_by) { second_barrier<<<1, 64>>>(zeroed<int>(64), 1); }
// expect: clean
LITMUS(arrives_at_both_barriers) { second_barrier<<<1, 64>>>(zeroed<int>(64), 0); }

// expect: barrier-divergence
__global__ void adds_behind(int* out, int n) {
  if (threadIdx.x != n) __syncthreads();     //~ wait
  atomicAdd(out, 1);                         //~ run
}
LITMUS(adds_atomically_behind_it) { adds_behind<<<1, 64>>>(zeroed<int>(1), 17); }
// expect: clean
LITMUS(all_add_behind_it) { adds_behind<<<1, 64>>>(zeroed<int>(1), 64); }

// expect: barrier-divergence
__global__ void reads_behind(int* out, const int* in, int n) {
  if (threadIdx.x < n) __syncthreads();      //~ wait
  if (in[threadIdx.x] != 0) out[0] = 1;      //~ run
}
LITMUS(reads_behind_it) { reads_behind<<<1, 64>>>(zeroed<int>(1), zeroed<int>(64), 8); }
// expect: clean
LITMUS(all_read_behind_it) { reads_behind<<<1, 64>>>(zeroed<int>(1), zeroed<int>(64), 64); }

// expect: barrier-divergence
__global__ void votes_behind(int* out, int n) {
  if (threadIdx.x >= n) __syncthreads();                       //~ wait
  const unsigned votes = __ballot_sync(~0u, threadIdx.x < 7);  //~ run
  if (votes == 1) out[threadIdx.x] = 1;
}
LITMUS(votes_behind_it) { votes_behind<<<1, 64>>>(zeroed<int>(64), 32); }
// expect: clean
LITMUS(all_vote_behind_it) { votes_behind<<<1, 64>>>(zeroed<int>(64), 0); }

// expect: barrier-divergence
__global__ void leaves_a_loop(int* out, const int* in, int n) {
  int v = 0;
#pragma unroll 1
  for (int i = 0; i < (threadIdx.x < n ? 3 : 2); ++i) {
    v += in[threadIdx.x];
    __syncthreads();                         //~ wait
  }
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(leaves_the_loop_earlier) { leaves_a_loop<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), 40); }
// expect: clean
LITMUS(all_leave_the_loop) { leaves_a_loop<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), 64); }

// The same loop, unrolled where the compiler likes.
// expect: barrier-divergence
__global__ void leaves_a_loop_of_warps(int* out, int rounds) {
  int v = 0;
  for (int i = 0; i < rounds - threadIdx.x / 32; ++i) {
    v += i;
    __syncthreads();                         //~ wait
  }
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(warps_leave_the_loop_earlier) { leaves_a_loop_of_warps<<<1, 96>>>(zeroed<int>(96), 5); }
// expect: clean
LITMUS(a_warp_leaves_the_loop) { leaves_a_loop_of_warps<<<1, 32>>>(zeroed<int>(96), 5); }

// Threads return in the loop, before the barrier, and have loaded in that iteration.
// expect: clean
__global__ void returns_in_a_loop(int* out, const int* in, int n) {
  __shared__ int s[64];
  for (int i = 0; i < 4; ++i) {
    const int v = in[threadIdx.x];
    if (v == 0 && threadIdx.x + 16 * i >= n) return;
    s[threadIdx.x] = v;
    __syncthreads();
    out[threadIdx.x] += s[0];
    __syncthreads();
  }
}
LITMUS(returns_from_a_loop) { returns_in_a_loop<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), 64); }

// They return behind the barrier of their last iteration.
// expect: clean
__global__ void returns_behind(int* out, int n) {
  for (int i = 0; i < 4; ++i) {
    out[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] += 1;
    if (threadIdx.x + 16 * i >= n) return;
    out[threadIdx.x] += 1;
  }
}
LITMUS(returns_behind_the_barrier) { returns_behind<<<1, 64>>>(zeroed<int>(64), 64); }

// expect: barrier-divergence
__global__ void breaks_out(int* out, int n) {
  int v = 0;
#pragma unroll 1
  while (true) {
    ++v;
    if (v + threadIdx.x > n) break;
    __syncthreads();                         //~ wait
  }
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(breaks_out_of_the_loop) { breaks_out<<<1, 64>>>(zeroed<int>(64), 66); }

// expect: clean
__global__ void breaks_out_together(int* out, int n) {
  int v = 0;
#pragma unroll 1
  while (true) {
    ++v;
    if (v > n) break;
    __syncthreads();
  }
  out[threadIdx.x] = v;
}
LITMUS(all_break_out_of_the_loop) { breaks_out_together<<<1, 64>>>(zeroed<int>(64), 3); }

// expect: barrier-divergence
__global__ void continues(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < 3; ++i) {
    out[threadIdx.x + 64 * i] = i;           //~ run
    if (threadIdx.x >= n) continue;
    __syncthreads();                         //~ wait
  }
}
LITMUS(continues_before_the_barrier) { continues<<<1, 64>>>(zeroed<int>(192), 50); }
// expect: clean
LITMUS(nobody_continues) { continues<<<1, 64>>>(zeroed<int>(192), 64); }

// expect: barrier-divergence
__global__ void in_some_iterations(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (i == 2 && threadIdx.x < n) __syncthreads();  //~ wait
    out[threadIdx.x] = i;                            //~ run
  }
}
LITMUS(passes_by_in_one_iteration) { in_some_iterations<<<1, 64>>>(zeroed<int>(64), 50); }
// expect: clean
LITMUS(all_arrive_in_one_iteration) { in_some_iterations<<<1, 64>>>(zeroed<int>(64), 64); }

// All skip the barrier in the first iteration, and some return at its end.
// expect: clean
__global__ void returns_after_some(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (i == n) __syncthreads();
    out[threadIdx.x] = i;
    if (threadIdx.x >= 40) return;
  }
}
LITMUS(returns_before_that_iteration) { returns_after_some<<<1, 64>>>(zeroed<int>(64), 1); }
// Those that return have passed the barrier of their first iteration by.
// expect: barrier-divergence
__global__ void returns_after_one(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (i == 0 && threadIdx.x < n) __syncthreads();  //~ wait
    out[threadIdx.x] = i;                            //~ run
    if (threadIdx.x >= n) return;
  }
}
LITMUS(returns_in_that_iteration) { returns_after_one<<<1, 64>>>(zeroed<int>(64), 40); }

// Lanes of one warp take turns at a barrier.
// expect: barrier-divergence
__global__ void takes_turns(int* out) {
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
    if (threadIdx.x % 2 == i) __syncthreads();       //~ wait
    out[threadIdx.x + 64 * i] = i;
  }
}
LITMUS(lanes_take_turns) { takes_turns<<<1, 64>>>(zeroed<int>(128)); }

// expect: barrier-divergence
__global__ void nested_loops(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
#pragma unroll 1
    for (int j = 0; j < (threadIdx.x < n ? 3 : 1); ++j) {
      out[threadIdx.x] += j;
      __syncthreads();                       //~ wait
    }
  }
  out[threadIdx.x + 64] = 1;                 //~ run
}
LITMUS(leaves_the_inner_loop_earlier) { nested_loops<<<1, 64>>>(zeroed<int>(128), 40); }
// expect: clean
LITMUS(all_leave_the_inner_loop) { nested_loops<<<1, 64>>>(zeroed<int>(128), 64); }

// Each leaves the inner loop, and some return from the outer one.
// expect: clean
__global__ void returns_from_the_outer_loop(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < 3; ++i) {
#pragma unroll 1
    for (int j = 0; j < 2; ++j) {
      out[threadIdx.x] += j;
      __syncthreads();
    }
    out[threadIdx.x] += 7;
    if (threadIdx.x + 20 * i >= n) return;
  }
}
LITMUS(returns_between_inner_loops) {
  returns_from_the_outer_loop<<<1, 64>>>(zeroed<int>(64), 64);
}

// expect: barrier-divergence
__global__ void strides(int* out, int n) {
  int v = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 64) {
    v += i;
    __syncthreads();                         //~ wait
  }
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(strides_unequally) { strides<<<1, 64>>>(zeroed<int>(64), 100); }
// expect: clean
LITMUS(strides_equally) { strides<<<1, 64>>>(zeroed<int>(64), 128); }

// Nothing lies behind the loop.
// expect: clean
__global__ void only_strides(int* out, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 64) {
    out[i] = 1;
    __syncthreads();
    out[i] += 1;
  }
}
LITMUS(strides_and_leaves) { only_strides<<<1, 64>>>(zeroed<int>(128), 100); }

// expect: barrier-divergence
__global__ void repeats(int* out, const int* in, int n) {
  int v = 0;
  do {
    v += 1 + in[threadIdx.x];
    __syncthreads();                         //~ wait
  } while (v < (threadIdx.x < n ? 3 : 2));
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(repeats_less_often) { repeats<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), 33); }
// expect: clean
LITMUS(all_repeat_as_often) { repeats<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), 64); }

// expect: barrier-divergence
__global__ void switches(int* out, const int* in) {
  int v = 0;
  switch (in[threadIdx.x] + threadIdx.x % 5) {
    case 0: v = 3; break;
    case 1: v = out[64]; break;
    case 2:
      out[threadIdx.x + 128] = 4;
      __syncthreads();                       //~ wait
      v = 8;
      break;
    case 3: v = out[65]; break;
    case 4: v = 11; break;
    default: break;
  }
  out[threadIdx.x] = v;                      //~ run
}
LITMUS(passes_by_in_a_switch) { switches<<<1, 64>>>(zeroed<int>(192), zeroed<int>(64)); }

// expect: clean
__global__ void switches_together(int* out, const int* in) {
  int v = 0;
  switch (in[0] + 2) {
    case 0: v = 3; break;
    case 1: v = out[64]; break;
    case 2:
      out[threadIdx.x + 128] = 4;
      __syncthreads();
      v = 8;
      break;
    case 3: v = out[65]; break;
    case 4: v = 11; break;
    default: break;
  }
  out[threadIdx.x] = v;
}
LITMUS(all_take_one_case) { switches_together<<<1, 64>>>(zeroed<int>(192), zeroed<int>(64)); }

// expect: barrier-divergence
__global__ void jumps(int* out, int n) {
  if (threadIdx.x >= n) goto behind;
  out[threadIdx.x] = 1;
  __syncthreads();                           //~ wait
behind:
  out[threadIdx.x] = 2;                      //~ run
}
LITMUS(jumps_over_the_barrier) { jumps<<<1, 64>>>(zeroed<int>(64), 63); }
// expect: clean
LITMUS(nobody_jumps) { jumps<<<1, 64>>>(zeroed<int>(64), 64); }

// Whole warps meet at the barriers of both branches, and hand data on there: PTX allows it, the
// programming guide does not.
// expect: barrier-divergence note
__global__ void by_role(int* out) {
  __shared__ int s[64];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = 1;
    __syncthreads();                         //~ wait
    out[threadIdx.x] = s[threadIdx.x];
  } else {
    __syncthreads();                         //~ wait
    out[threadIdx.x] = s[threadIdx.x - 32];
  }
}
LITMUS(warps_by_role) { by_role<<<1, 64>>>(zeroed<int>(64)); }
// The same when a warp diverges.
// expect: barrier-divergence
__global__ void by_lane(int* out) {
  if (threadIdx.x < 40) {
    out[threadIdx.x] = 1;
    __syncthreads();                         //~ wait
    out[threadIdx.x] = 2;
  } else {
    __syncthreads();                         //~ wait
    out[threadIdx.x] = 3;
  }
}
LITMUS(lanes_by_role) { by_lane<<<1, 64>>>(zeroed<int>(64)); }
// A third warp stays out.
// expect: barrier-divergence
__global__ void two_roles_of_three(int* out) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads();                         //~ wait
    out[threadIdx.x] = 2;
  } else if (threadIdx.x < 64) {
    __syncthreads();                         //~ wait
    out[threadIdx.x] = 3;
  }
  out[threadIdx.x + 96] = 1;                 //~ run
}
LITMUS(a_warp_without_a_role) { two_roles_of_three<<<1, 96>>>(zeroed<int>(192)); }
// What looks like two roles is a barrier too many.
// expect: barrier-divergence
// expect: barrier-divergence note
__global__ void waits_once_more(int* out) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads();                         //~ wait
  }
  out[threadIdx.x + 64] = 1;
  __syncthreads();                           //~ wait
  out[threadIdx.x] = 2;
}
LITMUS(a_warp_waits_once_more) { waits_once_more<<<1, 64>>>(zeroed<int>(128)); }
