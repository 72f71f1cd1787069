// Thread block clusters: memory of other blocks, and their barrier; kernels that begin early.
#include "vgpu/litmus/async_ptx.hpp"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: clean
__global__ void __cluster_dims__(2, 1, 1) neighbour_in_the_cluster(int* out) {
  __shared__ int s[32];
  unsigned rank, there, value;
  CLUSTER_RANK(rank);
  s[threadIdx.x] = rank;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(there, &s[threadIdx.x], rank ^ 1);
  LOAD_REMOTE("", value, there);
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(neighbour_in_the_cluster) { neighbour_in_the_cluster<<<4, 32>>>(zeroed<int>(128)); }

// Past the end of an array of the neighbour, whichever of the two comes first in its memory.
// expect: out-of-bounds shared
__global__ void __cluster_dims__(2, 1, 1) past_an_array_of_the_neighbour(int* out) {
  __shared__ int s[32], t[32];
  unsigned rank, there, first, second;
  CLUSTER_RANK(rank);
  s[threadIdx.x] = t[threadIdx.x] = rank;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(there, &s[threadIdx.x + 1], rank ^ 1);
  LOAD_REMOTE("", first, there);                //~ read
  MAPPED(there, &t[threadIdx.x + 1], rank ^ 1);
  LOAD_REMOTE("", second, there);               //~ read
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  out[blockIdx.x * 32 + threadIdx.x] = first + second;
}
LITMUS(past_an_array_of_the_neighbour) {
  past_an_array_of_the_neighbour<<<2, 32>>>(zeroed<int>(64));
}

// expect: data-race shared
__global__ void __cluster_dims__(2, 1, 1) neighbour_too_early(int* out) {
  __shared__ int s[32];
  unsigned rank, there, value;
  CLUSTER_RANK(rank);
  s[threadIdx.x] = rank;                        //~ write
  __syncthreads();
  MAPPED(there, &s[threadIdx.x], rank ^ 1);
  LOAD_REMOTE("", value, there);                //~ read
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(neighbour_too_early) { neighbour_too_early<<<2, 32>>>(zeroed<int>(64)); }

// expect: use-after-free shared
__global__ void __cluster_dims__(2, 1, 1) neighbour_that_exits(int* out) {
  __shared__ int s[32];
  unsigned rank, there, value;
  CLUSTER_RANK(rank);
  s[threadIdx.x] = rank;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(there, &s[threadIdx.x], rank ^ 1);
  LOAD_REMOTE("", value, there);                //~ read
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(neighbour_that_exits) { neighbour_that_exits<<<2, 32>>>(zeroed<int>(64)); }

// expect: data-race shared
__global__ void __cluster_dims__(2, 1, 1) relaxed_arrival(int* out) {
  __shared__ int s[32];
  unsigned rank, there, value;
  CLUSTER_RANK(rank);
  s[threadIdx.x] = rank;                        //~ write
  DO("barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
  MAPPED(there, &s[threadIdx.x], rank ^ 1);
  LOAD_REMOTE("", value, there);                //~ read
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(relaxed_arrival) { relaxed_arrival<<<2, 32>>>(zeroed<int>(64)); }

// expect: clean
__global__ void __cluster_dims__(2, 1, 1) relaxed_arrival_after_a_fence(int* out) {
  __shared__ int s[32];
  unsigned rank, there, value;
  CLUSTER_RANK(rank);
  s[threadIdx.x] = rank;
  DO("fence.acq_rel.cluster;");
  DO("barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
  MAPPED(there, &s[threadIdx.x], rank ^ 1);
  LOAD_REMOTE("", value, there);
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(relaxed_arrival_after_a_fence) {
  relaxed_arrival_after_a_fence<<<2, 32>>>(zeroed<int>(64));
}

// What comes between arriving and waiting is ordered with nothing of the others.
// expect: data-race shared
__global__ void __cluster_dims__(2, 1, 1) write_after_arriving(int* out) {
  __shared__ int s[32];
  unsigned rank, there, value;
  CLUSTER_RANK(rank);
  MAPPED(there, &s[threadIdx.x], rank ^ 1);
  DO("barrier.cluster.arrive;");
  s[threadIdx.x] = rank;                        //~ write
  DO("barrier.cluster.wait;");
  LOAD_REMOTE("", value, there);                //~ read
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(write_after_arriving) { write_after_arriving<<<2, 32>>>(zeroed<int>(64)); }

// expect: clean
__global__ void __cluster_dims__(2, 1, 1) count_in_the_cluster(int* out) {
  __shared__ int s;
  unsigned there;
  if (threadIdx.x == 0) s = 0;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(there, &s, 0);
  ADD_REMOTE(".relaxed.cluster", there, 1);
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  if (threadIdx.x == 0 && s != (blockIdx.x == 0 ? 64 : 0)) __trap();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
LITMUS(count_in_the_cluster) { count_in_the_cluster<<<2, 32>>>(zeroed<int>(2)); }

// Atomic for one block alone.
// expect: data-race shared
__global__ void __cluster_dims__(2, 1, 1) count_at_block_scope(int* out) {
  __shared__ int s;
  unsigned there;
  if (threadIdx.x == 0) s = 0;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(there, &s, 0);
  ADD_REMOTE(".relaxed.cta", there, 1);         //~ atomic
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
LITMUS(count_at_block_scope) { count_at_block_scope<<<2, 32>>>(zeroed<int>(2)); }

// A block of another cluster is out of the scope, in global memory, too.
// expect: data-race global
__global__ void __cluster_dims__(2, 1, 1) count_in_two_clusters(int* out) {
  asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(out) : "memory");  //~ atomic
}
LITMUS(count_in_two_clusters) { count_in_two_clusters<<<4, 32>>>(zeroed<int>(1)); }

// expect: clean
__global__ void __cluster_dims__(2, 1, 1) flag_in_the_cluster(int* out) {
  __shared__ int data, flag;
  unsigned rank, data_there, flag_there, seen = 0;
  CLUSTER_RANK(rank);
  if (rank == 0) data = flag = 0;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(data_there, &data, 0);
  MAPPED(flag_there, &flag, 0);
  if (rank == 1) {
    STORE_REMOTE("", data_there, 7);
    STORE_REMOTE(".release.cluster", flag_there, 1);
  } else {
    while (seen == 0) LOAD_REMOTE(".acquire.cluster", seen, flag_there);
    out[0] = data;
  }
}
LITMUS(flag_in_the_cluster) { flag_in_the_cluster<<<2, 1>>>(zeroed<int>(1)); }

// expect: data-race shared
__global__ void __cluster_dims__(2, 1, 1) flag_acquired_at_block_scope(int* out) {
  __shared__ int data, flag;
  unsigned rank, data_there, flag_there, seen = 0;
  CLUSTER_RANK(rank);
  if (rank == 0) data = flag = 0;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(data_there, &data, 0);
  MAPPED(flag_there, &flag, 0);
  if (rank == 1) {
    STORE_REMOTE("", data_there, 7);                                          //~ write
    STORE_REMOTE(".release.cluster", flag_there, 1);                          //~ write
  } else {
    while (seen == 0) LOAD_REMOTE(".acquire.cta", seen, flag_there);          //~ read
    out[0] = data;                                                            //~ read
  }
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(flag_acquired_at_block_scope) { flag_acquired_at_block_scope<<<2, 1>>>(zeroed<int>(1)); }

// expect: clean
__global__ void __cluster_dims__(2, 1, 1) object_of_a_neighbour(int* out) {
  __shared__ int data;
  __shared__ unsigned long long object;
  unsigned rank, data_there, object_there;
  CLUSTER_RANK(rank);
  if (rank == 0) INIT_OBJECT(&object, 1);
  DO("fence.mbarrier_init.release.cluster;");
  DO("barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
  MAPPED(data_there, &data, 0);
  MAPPED(object_there, &object, 0);
  if (rank == 1) {
    STORE_REMOTE("", data_there, 7);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(object_there)
                 : "memory");
  } else {
    WAIT(".acquire.cluster.shared::cta", &object, 0);
    out[0] = data;
  }
}
LITMUS(object_of_a_neighbour) { object_of_a_neighbour<<<2, 1>>>(zeroed<int>(1)); }

// The wait does not reach the thread that arrives.
// expect: data-race shared
__global__ void __cluster_dims__(2, 1, 1) object_waited_for_at_block_scope(int* out) {
  __shared__ int data;
  __shared__ unsigned long long object;
  unsigned rank, data_there, object_there;
  CLUSTER_RANK(rank);
  if (rank == 0) INIT_OBJECT(&object, 1);
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(data_there, &data, 0);
  MAPPED(object_there, &object, 0);
  if (rank == 1) {
    STORE_REMOTE("", data_there, 7);            //~ write
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(object_there)
                 : "memory");
  } else {
    WAIT(".acquire.cta.shared::cta", &object, 0);
    out[0] = data;                              //~ read
  }
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(object_waited_for_at_block_scope) {
  object_waited_for_at_block_scope<<<2, 1>>>(zeroed<int>(1));
}

// Nothing orders the initialisation before the other block's arrival.
// expect: data-race shared
__global__ void __cluster_dims__(2, 1, 1) object_initialised_too_late() {
  __shared__ unsigned long long object;
  unsigned rank, object_there;
  CLUSTER_RANK(rank);
  if (rank == 0) INIT_OBJECT(&object, 1);       //~ write
  DO("barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
  MAPPED(object_there, &object, 0);
  if (rank == 1) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(object_there) : "memory");  //~ atomic
  }
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(object_initialised_too_late) { object_initialised_too_late<<<2, 1>>>(); }

// Threads that have exited are not waited for.
// expect: clean
__global__ void __cluster_dims__(2, 1, 1) exit_before_the_barrier(int* out) {
  unsigned rank;
  CLUSTER_RANK(rank);
  if (rank == 1) return;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  out[threadIdx.x] = 1;
}
LITMUS(exit_before_the_barrier) { exit_before_the_barrier<<<2, 32>>>(zeroed<int>(32)); }

// expect: deadlock
__global__ void __cluster_dims__(2, 1, 1) barrier_that_a_warp_misses() {
  unsigned rank;
  CLUSTER_RANK(rank);
  if (rank == 1 && threadIdx.x < 32) {
    __syncthreads();                            //~ wait
    return;
  }
  DO("barrier.cluster.arrive;");
  DO("barrier.cluster.wait;");                  //~ wait
}
LITMUS(barrier_that_a_warp_misses) { barrier_that_a_warp_misses<<<2, 64>>>(); }

// expect: barrier-divergence
__global__ void __cluster_dims__(2, 1, 1) arrive_twice() {
  DO("barrier.cluster.arrive;");
  DO("barrier.cluster.arrive;");                //~ wait
  DO("barrier.cluster.wait;");
}
LITMUS(arrive_twice) { arrive_twice<<<2, 32>>>(); }

// expect: barrier-divergence
__global__ void __cluster_dims__(2, 1, 1) wait_without_arriving() {
  DO("barrier.cluster.wait;");                  //~ wait
}
LITMUS(wait_without_arriving) { wait_without_arriving<<<2, 32>>>(); }

// expect: out-of-bounds shared
__global__ void __cluster_dims__(2, 1, 1) block_that_is_not_there(int* out) {
  __shared__ int s[32];
  unsigned there, value;
  MAPPED(there, &s[threadIdx.x], 2);
  LOAD_REMOTE("", value, there);                //~ read
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(block_that_is_not_there) { block_that_is_not_there<<<2, 32>>>(zeroed<int>(64)); }

// expect: out-of-bounds shared
__global__ void __cluster_dims__(2, 1, 1) beyond_a_neighbours_memory() {
  __shared__ int s[32];
  unsigned rank, there;
  CLUSTER_RANK(rank);
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(there, &s[threadIdx.x], rank ^ 1);
  STORE_REMOTE("", there + 4, 1);               //~ write
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(beyond_a_neighbours_memory) { beyond_a_neighbours_memory<<<2, 32>>>(); }

namespace {

// A programmatic dependent launch: the kernel may begin before the kernel before it has completed (PTX
// ISA 9.0, griddepcontrol).  The device of a trial has what the code asks for.
template <typename Kernel>
void launch_early(Kernel kernel, const int* in, int* out) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 2;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, in, out);
}

}  // namespace

// expect: clean
__global__ void lets_the_next_begin(int* out) {
  asm volatile("griddepcontrol.launch_dependents;");
  out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
}
__global__ void reads_after_its_wait(const int* in, int* out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
}
LITMUS(reads_after_its_wait) {
  int* const first = zeroed<int>(64);
  int* const second = zeroed<int>(64);
  lets_the_next_begin<<<2, 32>>>(first);
  launch_early(reads_after_its_wait, first, second);
}

// expect: data-race global
__global__ void is_read_too_early(int* out) {
  asm volatile("griddepcontrol.launch_dependents;");
  out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;  //~ write
}
__global__ void reads_before_its_wait(const int* in, int* out) {
  const int value = in[blockIdx.x * 32 + threadIdx.x];  //~ read
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
LITMUS(reads_before_its_wait) {
  int* const first = zeroed<int>(64);
  int* const second = zeroed<int>(64);
  is_read_too_early<<<2, 32>>>(first);
  launch_early(reads_before_its_wait, first, second);
}
