// Data that is handed on by a flag, or by a copy that nobody waits for: the message names the flag or
// the phase, and the hint what it needs.
// build: -arch=compute_90 -std=c++17
// case blocks: | --device sm_90 | blocks
// expect blocks: error data-race data use
// says blocks: a flag is written behind (1) and read before (2) by volatile or relaxed accesses, which order nothing else
// says blocks: put __threadfence() between the write of the data and the write of the flag
// case streams: | --device sm_90 | streams
// expect streams: error data-race data use
// says streams: a flag is written behind (1) and read before (2) by volatile or relaxed accesses, which order nothing else
// case fenced: | --device sm_90 | fenced
// expect fenced: clean
// case no_flag: | --device sm_90 | no-flag
// expect no_flag: error data-race data use
// says no_flag: nothing orders these two kernel launches
// case bulk: | --device sm_90 | bulk
// expect bulk: error data-race copy early
// says bulk: no thread waits for the phase of the mbarrier that counts the copy before (1)
// says bulk: Every thread that uses the bytes waits for the phase first
// case seqlock: | --device sm_90 | seqlock
// expect seqlock: error data-race peek publish
// says seqlock: nothing orders blocks of one kernel launch
// case wrong_phase: | --device sm_90 | wrong-phase
// expect wrong_phase: error data-race copy early
// says wrong_phase: Every thread that uses the bytes waits first for the phase
// case warps: | --device sm_90 | warps
// expect warps: error data-race part total
// says warps: no release (a fence, or a release order) comes between (1) and that write
// case early_fence: | --device sm_90 | early-fence
// expect early_fence: error data-race part total
// says early_fence: a flag is written behind (1) and read before (2) by volatile or relaxed accesses, which order nothing else
// says early_fence: __threadfence_block() between the write of the data and that of the flag
// case fenced_warps: | --device sm_90 | fenced-warps
// expect fenced_warps: clean
// case updates: | --device sm_90 | updates
// expect updates: error data-race part counted
// says updates: no barrier orders (1) and (2)
// case waited: | --device sm_90 | waited
// expect waited: clean
#include <cuda/barrier>
#include <cuda/ptx>
#include <string>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

struct Memory {
  int data, flag, out;
};

__device__ void produce(Memory* m, bool fences, bool sets) {
  m->data = 7;  //~ data
  if (fences) __threadfence();
  if (sets) *(volatile int*)&m->flag = 1;
}

__device__ void consume(Memory* m, bool fences, bool waits) {
  while (waits && *(volatile int*)&m->flag == 0) {
  }
  if (fences) __threadfence();
  m->out = m->data;  //~ use
}

__global__ void both(Memory* m) { blockIdx.x == 0 ? produce(m, false, true) : consume(m, false, true); }
__global__ void both_fenced(Memory* m) {
  blockIdx.x == 0 ? produce(m, true, true) : consume(m, true, true);
}
__global__ void producer(Memory* m) { produce(m, false, true); }
__global__ void consumer(Memory* m) { consume(m, false, true); }
__global__ void writer(Memory* m) { produce(m, false, false); }
__global__ void reader(Memory* m) { consume(m, false, false); }

// The flag is a version, around the data on both sides: what is missing is not a fence, but that the
// data are atomic.
__device__ void publish(Memory* m) {
  *(volatile int*)&m->flag = 1;
  __threadfence();
  m->data = 7;  //~ publish
  __threadfence();
  *(volatile int*)&m->flag = 2;
}

__device__ void peek(Memory* m) {
  int version, value;
  do {
    version = *(volatile int*)&m->flag;
    __threadfence();
    value = m->data;  //~ peek
    __threadfence();
  } while (version % 2 != 0 || *(volatile int*)&m->flag != version);
  m->out = value;
}

__global__ void versioned(Memory* m) { blockIdx.x == 0 ? peek(m) : publish(m); }

// A latch in shared memory: the last warp waits for the others, whose parts it reads.  A lane's
// fence before __syncwarp() is none of the lane that counts.
enum class Fence { none, early, right };

template <Fence fence>
__global__ void latch(int* out) {
  __shared__ int parts[96], count;
  const unsigned t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  if (t < 96) {
    parts[t] = t;  //~ part
    if (fence == Fence::early) __threadfence_block();
    __syncwarp();
    if (fence == Fence::right) __threadfence_block();
    if (t % 32 == 0) atomicAdd(&count, 1);
  } else {
    while (atomicAdd(&count, 0) < 3) {
    }
    if (fence != Fence::none) __threadfence_block();
    out[t - 96] = parts[t - 96] + parts[t - 64] + parts[t - 32];  //~ total
  }
}

// Loops that count poll nothing.
__global__ void counts(int* out) {
  __shared__ int parts[64], bins[4];
  const unsigned t = threadIdx.x;
  if (t < 4) bins[t] = 0;
  __syncthreads();
  parts[t] = t;  //~ part
  for (unsigned i = t; i < 256; i += 64) atomicAdd(&bins[i % 4], 1);
  out[t] = parts[63 - t];  //~ counted
}

enum class Wait { none, token, wrong_phase };

template <Wait wait>
__global__ void copies(const int* in, int* out) {
  __shared__ alignas(128) int share[64];
  __shared__ Barrier arrived;
  if (threadIdx.x == 0) init(&arrived, blockDim.x);
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, share, in,  //~ copy
                             sizeof share, cuda::device::barrier_native_handle(arrived));
    token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof share);
  } else {
    token = arrived.arrive();
  }
  if (wait == Wait::token || (wait == Wait::wrong_phase && threadIdx.x < 32)) {
    arrived.wait(std::move(token));
  } else if (wait == Wait::wrong_phase) {
    while (!cuda::ptx::mbarrier_try_wait_parity(cuda::device::barrier_native_handle(arrived), 1)) {
    }
  }
  out[threadIdx.x] = share[threadIdx.x];  //~ early
  if (wait == Wait::none) arrived.wait(std::move(token));
}

void in_streams(void (*first)(Memory*), void (*second)(Memory*), Memory* m) {
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  first<<<1, 1, 0, one>>>(m);
  second<<<1, 1, 0, other>>>(m);
  cudaDeviceSynchronize();
  cudaStreamDestroy(one);
  cudaStreamDestroy(other);
}

int main(int, char** argv) {
  const std::string mode = argv[1];
  Memory* m;
  int *in, *out;
  cudaMalloc(&m, sizeof *m);
  cudaMalloc(&in, 256);
  cudaMalloc(&out, 256);
  cudaMemset(m, 0, sizeof *m);
  cudaMemset(in, 0, 256);
  cudaDeviceSynchronize();
  if (mode == "blocks") both<<<2, 1>>>(m);
  if (mode == "fenced") both_fenced<<<2, 1>>>(m);
  if (mode == "streams") in_streams(producer, consumer, m);
  if (mode == "no-flag") in_streams(writer, reader, m);
  if (mode == "seqlock") versioned<<<2, 1>>>(m);
  if (mode == "warps") latch<Fence::none><<<1, 128>>>(out);
  if (mode == "early-fence") latch<Fence::early><<<1, 128>>>(out);
  if (mode == "fenced-warps") latch<Fence::right><<<1, 128>>>(out);
  if (mode == "updates") counts<<<1, 64>>>(out);
  if (mode == "bulk") copies<Wait::none><<<1, 64>>>(in, out);
  if (mode == "wrong-phase") copies<Wait::wrong_phase><<<1, 64>>>(in, out);
  if (mode == "waited") copies<Wait::token><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(m);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
