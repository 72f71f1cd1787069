// Bulk copies: the asynchronous proxy, and how one learns that they are complete.
#include "vgpu/litmus/async_ptx.hpp"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: clean
__global__ void copy_in(const int* in, int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, 128);
    COPY_IN(s, in, 128, &object);
  }
  __syncthreads();
  WAIT(".shared", &object, 0);
  out[t] = s[31 - t];
}
LITMUS(copy_in) { copy_in<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32)); }

// Longer than the arrays, one of which is followed by the other.
// expect: out-of-bounds shared
__global__ void copy_in_past_an_array(const int* in, int* out) {
  __shared__ alignas(16) int s[32], t[32];
  __shared__ unsigned long long object[2];
  if (threadIdx.x == 0) {
    INIT_OBJECT(&object[0], 1);
    INIT_OBJECT(&object[1], 1);
    EXPECT(&object[0], 144);
    COPY_IN(s, in, 144, &object[0]);            //~ write
    WAIT(".shared", &object[0], 0);
    EXPECT(&object[1], 144);
    COPY_IN(t, in, 144, &object[1]);            //~ write
    WAIT(".shared", &object[1], 0);
  }
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + t[threadIdx.x];
}
LITMUS(copy_in_past_an_array) {
  copy_in_past_an_array<<<1, 32>>>(zeroed<int>(36), zeroed<int>(32));
}

// A copy has a multiple of 16 bytes.
// expect: misaligned-access
__global__ void copy_in_of_odd_size(const int* in) {
  __shared__ alignas(16) int s[32];
  __shared__ unsigned long long object;
  if (threadIdx.x == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, 24);
    COPY_IN(s, in, 24, &object);                //~ access
  }
}
LITMUS(copy_in_of_odd_size) { copy_in_of_odd_size<<<1, 32>>>(zeroed<int>(32)); }

// expect: data-race shared
__global__ void copy_in_not_waited_for(const int* in, int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, 128);
    COPY_IN(s, in, 128, &object);               //~ write
  }
  __syncthreads();
  out[t] = s[31 - t];                           //~ read
}
LITMUS(copy_in_not_waited_for) {
  copy_in_not_waited_for<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32));
}

// Two stages, each with its mbarrier: that one is complete says nothing of the other.
// expect: data-race shared
__global__ void other_stage_waited_for(const int* in, int* out) {
  __shared__ alignas(16) int s[2][32];
  __shared__ unsigned long long object[2];
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_OBJECT(&object[0], 1);
    INIT_OBJECT(&object[1], 1);
    EXPECT(&object[0], 128);
    COPY_IN(s[0], in, 128, &object[0]);         //~ write
    EXPECT(&object[1], 128);
    COPY_IN(s[1], in, 128, &object[1]);
  }
  __syncthreads();
  WAIT(".shared", &object[1], 0);
  out[t] = s[0][t];                             //~ read
}
LITMUS(other_stage_waited_for) {
  other_stage_waited_for<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32));
}

