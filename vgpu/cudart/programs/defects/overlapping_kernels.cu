// Kernels that overlap: one waits in the middle for the host, for a copy or for a kernel of another
// stream, or has worked for long, and others run meanwhile.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect own: data-race; no barrier orders (1) and (2)
// defect own_later: data-race; no barrier orders (1) and (2)
// defect before: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect after: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect not_told: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect no_fence: data-race; (1)'s thread wrote a flag that was read before (2), but no release (a fence, or a release order) comes between (1) and that write
// defect at_work: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect later_at_work: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// clang-format on
#include <cstring>

#include "../check.hpp"

constexpr int kCount = 64, kBytes = kCount * sizeof(int), kSlots = 512;

// What the host shares with kernels.
struct Mailbox {
  volatile int go, has_begun;
};

__device__ void await(volatile const int* go, bool fences) {
  if (threadIdx.x == 0) {
    while (*go == 0) {
    }
    if (fences) __threadfence();
  }
  __syncthreads();
}

// Writes `mine`, waits, and then adds `theirs`.  A kernel without fences is checked otherwise.
template <bool kFences>
__global__ void serve(Mailbox* host, volatile const int* go, int* mine, int* theirs, int* sums,
                      bool forgets_barrier) {
  __shared__ int values[kCount];
  const int i = threadIdx.x;
  mine[i] = i;  //~ before
  __syncthreads();
  if (i == 0) {
    __threadfence_system();
    host->has_begun = 1;
  }
  await(go, kFences);
  values[i] = theirs[i];  //~ after not_told no_fence own_later
  if (!forgets_barrier) __syncthreads();
  sums[i] = values[kCount - 1 - i];  //~ own_later
}

__global__ void reverse(const int* in, int* out, bool forgets_barrier) {
  __shared__ int values[kCount];
  const int i = threadIdx.x;
  values[i] = in[i];  //~ before own
  if (!forgets_barrier) __syncthreads();
  out[i] = values[kCount - 1 - i];  //~ after not_told own
}

// Writes `out`, and then tells another kernel.
__global__ void hand_over(int* out, volatile int* flag, bool forgets_fence) {
  out[threadIdx.x] = 3;  //~ no_fence
  if (!forgets_fence) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

// A hash table, and a lock for its size.  The kernel needs nobody else.
__global__ void insert(int* keys, int* lock, volatile int* size, int* log, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int key = (threadIdx.x * 37 + round * 11) % kSlots + 1;
    int at = key * 7 % kSlots;
    for (int before; (before = atomicCAS(&keys[at], 0, key)) != 0 && before != key;) {
      at = (at + 1) % kSlots;
    }
    if (threadIdx.x % 32 == 0) {
      while (atomicCAS(lock, 0, 1) != 0) {
      }
      __threadfence();
      *size = *size + 1;
      __threadfence();
      atomicExch(lock, 0);
    }
    log[threadIdx.x] = round;  //~ at_work later_at_work
  }
}

__global__ void look(const int* log, int* out) {
  out[threadIdx.x] = log[threadIdx.x];  //~ at_work
}
__global__ void clear(int* log) { log[threadIdx.x] = 0; }  //~ later_at_work

struct Streams {
  cudaStream_t first, second, third;
  Streams() {
    for (cudaStream_t* each : {&first, &second, &third}) {
      require(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking));
    }
  }
  ~Streams() {
    for (cudaStream_t each : {first, second, third}) require(cudaStreamDestroy(each));
  }
};

bool is_defect(const char* wanted, const char* name) { return std::strcmp(wanted, name) == 0; }

// The host tells the kernel to go on when another kernel has run.
template <bool kFences>
bool is_told_by_host(const char* defect, Streams& streams, Mailbox* host, int* words) {
  int *mine = words, *theirs = words + kCount, *sums = words + 2 * kCount,
      *out = words + 3 * kCount;
  host->go = host->has_begun = 0;
  serve<kFences><<<1, kCount, 0, streams.first>>>(host, &host->go, mine, theirs, sums,
                                                  is_defect(defect, "own_later"));
  if (is_defect(defect, "before")) {
    reverse<<<1, kCount, 0, streams.second>>>(mine, theirs, false);
  } else {
    while (host->has_begun == 0) static_cast<void>(cudaStreamQuery(streams.first));
    reverse<<<1, kCount, 0, streams.second>>>(mine, theirs, is_defect(defect, "own"));
  }
  const bool waits = !is_defect(defect, "after");
  require(cudaStreamSynchronize(waits ? streams.second : streams.third));
  if (!waits) {  // the other kernel has run, but the host does not know that
    reverse<<<1, kCount, 0, streams.third>>>(out, out + kCount, false);
    require(cudaStreamSynchronize(streams.third));
  }
  host->go = 1;
  require(cudaStreamSynchronize(streams.first));
  int values[kCount];
  require(cudaMemcpy(values, sums, kBytes, cudaMemcpyDeviceToHost));
  return values[0] == 0 && values[1] == 1;
}

