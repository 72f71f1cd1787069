// Exactly one defect in each kernel; `//@` marks the lines of the first finding that a report
// should show, which is the cause of all others.
#include "kernels/specimens/planted/one_defect.hpp"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdint>

namespace {

constexpr int kThreads = 64, kBins = 16;

__device__ int thread() { return static_cast<int>(threadIdx.x); }
__device__ int place() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// --- warps of a block -------------------------------------------------------------------------

__global__ void reverse(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];           //@
  out[t] = share[n - 1 - t];  //@
}

__global__ void neighbours(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];                        //@
  out[t] = share[t] + share[(t + 1) % n];  //@
}

__global__ void loop_without_last_barrier(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    share[t] = in[t] + round;  //@
    __syncthreads();
    sum += share[(t + 1) % n];  //@
  }
  out[t] = sum;
}

__global__ void loop_without_barriers(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    share[t] = in[t] + round;   //@
    sum += share[(t + 1) % n];  //@
  }
  out[t] = sum;
}

__global__ void scan_without_barrier_between(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];
#pragma unroll 1
  for (int distance = 1; distance < n; distance *= 2) {
    __syncthreads();
    const int before = t >= distance ? share[t - distance] : 0;  //@
    share[t] += before;                                          //@
  }
  out[t] = share[t];
}

// The compiler copies the loop for each distance.
__global__ void scan_in_two_buffers(const int* in, int* out, int) {
  __shared__ int buffers[2][kThreads];
  const int t = thread();
  int from = 0;
  buffers[from][t] = in[t];  //@
  for (int distance = 1; distance < kThreads; distance *= 2) {
    const int value = buffers[from][t];
    const int other = t >= distance ? buffers[from][t - distance] : 0;  //@
    from = 1 - from;
    buffers[from][t] = value + other;  //@
  }
  out[t] = buffers[from][t];
}

__global__ void scan_in_one_statement(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];
#pragma unroll 1
  for (int distance = 1; distance < n; distance *= 2) {
    __syncthreads();
    if (t >= distance) share[t] += share[t - distance];  //@
  }
  out[t] = share[t];
}

__global__ void tree_without_barrier(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];
  __syncthreads();
#pragma unroll 1
  for (int half = n / 2; half > 0; half /= 2) {
    if (t < half) share[t] += share[t + half];  //@
  }
  if (t == 0) out[0] = share[0];
}

__global__ void broadcast(const int* in, int* out, int) {
  __shared__ int first;
  if (thread() == 0) first = in[0];  //@
  asm volatile("" ::: "memory");     // else the compiler hands the value on in a register
  out[thread()] = first;             //@
}

__global__ void counter_reset(const int* in, int* out, int) {
  __shared__ int count;
  const int t = thread();
  if (t == 0) count = 0;                     //@
  if (in[t] % 2 == 1) atomicAdd(&count, 1);  //@
  __syncthreads();
  if (t == 0) out[0] = count;
}

__global__ void buffer_used_again(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];
  __syncthreads();
  const int other = share[n - 1 - t];  //@
  share[t] = 2 * other;                //@
  __syncthreads();
  out[t] = share[t];
}

__global__ void tile(const int* in, int* out, int) {
  __shared__ int share[8][9];
  const int x = thread() % 8, y = thread() / 8;
  share[y][x] = in[8 * y + x];   //@
  out[8 * y + x] = share[x][y];  //@
}

// --- lanes of a warp ----------------------------------------------------------------------------

__global__ void lanes_swapped(const int* in, int* out, int) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];       //@
  out[t] = share[t ^ 1];  //@
}

__global__ void lanes_with_narrow_mask(const int* in, int* out, int) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];  //@
  __syncwarp(t % 2 == 0 ? 0x55555555 : 0xaaaaaaaa);
  out[t] = share[t ^ 1];  //@
}

__global__ void lanes_reversed(const int* in, int* out, int) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];        //@
  out[t] = share[t ^ 31];  //@
}

__global__ void lanes_in_a_loop(const int* in, int* out, int) {
  __shared__ int share[kThreads];
  const int t = thread();
  share[t] = in[t];
  __syncwarp();
#pragma unroll 1
  for (int half = 1; half < 32; half *= 2) {
    const int other = share[t ^ half];  //@
    __syncwarp();
    share[t] += other;  //@
  }
  out[t] = share[t];
}

