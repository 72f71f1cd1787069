// One thread waits for a bulk copy by an mbarrier.try_wait that is .relaxed.  With __syncthreads() behind it
// the other threads may read: PTX names no fence there, but the toolkit's headers count on it, so it is a
// note.  Without a wait, without the barrier, or with the barrier before the wait it is an error.
// build: -arch=compute_90
// case relaxed: | | relaxed
// expect relaxed: note data-race copy read
// says relaxed: the toolkit's own headers take for an acquire
// case overwritten: | | overwritten
// expect overwritten: note data-race copy write
// case acquired: | | acquired
// expect acquired: clean
// case no_wait: | | no_wait
// expect no_wait: error data-race copy read
// says no_wait: no thread has waited for the phase of the mbarrier
// says no_wait: A barrier of the block does not wait for a copy
// case no_barrier: | | no_barrier
// expect no_barrier: error data-race copy read
// case barrier_before: | | barrier_before
// expect barrier_before: error data-race copy read
// case second_copy: | | second_copy
// expect second_copy: note data-race copy read
// expect second_copy: error data-race second_copy second_read
// case relaxed_unoptimized: -G | | relaxed
// expect relaxed_unoptimized: note data-race copy read
// case no_wait_unoptimized: -G | | no_wait
// expect no_wait_unoptimized: error data-race copy read
#include <cstdint>
#include <cstdio>
#include <cstring>

enum Kind { relaxed, overwritten, acquired, no_wait, no_barrier, barrier_before, second_copy };

__device__ unsigned shared_address(const void* pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}

__device__ void begin_copy(unsigned to, const int* from, unsigned barrier) {
  asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], 256;" ::"r"(barrier) : "memory");
}

#define COPY(to, from, barrier) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to), "l"(from), "r"(barrier) : "memory")
#define WAIT(order, barrier, parity) asm volatile("{ .reg .pred p;\n\tWAITS: mbarrier.try_wait.parity" order ".shared::cta.b64 p, [%0], " parity ";\n\t@!p bra WAITS; }" ::"r"(barrier) : "memory")

__global__ void copies(const int* in, int* out, Kind kind) {
  __shared__ alignas(16) int tile[128];
  __shared__ alignas(8) uint64_t object;
  const unsigned barrier = shared_address(&object), to = shared_address(tile);
  const int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(barrier) : "memory");
    begin_copy(to, in, barrier);
    COPY(to, in, barrier);  //~ copy
  }
  if (kind == barrier_before || kind == no_wait) __syncthreads();
  if (t == 0) {
    if (kind == acquired) WAIT("", barrier, "0");
    else if (kind != no_wait) WAIT(".relaxed.cta", barrier, "0");
  }
  if (kind != no_barrier && kind != barrier_before && kind != no_wait) __syncthreads();
  if (kind == overwritten) {
    tile[t] = t;  //~ write
  } else {
    out[t] = tile[t];  //~ read
  }
  if (kind != second_copy) return;
  if (t == 0) {
    begin_copy(to + 256, in, barrier);
    COPY(to + 256, in, barrier);  //~ second_copy
  }
  __syncthreads();
  out[t] = tile[64 + t];  //~ second_read
}

int main(int, char** arguments) {
  constexpr const char* kNames[] = {"relaxed", "overwritten", "acquired", "no_wait",
                                    "no_barrier", "barrier_before", "second_copy"};
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 256);
  cudaMalloc(&out, 256);
  cudaMemset(in, 0, 256);
  for (int kind = 0; kind < 7; ++kind) {
    if (std::strcmp(arguments[1], kNames[kind]) == 0) copies<<<1, 64>>>(in, out, (Kind)kind);
  }
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