// expect: clean
__global__ void copy_out(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t == 0) {
    COPY_OUT(out, s, 128);
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(copy_out) { copy_out<<<1, 32>>>(zeroed<int>(32)); }

// The thread that copies fences, for all that it knows of.
// expect: clean
__global__ void copy_out_fenced_once(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t == 0) {
    DO("fence.proxy.async;");
    COPY_OUT(out, s, 128);
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(copy_out_fenced_once) { copy_out_fenced_once<<<1, 32>>>(zeroed<int>(32)); }

// expect: data-race shared
__global__ void copy_out_without_fence(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;                                     //~ write
  __syncthreads();
  if (t == 0) {
    COPY_OUT(out, s, 128);                      //~ read
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(copy_out_without_fence) { copy_out_without_fence<<<1, 32>>>(zeroed<int>(32)); }

// A fence before the writes, or for another space, is none for them.
// expect: data-race shared
__global__ void copy_out_fenced_too_early(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  DO("fence.proxy.async;");
  s[t] = t;                                     //~ write
  DO("fence.proxy.async.global;");
  __syncthreads();
  if (t == 0) {
    COPY_OUT(out, s, 128);                      //~ read
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(copy_out_fenced_too_early) { copy_out_fenced_too_early<<<1, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void source_reused(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t == 0) {
    COPY_OUT(out, s, 128);
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group.read 0;");
  }
  __syncthreads();
  s[t] = 2 * t;
}
LITMUS(source_reused) { source_reused<<<1, 32>>>(zeroed<int>(32)); }

// expect: data-race shared
__global__ void source_reused_too_early(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t == 0) {
    COPY_OUT(out, s, 128);                      //~ read
    DO("cp.async.bulk.commit_group;");
  }
  __syncthreads();
  s[t] = 2 * t;                                 //~ write
  if (t == 0) DO("cp.async.bulk.wait_group 0;");
}
LITMUS(source_reused_too_early) { source_reused_too_early<<<1, 32>>>(zeroed<int>(32)); }

// The source has been read; that the target has been written is another thing.
// expect: data-race global
__global__ void target_read_too_early(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t == 0) {
    COPY_OUT(out, s, 128);                      //~ write
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group.read 0;");
    out[32] = out[5];                           //~ read
  }
}
LITMUS(target_read_too_early) { target_read_too_early<<<1, 32>>>(zeroed<int>(33)); }

// expect: clean
__global__ void target_read_in_time(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t == 0) {
    COPY_OUT(out, s, 128);
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
    out[32] = out[5];
  }
}
LITMUS(target_read_in_time) { target_read_in_time<<<1, 32>>>(zeroed<int>(33)); }

// The shared memory of a block ends with its threads: a copy that nobody has waited for may read it
// afterwards.
// expect: use-after-free shared
__global__ void block_ends_before_its_copy(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t == 0) {
    for (int part = 0; part < 2; ++part) {
      COPY_OUT(out + 16 * part, s + 16 * part, 64);  //~ read
      DO("cp.async.bulk.commit_group;");
    }
    DO("cp.async.bulk.wait_group.read 1;");
  }
}
LITMUS(block_ends_before_its_copy) { block_ends_before_its_copy<<<1, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void block_ends_after_the_reads_of_its_copies(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t % 16 != 0) return;
  COPY_OUT(out + 32 * blockIdx.x + t, s + t, 64);
  DO("cp.async.bulk.commit_group;");
  if (t == 16) DO("cp.async.bulk.wait_group.read 0;");
  if (t == 0) DO("cp.async.bulk.wait_group 0;");
}
LITMUS(block_ends_after_the_reads_of_its_copies) {
  block_ends_after_the_reads_of_its_copies<<<2, 32>>>(zeroed<int>(64));
}

// A tile that is brought and never used may arrive when another block has the memory.
// expect: use-after-free shared
__global__ void block_ends_before_a_copy_arrives(const int* in, int* out) {
  __shared__ alignas(16) int s[2][32];
  __shared__ unsigned long long object[2];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int stage = 0; stage < 2; ++stage) {
      INIT_OBJECT(&object[stage], 1);
      EXPECT(&object[stage], 128);
      COPY_IN(s[stage], in, 128, &object[stage]);  //~ write
    }
  }
  __syncthreads();
  WAIT(".shared", &object[0], 0);
  out[t] = s[0][31 - t];
}
LITMUS(block_ends_before_a_copy_arrives) {
  block_ends_before_a_copy_arrives<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32));
}

// Reductions of several blocks at one place are atomic.
// expect: clean
__global__ void reduce_out(int* out) {
  __shared__ alignas(16) int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;"
                 :
                 : "l"(__cvta_generic_to_global(out)), "r"(ADDRESS_OF(s))
                 : "memory");
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(reduce_out) { reduce_out<<<3, 32>>>(zeroed<int>(32)); }

// What has been read may be overwritten by a copy that comes after, without a fence.
// expect: clean
__global__ void buffer_filled_again(const int* in, int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) INIT_OBJECT(&object, 1);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    if (t == 0) {
      EXPECT(&object, 128);
      COPY_IN(s, in, 128, &object);
    }
    WAIT(".shared", &object, round & 1);
    sum += s[31 - t];
    __syncthreads();
  }
  out[t] = sum;
}
LITMUS(buffer_filled_again) { buffer_filled_again<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32)); }