// --- blocks
// ---------------------------------------------------------------------------------------

__global__ void sum_of_blocks(const int* in, int* out, int) { *out += in[place()]; }  //@
__global__ void maximum_of_blocks(const int* in, int* out, int) {
  *out = max(*out, in[place()]);  //@
}
__global__ void bits_of_blocks(const int* in, int* out, int) {
  *out |= 1 << in[place()];  //@
}

__global__ void histogram_of_block(const int* in, int* out, int) {
  __shared__ int bins[kBins];
  if (thread() < kBins) bins[thread()] = 0;
  __syncthreads();
  bins[in[thread()]] += 1;  //@
  __syncthreads();
  if (thread() < kBins) out[thread()] = bins[thread()];
}

__global__ void histogram_of_grid(const int* in, int* out, int) { out[in[place()]] += 1; }  //@

struct Partial {
  int sum[8];
  unsigned count;
};
__device__ Partial partial;

template <int fences>  // 1: release, 2: acquire, 4: of the block alone
__device__ void sum_by_last_block(const int* in, int* out) {
  if (thread() != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += in[blockIdx.x * blockDim.x + i];
  partial.sum[blockIdx.x] = sum;  //@
  if ((fences & 1) != 0) __threadfence();
  if ((fences & 4) != 0) __threadfence_block();
  if (atomicAdd(&partial.count, 1U) + 1 != gridDim.x) return;
  if ((fences & 2) != 0) __threadfence();
  int total = 0;
#pragma unroll 1
  for (unsigned i = 0; i < gridDim.x; ++i) total += partial.sum[i];  //@
  *out = total;
}

__global__ void last_block_without_release(const int* in, int* out, int) {
  sum_by_last_block<2>(in, out);
}
__global__ void last_block_without_acquire(const int* in, int* out, int) {
  sum_by_last_block<1>(in, out);
}
__global__ void last_block_narrow_fence(const int* in, int* out, int) {
  sum_by_last_block<6>(in, out);
}

struct Message {
  int data[kThreads];
  int flag;
};
__device__ Message message;

template <int fences>
__device__ void hand_over(const int* in, int* out, int n) {
  if (thread() != 0) return;
  volatile int* const flag = &message.flag;
  if (blockIdx.x == 0) {
#pragma unroll 1
    for (int i = 0; i < n; ++i) message.data[i] = in[i];  //@
    if ((fences & 1) != 0) __threadfence();
    *flag = 1;
    return;
  }
  while (*flag == 0) {
  }
  if ((fences & 2) != 0) __threadfence();
#pragma unroll 1
  for (int i = 0; i < n; ++i) out[i] = 2 * message.data[i];  //@
}

__global__ void flag_without_release(const int* in, int* out, int n) { hand_over<2>(in, out, n); }
__global__ void flag_without_acquire(const int* in, int* out, int n) { hand_over<1>(in, out, n); }

__global__ void counter_of_block_scope(const int*, int* out, int) {
  atomicAdd_block(out, 1);  //@
}

__global__ void release_of_block_scope(const int* in, int* out, int n) {
  if (thread() != 0) return;
  if (blockIdx.x == 0) {
#pragma unroll 1
    for (int i = 0; i < n; ++i) message.data[i] = in[i];                                 //@
    asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(&message.flag) : "memory");  //@
    return;
  }
  int is_set = 0;
  while (is_set == 0) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(is_set)
                 : "l"(&message.flag)  //@
                 : "memory");          //@
  }
#pragma unroll 1
  for (int i = 0; i < n; ++i) out[i] = 2 * message.data[i];  //@
}

__device__ int lock;

