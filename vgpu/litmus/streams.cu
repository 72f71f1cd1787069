// Streams that nothing orders, and handles that are used after their end.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

namespace {

struct Streams {
  Streams() {
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&event);
    cudaDeviceSynchronize();
  }
  ~Streams() {
    cudaDeviceSynchronize();
    cudaEventDestroy(event);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
  }
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
};

}  // namespace

// Which of the two comes last is a matter of luck.
// expect: data-race global
LITMUS(fills_in_two_streams) {               //~ host write
  int* const cells = zeroed<int>(8);
  const Streams streams;
  cudaMemsetAsync(cells, 1, 5 * sizeof(int), streams.a);
  cudaMemsetAsync(cells + 4, 2, 4 * sizeof(int), streams.b);
}

// expect: clean
LITMUS(fills_of_different_bytes_in_two_streams) {
  int* const cells = zeroed<int>(8);
  const Streams streams;
  cudaMemsetAsync(cells, 1, 4 * sizeof(int), streams.a);
  cudaMemsetAsync(cells + 4, 2, 4 * sizeof(int), streams.b);
}

// expect: clean
LITMUS(fills_ordered_by_an_event) {
  int* const cells = zeroed<int>(8);
  const Streams streams;
  cudaMemsetAsync(cells, 1, 5 * sizeof(int), streams.a);
  cudaEventRecord(streams.event, streams.a);
  cudaStreamWaitEvent(streams.b, streams.event, 0);
  cudaMemsetAsync(cells + 4, 2, 4 * sizeof(int), streams.b);
}

// The event was recorded too early.
// expect: data-race global
LITMUS(event_recorded_before_the_fill) {     //~ host write
  int* const cells = zeroed<int>(8);
  const Streams streams;
  cudaEventRecord(streams.event, streams.a);
  cudaMemsetAsync(cells, 1, 5 * sizeof(int), streams.a);
  cudaStreamWaitEvent(streams.b, streams.event, 0);
  cudaMemsetAsync(cells + 4, 2, 4 * sizeof(int), streams.b);
}

// Blocking streams wait for the legacy stream.
// expect: clean
LITMUS(fills_around_the_legacy_stream) {
  int* const cells = zeroed<int>(4);
  const Streams streams;
  cudaMemsetAsync(cells, 1, 16, streams.a);
  cudaMemset(cells, 2, 16);
  cudaMemsetAsync(cells, 3, 16, streams.b);
}

// Others do not, and cudaMemset does not wait either.
// expect: data-race global
LITMUS(fills_beside_the_legacy_stream) {     //~ host write
  int* const cells = zeroed<int>(4);
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  cudaMemset(cells, 2, 16);
  cudaMemsetAsync(cells, 3, 16, stream);
  cudaDeviceSynchronize();
  cudaStreamDestroy(stream);
}

// expect: use-after-free
LITMUS(uses_a_destroyed_stream) {            //~ host call
  int* const cells = zeroed<int>(4);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamDestroy(stream);
  cudaMemsetAsync(cells, 1, 16, stream);
}

// What was asked for before is still done.
// expect: clean
LITMUS(destroys_a_stream_that_works) {
  int* const cells = zeroed<int>(4);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaMemsetAsync(cells, 1, 16, stream);
  cudaStreamDestroy(stream);
  copy_out(cells, 4);
}

// expect: use-after-free
LITMUS(waits_for_a_destroyed_event) {        //~ host call
  Streams streams;
  cudaEventDestroy(streams.event);
  cudaStreamWaitEvent(streams.a, streams.event, 0);
  cudaEventCreate(&streams.event);
}

// expect: invalid-free
LITMUS(destroys_a_stream_twice) {            //~ host free
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(stream);
}

// expect: clean
LITMUS(destroys_a_stream_once) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamDestroy(stream);
}

// expect: data-race global
LITMUS(frees_in_another_stream) {            //~ host write //~ host free
  const Streams streams;
  void* cells = nullptr;
  cudaMallocAsync(&cells, 16, streams.a);
  cudaMemsetAsync(cells, 0, 16, streams.a);
  cudaFreeAsync(cells, streams.b);
}

// expect: clean
LITMUS(frees_in_the_same_stream) {
  const Streams streams;
  void* cells = nullptr;
  cudaMallocAsync(&cells, 16, streams.a);
  cudaMemsetAsync(cells, 0, 16, streams.a);
  cudaFreeAsync(cells, streams.a);
}

// expect: use-after-free global
LITMUS(fills_after_a_free_in_the_stream) {   //~ host write
  const Streams streams;
  void* cells = nullptr;
  cudaMallocAsync(&cells, 16, streams.a);
  cudaFreeAsync(cells, streams.a);
  cudaMemsetAsync(cells, 0, 16, streams.a);
}

// expect: invalid-free global
LITMUS(frees_twice_in_a_stream) {            //~ host free
  const Streams streams;
  void* cells = nullptr;
  cudaMallocAsync(&cells, 16, streams.a);
  cudaFreeAsync(cells, streams.a);
  cudaFreeAsync(cells, streams.a);
}

static __constant__ int weights[8];

// The first four.
// expect: data-race constant
__global__ void weigh(int* cells) {
  const int i = threadIdx.x;
  cells[i] = weights[0] + weights[i];        //~ read
}

static void copy_to_weights(int first, const Streams& streams, cudaStream_t stream) {
  static const int values[8] = {};
  int* const cells = zeroed<int>(4);
  weigh<<<1, 4, 0, streams.a>>>(cells);
  cudaMemcpyToSymbolAsync(weights, values, 4 * sizeof(int), first * sizeof(int),
                          cudaMemcpyHostToDevice, stream);
}

LITMUS(copies_to_constants_beside_a_kernel) {  //~ host write
  const Streams streams;
  copy_to_weights(3, streams, streams.b);
}

// expect: clean
LITMUS(copies_to_constants_that_nobody_reads) {
  const Streams streams;
  copy_to_weights(4, streams, streams.b);
}

// expect: clean
LITMUS(copies_to_constants_after_the_kernel) {
  const Streams streams;
  copy_to_weights(0, streams, streams.a);
}
