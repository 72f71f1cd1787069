// Kernels of our own with the structure of defects in public code (docs/use/trophies.md): an order
// is missing.  Each has a clean twin, with the order.
//
// build: -arch=compute_80
// case scales: | | 0 0
// expect scales: error data-race scales_read scales_copy
// case scales_ordered: | | 0 1
// expect scales_ordered: clean
// case copies: | | 1 0
// expect copies: error data-race copies_read copies_copy
// case copies_ordered: | | 1 1
// expect copies_ordered: clean
// case relaxed_wait: | | 2 0
// expect relaxed_wait: error data-race handed_over taken_over
// says relaxed_wait: acquire
// case acquiring_wait: | | 2 1
// expect acquiring_wait: clean
// case compaction: | | 3 0
// expect compaction: error data-race compact_store compact_load
// case compaction_ordered: | | 3 1
// expect compaction_ordered: clean
// case last_block: | | 4 0
// expect last_block: error data-race counted read_counts
// says last_block: acquire
// case last_block_acquires: | | 4 1
// expect last_block_acquires: clean
// case sums: | | 5 0
// expect sums: error data-race sum_store sum_load
// case sums_ordered: | | 5 1
// expect sums_ordered: clean
// case lanes: | | 6 0
// expect lanes: error barrier-divergence match
// case lanes_named: | | 6 1
// expect lanes_named: clean
// case barrier: | | 7 0
// expect barrier: error data-race
// expect barrier: error deadlock
// case barrier_ordered: | | 7 1
// expect barrier_ordered: clean
#include <cuda_pipeline.h>

#include <cuda/barrier>

#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 64, kTiles = 12;

// Marlin: a pipeline of four stages; two tiles share the scales of one group, which lie in the
// stage of its first tile. The fetch of a tile three ahead overwrites scales that slower warps
// still read for the second tile of a group.
__global__ void scaled_tiles(const float* tiles, const float* scales, float* sums, bool ordered) {
  constexpr int kStages = 4, kOfGroup = 2;
  __shared__ float tile[kStages][kThreads], scale[kStages][kThreads];
  const int i = threadIdx.x;
  const auto fetch = [&](int number) {
    const int stage = number % kStages;
    if (number < kTiles) {
      __pipeline_memcpy_async(&tile[stage][i], &tiles[number * kThreads + i], sizeof(float));
      if (stage % kOfGroup == 0) {
        const float* const of_group = &scales[number / kOfGroup * kThreads];
        __pipeline_memcpy_async(&scale[stage][i], &of_group[i], sizeof(float));  //~ scales_copy
      }
    }
    __pipeline_commit();
  };
  const auto wait = [] {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
  };
  for (int number = 0; number < kStages - 1; ++number) fetch(number);
  wait();
  float sum = 0;
  for (int number = 0; number < kTiles; ++number) {
    const int stage = number % kStages, other = i ^ 32;
    sum += tile[stage][other] * scale[stage / kOfGroup * kOfGroup][other];  //~ scales_read
    if (ordered) __syncthreads();
    fetch(number + kStages - 1);
    wait();
  }
  sums[i] = sum;
}

// CUTLASS, a tutorial: each thread waits for its own asynchronous copies, and all use those of the
// others.
__global__ void copied_by_others(const float* from, float* to, bool ordered) {
  __shared__ float values[kThreads];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&values[i], &from[i], sizeof(float));  //~ copies_copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (ordered) __syncthreads();
  to[i] = values[i ^ 32];  //~ copies_read
}

// CUTLASS, its barrier between blocks: the wait is a relaxed exchange, and nothing acquires behind
// it.
__global__ void hand_over(float* values, int* flag, float* to, bool acquires) {
  const int i = threadIdx.x;
  if (blockIdx.x == 0) {
    values[i] = i;  //~ handed_over
    __syncthreads();
    if (i == 0) {
      __threadfence();
      atomicAdd(flag, 1);
    }
  } else {
    if (i == 0) {
      while (atomicCAS(flag, 1, 0) != 1) {
      }
      if (acquires) __threadfence();
    }
    __syncthreads();
    to[i] = values[i];  //~ taken_over
  }
}