// A copy tells the kernel to go on, in the stream of the other kernel or not.
bool is_told_by_copy(const char* defect, Streams& streams, Mailbox* host, int* words) {
  int *mine = words, *theirs = words + kCount, *sums = words + 2 * kCount, *in = words + 3 * kCount;
  int* const go = words + 5 * kCount;
  const int one = 1;
  host->has_begun = 0;
  serve<true><<<1, kCount, 0, streams.first>>>(host, go, mine, theirs, sums, false);
  reverse<<<1, kCount, 0, streams.second>>>(in, theirs, false);
  const cudaStream_t teller = is_defect(defect, "not_told") ? streams.third : streams.second;
  require(cudaMemcpyAsync(go, &one, sizeof one, cudaMemcpyHostToDevice, teller));
  require(cudaStreamSynchronize(streams.first));
  return true;
}

// A kernel tells the kernel to go on.
bool is_told_by_kernel(const char* defect, Streams& streams, Mailbox* host, int* words) {
  int *mine = words, *theirs = words + kCount, *sums = words + 2 * kCount;
  int* const go = words + 6 * kCount;
  host->has_begun = 0;
  serve<true><<<1, kCount, 0, streams.first>>>(host, go, mine, theirs, sums, false);
  hand_over<<<1, kCount, 0, streams.second>>>(theirs, go, is_defect(defect, "no_fence"));
  require(cudaStreamSynchronize(streams.first));
  int values[kCount];
  require(cudaMemcpy(values, sums, kBytes, cudaMemcpyDeviceToHost));
  return values[0] == 3;
}

// Works for long, beside another kernel.
bool works(const char* defect, Streams& streams, int* words) {
  constexpr int kRounds = 3000;
  int *keys, *lock = words + 7 * kCount, *log = words, *out = words + kCount;
  require(cudaMalloc(&keys, kSlots * sizeof(int)));
  require(cudaMemset(keys, 0, kSlots * sizeof(int)));
  require(cudaDeviceSynchronize());
  insert<<<1, kCount, 0, streams.first>>>(keys, lock, lock + 1, log, kRounds);
  if (is_defect(defect, "later_at_work")) {
    clear<<<1, kCount, 0, streams.second>>>(log);
  } else {
    int* const in = is_defect(defect, "at_work") ? log : words + 2 * kCount;
    look<<<1, kCount, 0, streams.second>>>(in, out);
  }
  require(cudaStreamSynchronize(streams.first));
  require(cudaDeviceSynchronize());
  int size;
  require(cudaMemcpy(&size, lock + 1, sizeof size, cudaMemcpyDeviceToHost));
  require(cudaFree(keys));
  return size == kRounds * kCount / 32;
}

int main(int count, char** arguments) {
  const char* const defect = count > 1 ? arguments[1] : "";
  Mailbox* host;
  int* words;
  require(cudaHostAlloc(&host, sizeof *host, cudaHostAllocMapped));
  require(cudaMalloc(&words, 8 * kBytes));
  require(cudaMemset(words, 0, 8 * kBytes));
  // A GPU loads a kernel at its first use, and may wait for kernels that run.
  cudaFuncAttributes loaded;
  for (const auto kernel :
       {reinterpret_cast<const void*>(&reverse), reinterpret_cast<const void*>(&hand_over)}) {
    require(cudaFuncGetAttributes(&loaded, kernel));
  }
  require(cudaDeviceSynchronize());
  bool is_right = true;
  {
    Streams streams;
    is_right &= is_told_by_host<false>(defect, streams, host, words);
    is_right &= is_told_by_host<true>(defect, streams, host, words);
    is_right &= is_told_by_copy(defect, streams, host, words);
    is_right &= is_told_by_kernel(defect, streams, host, words);
    is_right &= works(defect, streams, words);
  }
  require(cudaFree(words));
  require(cudaFreeHost(host));
  return verdict(is_right);
}