__global__ void lock_without_fences(const int* in, int* out, int) {
  if (thread() != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += in[blockIdx.x * blockDim.x + i];
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  *out += sum;  //@
  atomicExch(&lock, 0);
}

// --- bounds -----------------------------------------------------------------------------------

__global__ void no_guard(const int* in, int* out, int) { out[place()] = 2 * in[place()]; }  //@

__global__ void guard_off_by_one(const int* in, int* out, int n) {
  if (place() <= n) out[place()] = 2 * in[place()];  //@
}

__global__ void loop_off_by_one(const int* in, int* out, int n) {
#pragma unroll 1
  for (int i = thread(); i <= n; i += kThreads) out[i] = 2 * in[i];  //@
}

__global__ void neighbour_beyond(const int* in, int* out, int n) {
  const int t = thread();
  if (t < n) out[t] = in[t] + in[t + 1];  //@
}

__global__ void shared_too_small(const int* in, int* out, int n) {
  __shared__ int share[kThreads - 1];
  if (thread() >= n) return;
  volatile int* const mine = &share[thread()];
  *mine = in[thread()];   //@
  out[thread()] = *mine;  //@
}

// --- first values -------------------------------------------------------------------------------

__global__ void counter_not_set(const int* in, int* out, int) {
  __shared__ int count;
  if (in[thread()] % 2 == 1) atomicAdd(&count, 1);  //@
  __syncthreads();
  if (thread() == 0) out[0] = count;  //@
}

__global__ void bins_not_set(const int* in, int* out, int) {
  __shared__ int bins[kBins];
  atomicAdd(&bins[in[thread()]], 1);  //@
  __syncthreads();
  if (thread() < kBins) out[thread()] = bins[thread()];  //@
}

// --- barriers, copies, clusters, grids
// ------------------------------------------------------------

__global__ void barrier_in_branch(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  const int t = thread();
  if (t < n / 2) {
    share[t] = in[t];
    share[n - 1 - t] = in[n - 1 - t];
    __syncthreads();  //@
  }
  out[t] = share[n - 1 - t];  //@
}

__global__ void copy_not_waited_for(const int* in, int* out, int) {
  __shared__ int share[kThreads];
  __pipeline_memcpy_async(&share[thread()], &in[thread()], sizeof(int));  //@
  __pipeline_commit();
  out[thread()] = 2 * share[thread()];  //@
}

__global__ void copy_not_handed_over(const int* in, int* out, int n) {
  __shared__ int share[kThreads];
  __pipeline_memcpy_async(&share[thread()], &in[thread()], sizeof(int));  //@
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[thread()] = share[n - 1 - thread()];  //@
}

__device__ std::uint32_t address_of(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

__global__ void phase_not_waited_for(const int* in, int* out, int) {
  __shared__ alignas(16) int share[kThreads];
  __shared__ alignas(8) std::uint64_t arrived;
  if (thread() == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&arrived)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (thread() == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(&arrived)),
                 "n"(sizeof(share))
                 : "memory");
    asm volatile(  //@
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(address_of(share)),
        "l"(in), "n"(sizeof(share)), "r"(address_of(&arrived))  //@
        : "memory");
  }
  out[thread()] = 2 * share[thread()];  //@
}