// ggml: lanes write a compact list to shared memory, and other lanes of the warp read it.  Shuffles
// in between order no memory.
__global__ void compact(const int* keys, int* list, int* count, bool ordered) {
  __shared__ int store[32];
  const int lane = threadIdx.x;
  const bool is_wanted = keys[lane] == 1;
  int before = is_wanted ? 1 : 0;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int lower = __shfl_up_sync(0xffffffffu, before, distance);
    if (lane >= distance) before += lower;
  }
  if (is_wanted) store[before - 1] = lane;  //~ compact_store
  const int all = __shfl_sync(0xffffffffu, before, 31);
  if (ordered) __syncwarp();
  if (lane < all) list[lane] = store[lane];  //~ compact_load
  if (lane == 0) *count = all;
}

// CUB: the last block to finish reads what the others have stored, after a ticket that does not
// acquire.
__global__ void last_block_sums(int* counts, unsigned* tickets, int* sum, bool acquires) {
  counts[blockIdx.x * blockDim.x + threadIdx.x] = 1;  //~ counted
  __threadfence();
  __syncthreads();
  bool is_last = false;
  if (threadIdx.x == 0) {
    is_last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    if (acquires) __threadfence();
  }
  if (!__syncthreads_or(is_last)) return;
  int own = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x)
    own += counts[i];  //~ read_counts
  atomicAdd(sum, own);
}

// HeCBench, groupnorm: sums of warps lie in shared memory; the next round overwrites them while
// thread 0 adds them up.
__global__ void rounds_of_sums(const float* values, float* sums, int rounds, bool ordered) {
  __shared__ float of_warp[kThreads / 32];
  for (int round = 0; round < rounds; ++round) {
    float sum = values[round * kThreads + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;  //~ sum_store
    __syncthreads();
    if (threadIdx.x == 0) sums[round] = of_warp[0] + of_warp[1];  //~ sum_load
    if (ordered) __syncthreads();
  }
}

// libcu++, a test: all lanes ask whether the values of some lanes match.
__global__ void match(int* all_match, bool named) {
  const unsigned lanes = named ? 0xffffffffu : 0xffu;
  int is_same = 0;
  __match_all_sync(lanes, 1, &is_same);  //~ match
  all_match[threadIdx.x] = is_same;
}

// libcu++, a test: a second barrier is constructed where the first one was, while other threads may
// still wait there.
__global__ void two_barriers(int* to, bool ordered) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) char memory[sizeof(Barrier)];
  auto* const barrier = reinterpret_cast<Barrier*>(memory);
  for (int round = 1; round <= 2; ++round) {
    if (ordered) __syncthreads();
    if (threadIdx.x == 0) new (memory) Barrier(round * blockDim.x);
    __syncthreads();
    barrier->wait(barrier->arrive(round));
  }
  to[threadIdx.x] = 1;
}

int main(int, char** arguments) {
  const int kind = std::atoi(arguments[1]);
  const bool ordered = std::atoi(arguments[2]) == 1;
  float *in, *out;
  int* counters;
  cudaMalloc(&in, 8192);
  cudaMalloc(&out, 8192);
  cudaMalloc(&counters, 64);
  cudaMemset(in, 0, 8192);
  cudaMemset(out, 0, 8192);
  cudaMemset(counters, 0, 64);
  if (kind == 0) scaled_tiles<<<1, kThreads>>>(in, in + kTiles * kThreads, out, ordered);
  if (kind == 1) copied_by_others<<<1, kThreads>>>(in, out, ordered);
  if (kind == 2) hand_over<<<2, kThreads>>>(in, counters, out, ordered);
  if (kind == 3) {
    cudaMemset(in, 0, 128);
    int keys[32];
    for (int i = 0; i < 32; ++i) keys[i] = i % 3;
    cudaMemcpy(in, keys, sizeof keys, cudaMemcpyHostToDevice);
    compact<<<1, 32>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out), counters, ordered);
  }
  if (kind == 4) {
    last_block_sums<<<4, kThreads>>>(reinterpret_cast<int*>(in),
                                     reinterpret_cast<unsigned*>(counters), counters + 1, ordered);
  }
  if (kind == 5) rounds_of_sums<<<1, kThreads>>>(in, out, 4, ordered);
  if (kind == 6) match<<<1, 32>>>(reinterpret_cast<int*>(out), ordered);
  if (kind == 7) two_barriers<<<1, kThreads>>>(reinterpret_cast<int*>(out), ordered);
  int count;
  cudaMemcpy(&count, counters, sizeof count, cudaMemcpyDeviceToHost);
  std::printf("%d\n", count);
  cudaFree(counters);
  cudaFree(out);
  cudaFree(in);
  return 0;
}