// expect: data-race shared
__global__ void buffer_filled_too_early(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ unsigned long long object[2];
  const int t = threadIdx.x;
  if (t < 2) INIT_OBJECT(&object[t], 1);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    if (t == 0) {
      EXPECT(&object[round], 256);
      COPY_IN(s, in, 256, &object[round]);      //~ write
    }
    WAIT(".shared", &object[round], 0);
    sum += s[63 - t];                           //~ read
  }
  out[t] = sum;
}
LITMUS(buffer_filled_too_early) {
  buffer_filled_too_early<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64));
}

// expect: clean
__global__ void __cluster_dims__(2, 1, 1) copy_to_a_neighbour(int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ alignas(16) int inbox[32];
  __shared__ unsigned long long object;
  unsigned rank, inbox_there, object_there;
  const int t = threadIdx.x;
  CLUSTER_RANK(rank);
  s[t] = rank;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, 128);
  }
  DO("fence.proxy.async;");
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(inbox_there, inbox, rank ^ 1);
  MAPPED(object_there, &object, rank ^ 1);
  if (t == 0) COPY_ACROSS(inbox_there, s, 128, object_there);
  WAIT(".acquire.cluster.shared::cta", &object, 0);
  out[blockIdx.x * 32 + t] = inbox[t];
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(copy_to_a_neighbour) { copy_to_a_neighbour<<<2, 32>>>(zeroed<int>(64)); }

// The completion of the copy is an operation on the object for which the block waits.
// expect: clean
__global__ void __cluster_dims__(2, 1, 1) copy_to_a_neighbour_at_block_scope(int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ alignas(16) int inbox[32];
  __shared__ unsigned long long object;
  unsigned rank, inbox_there, object_there;
  const int t = threadIdx.x;
  CLUSTER_RANK(rank);
  s[t] = rank;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, 128);
  }
  DO("fence.proxy.async;");
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(inbox_there, inbox, rank ^ 1);
  MAPPED(object_there, &object, rank ^ 1);
  if (t == 0) COPY_ACROSS(inbox_there, s, 128, object_there);
  WAIT(".shared", &object, 0);
  out[blockIdx.x * 32 + t] = inbox[t];
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(copy_to_a_neighbour_at_block_scope) {
  copy_to_a_neighbour_at_block_scope<<<2, 32>>>(zeroed<int>(64));
}

// The neighbour has received the bytes, but the block that sends them does not wait for that.
// expect: use-after-free shared
__global__ void __cluster_dims__(2, 1, 1) sender_ends_early(int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ alignas(16) int inbox[32];
  __shared__ unsigned long long object;
  unsigned rank, inbox_there, object_there;
  const int t = threadIdx.x;
  CLUSTER_RANK(rank);
  s[t] = rank;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, 128);
  }
  DO("fence.proxy.async;");
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(inbox_there, inbox, rank ^ 1);
  MAPPED(object_there, &object, rank ^ 1);
  if (rank == 0) {
    if (t == 0) COPY_ACROSS(inbox_there, s, 128, object_there);  //~ read
    return;
  }
  WAIT(".acquire.cluster.shared::cta", &object, 0);
  out[t] = inbox[t];
}
LITMUS(sender_ends_early) { sender_ends_early<<<2, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void __cluster_dims__(2, 1, 1) store_at_a_neighbour(int* out) {
  __shared__ int inbox[32];
  __shared__ unsigned long long object;
  unsigned rank, inbox_there, object_there;
  const int t = threadIdx.x;
  CLUSTER_RANK(rank);
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, 128);
  }
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(inbox_there, &inbox[t], rank ^ 1);
  MAPPED(object_there, &object, rank ^ 1);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
               :
               : "r"(inbox_there), "r"(t), "r"(object_there)
               : "memory");
  WAIT(".acquire.cluster.shared::cta", &object, 0);
  out[blockIdx.x * 32 + t] = inbox[31 - t];
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(store_at_a_neighbour) { store_at_a_neighbour<<<2, 32>>>(zeroed<int>(64)); }