__global__ void no_proxy_fence(const int* in, int* out, int) {
  __shared__ alignas(16) int share[kThreads];
  share[thread()] = in[thread()];  //@
  __syncthreads();
  if (thread() == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),  //@
                 "r"(address_of(share)), "n"(sizeof(share))                                 //@
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

__global__ void __cluster_dims__(2, 1, 1) cluster_not_synchronised(const int* in, int* out, int) {
  __shared__ int share[kThreads];
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  share[thread()] = in[place()];                                            //@
  out[place()] = cluster.map_shared_rank(share, 1 - blockIdx.x)[thread()];  //@
  cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) cluster_left_early(const int* in, int* out, int) {
  __shared__ int share[kThreads];
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  share[thread()] = in[place()];
  cluster.sync();
  out[place()] = cluster.map_shared_rank(share, 1 - blockIdx.x)[thread()];  //@
}

__global__ void plain_copy(const int* in, int* out, int n) {
  if (place() < n) out[place()] = in[place()];  //@
}
__global__ void plain_sum(const int* in, int* sum, int n) {
  if (place() < n) atomicAdd(sum, in[place()]);  //@
}
__global__ void plain_double(const int* in, int* out, int n) {
  if (place() < n) out[place()] = 2 * in[place()];  //@
}

__global__ void reversed_in_dynamic(const int* in, int* out, int n) {
  extern __shared__ int dynamic[];
  dynamic[thread()] = in[thread()];  //@
  __syncthreads();
  out[thread()] = dynamic[n - 1 - thread()];  //@
}

// --- launches -----------------------------------------------------------------------------------

using Kernel = void (*)(const int*, int*, int);

template <Kernel kernel>
cudaError_t in_one_block(const int* in, int* out, int n) {
  kernel<<<1, kThreads>>>(in, out, n);
  return cudaGetLastError();
}

template <Kernel kernel>
cudaError_t in_blocks(const int* in, int* out, int n) {
  kernel<<<n / 32, 32>>>(in, out, n);
  return cudaGetLastError();
}

// More threads than elements.
template <Kernel kernel>
cudaError_t beyond(const int* in, int* out, int n) {
  kernel<<<2, kThreads>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t launch_two_streams(const int* in, int* out, int n) {
  cudaStream_t one{}, two{};
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  int* middle = nullptr;
  cudaMalloc(&middle, n * sizeof(int));
  cudaMemset(middle, 0, n * sizeof(int));
  plain_copy<<<1, kThreads, 0, one>>>(in, middle, n);
  plain_double<<<1, kThreads, 0, two>>>(middle, out, n);
  cudaDeviceSynchronize();
  cudaFree(middle);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return cudaGetLastError();
}

cudaError_t launch_copy_in_another_stream(const int* in, int* out, int n) {
  cudaStream_t one{}, two{};
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  int* middle = nullptr;
  cudaMalloc(&middle, n * sizeof(int));
  cudaMemset(middle, 0, n * sizeof(int));
  plain_double<<<1, kThreads, 0, one>>>(in, middle, n);
  cudaMemcpyAsync(out, middle, n * sizeof(int), cudaMemcpyDeviceToDevice, two);
  cudaDeviceSynchronize();
  cudaFree(middle);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return cudaGetLastError();
}

cudaError_t launch_fill_in_another_stream(const int* in, int* out, int n) {
  cudaStream_t one{}, two{};
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMemsetAsync(out, 0, n * sizeof(int), one);
  plain_double<<<1, kThreads, 0, two>>>(in, out, n);
  cudaDeviceSynchronize();
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return cudaGetLastError();
}

cudaError_t launch_nodes_without_edge(const int* in, int* out, int n) {
  int* middle = nullptr;
  cudaMalloc(&middle, n * sizeof(int));
  cudaMemset(middle, 0, n * sizeof(int));
  cudaGraph_t graph{};
  cudaGraphCreate(&graph, 0);
  void* first[] = {&in, &middle, &n};
  void* second[] = {&middle, &out, &n};
  cudaKernelNodeParams node{};
  node.gridDim = dim3(1);
  node.blockDim = dim3(kThreads);
  cudaGraphNode_t handle{};
  node.func = reinterpret_cast<void*>(plain_copy);
  node.kernelParams = first;
  cudaGraphAddKernelNode(&handle, graph, nullptr, 0, &node);
  node.func = reinterpret_cast<void*>(plain_double);
  node.kernelParams = second;
  cudaGraphAddKernelNode(&handle, graph, nullptr, 0, &node);
  cudaGraphExec_t runnable{};
  cudaGraphInstantiate(&runnable, graph, 0);
  cudaGraphLaunch(runnable, nullptr);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(runnable);
  cudaGraphDestroy(graph);
  cudaFree(middle);
  return cudaGetLastError();
}

cudaError_t launch_dynamic_too_small(const int* in, int* out, int n) {
  reversed_in_dynamic<<<1, kThreads, kThreads>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t launch_sum_not_set(const int* in, int* out, int n) {
  int* sum = nullptr;
  cudaMalloc(&sum, sizeof(int));
  plain_sum<<<1, kThreads>>>(in, sum, n);
  plain_copy<<<1, 1>>>(sum, out, 1);
  cudaFree(sum);
  return cudaGetLastError();
}

cudaError_t launch_freed_too_early(const int* in, int* out, int n) {
  int* middle = nullptr;
  cudaMalloc(&middle, n * sizeof(int));
  plain_copy<<<1, kThreads>>>(in, middle, n);
  cudaFree(middle);
  plain_double<<<1, kThreads>>>(middle, out, n);
  return cudaGetLastError();
}

cudaError_t launch_left_allocated(const int* in, int* out, int n) {
  int* middle = nullptr;
  cudaMalloc(&middle, n * sizeof(int));
  plain_copy<<<1, kThreads>>>(in, middle, n);
  plain_double<<<1, kThreads>>>(middle, out, n);
  return cudaGetLastError();
}

using Launch = cudaError_t (*)(const int*, int*, int);

struct Named {
  const char* name;
  Launch launch;
};

#define IN_ONE_BLOCK(name) \
  { #name, in_one_block < name> }
#define IN_BLOCKS(name) \
  { #name, in_blocks < name> }
#define BEYOND(name) \
  { #name, beyond < name> }

constexpr Named kLaunches[] = {IN_ONE_BLOCK(reverse),
                               IN_ONE_BLOCK(neighbours),
                               IN_ONE_BLOCK(loop_without_last_barrier),
                               IN_ONE_BLOCK(loop_without_barriers),
                               IN_ONE_BLOCK(scan_without_barrier_between),
                               IN_ONE_BLOCK(scan_in_two_buffers),
                               IN_ONE_BLOCK(scan_in_one_statement),
                               IN_ONE_BLOCK(tree_without_barrier),
                               IN_ONE_BLOCK(broadcast),
                               IN_ONE_BLOCK(counter_reset),
                               IN_ONE_BLOCK(buffer_used_again),
                               IN_ONE_BLOCK(tile),
                               IN_ONE_BLOCK(lanes_swapped),
                               IN_ONE_BLOCK(lanes_with_narrow_mask),
                               IN_ONE_BLOCK(lanes_reversed),
                               IN_ONE_BLOCK(lanes_in_a_loop),
                               IN_BLOCKS(sum_of_blocks),
                               IN_BLOCKS(maximum_of_blocks),
                               IN_BLOCKS(bits_of_blocks),
                               IN_ONE_BLOCK(histogram_of_block),
                               IN_BLOCKS(histogram_of_grid),
                               IN_BLOCKS(last_block_without_release),
                               IN_BLOCKS(last_block_without_acquire),
                               IN_BLOCKS(last_block_narrow_fence),
                               IN_BLOCKS(flag_without_release),
                               IN_BLOCKS(flag_without_acquire),
                               IN_BLOCKS(counter_of_block_scope),
                               IN_BLOCKS(release_of_block_scope),
                               IN_BLOCKS(lock_without_fences),
                               BEYOND(no_guard),
                               BEYOND(guard_off_by_one),
                               IN_ONE_BLOCK(loop_off_by_one),
                               IN_ONE_BLOCK(neighbour_beyond),
                               IN_ONE_BLOCK(shared_too_small),
                               IN_ONE_BLOCK(counter_not_set),
                               IN_ONE_BLOCK(bins_not_set),
                               IN_ONE_BLOCK(barrier_in_branch),
                               IN_ONE_BLOCK(copy_not_waited_for),
                               IN_ONE_BLOCK(copy_not_handed_over),
                               IN_ONE_BLOCK(phase_not_waited_for),
                               IN_ONE_BLOCK(no_proxy_fence),
                               IN_BLOCKS(cluster_not_synchronised),
                               IN_BLOCKS(cluster_left_early),
                               {"two_streams", launch_two_streams},
                               {"copy_in_another_stream", launch_copy_in_another_stream},
                               {"fill_in_another_stream", launch_fill_in_another_stream},
                               {"nodes_without_edge", launch_nodes_without_edge},
                               {"dynamic_too_small", launch_dynamic_too_small},
                               {"sum_not_set", launch_sum_not_set},
                               {"freed_too_early", launch_freed_too_early},
                               {"left_allocated", launch_left_allocated}};
static_assert(sizeof(kLaunches) / sizeof(kLaunches[0]) ==
              sizeof(kOneDefectNames) / sizeof(kOneDefectNames[0]));

}  // namespace

cudaError_t one_defect(std::size_t which, const int* in, int* out, int n) {
  return kLaunches[which].launch(in, out, n);
}
