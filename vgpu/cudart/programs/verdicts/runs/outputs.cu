// Several runs are compared by the data and the text that reach the host.
// case last_writer: | --runs 8 | last-writer
// expect last_writer: error schedule-dependent
// expect last_writer: note data-race stored
// says last_writer: schedule-dependent at byte 0 of copy 1 to the host, by cudaMemcpy of 4 bytes
// says last_writer: 0x000003e8 (1000), under the default schedule 0x000003e9 (1001); line 1 of standard output: "the last is 1000", under the default schedule "the last is 1001"
// prints last_writer: the last is 1001
// prints last_writer: the last is 1000
// case the_run_that_differs: | --strategy random --seed 1 | last-writer
// expect the_run_that_differs: note data-race stored
// prints the_run_that_differs: the last is 1000
// case a_single_run: | | last-writer
// expect a_single_run: note data-race stored
// prints a_single_run: the last is 1001
// case outputs_unchecked: | --runs 8 --check race,bounds | last-writer
// expect outputs_unchecked: note data-race stored
// case outputs_alone: | --runs 8 --check output | last-writer
// expect outputs_alone: error schedule-dependent
// case against_the_first: | --runs 8 --strategy random | last-writer
// expect against_the_first: error schedule-dependent
// expect against_the_first: note data-race stored
// says against_the_first: , under --strategy random --seed 1 (run 1) 
// case managed: | --runs 8 | managed
// expect managed: error schedule-dependent
// expect managed: note data-race stored
// says managed: schedule-dependent in memory of host and device
// says managed: 0x000003e8 (1000), under the default schedule 0x000003e9 (1001)
// case tickets: | --runs 8 | tickets
// expect tickets: note schedule-dependent
// says tickets: in kernel tickets
// case print_last: | --runs 8 | print-last
// expect print_last: note schedule-dependent
// expect print_last: note data-race announced
// says print_last: schedule-dependent text printed by device code
// says print_last: under the default schedule "last is 0"; kernel announce can observe the order of threads: outputs.cu:
// case print_order: | --runs 8 | print-order
// expect print_order: note data-race announced
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// Strong accesses do not race, but the last one decides.
__global__ void last_writer(volatile int* last) {
  for (int i = 0; i < 64; ++i) *last = 1000 + blockIdx.x;  //~ stored
}

__global__ void tickets(int* counter, int* holders) { holders[atomicAdd(counter, 1)] = blockIdx.x; }

__global__ void announce(volatile int* last, bool all) {
  *last = blockIdx.x;  //~ announced
  if (all) printf("block %d\n", blockIdx.x);
  if (!all && blockIdx.x == 0) printf("last is %d\n", *last);
}

template <typename... Arguments>
void run(void (*kernel)(Arguments...), int blocks, int threads, Arguments... arguments) {
  kernel<<<blocks, threads>>>(arguments...);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("error: %s\n", cudaGetErrorName(error));
}

int* device_array(int n) {
  int* data = nullptr;
  cudaMalloc(&data, n * sizeof(int));
  const std::vector<int> host(n, 1);
  cudaMemcpy(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  return data;
}

// Passes a device array of n elements to `show`.
template <typename Show>
void with_array(int n, Show show) {
  int* const data = device_array(n);
  show(data);
  cudaFree(data);
}

void print_copy(const int* data, int n) {
  std::vector<int> host(n);
  cudaMemcpy(host.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (const int each : host) std::printf("%d\n", each);
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "last-writer") {
    with_array(1, [](int* last) {
      run(last_writer, 2, 1, static_cast<volatile int*>(last));
      std::printf("the last is ");
      print_copy(last, 1);
    });
  }
  if (mode == "managed") {
    int* last = nullptr;
    cudaMallocManaged(&last, sizeof *last);
    run(last_writer, 2, 1, static_cast<volatile int*>(last));
    std::printf("the last is %d\n", *last);
    cudaFree(last);
  }
  if (mode == "tickets") {
    with_array(9, [](int* counter) {
      cudaMemset(counter, 0, sizeof(int));
      run(tickets, 8, 1, counter, counter + 1);
      print_copy(counter + 1, 8);
    });
  }
  if (mode == "print-order" || mode == "print-last") {
    with_array(1, [&](int* last) {
      run(announce, 4, 1, static_cast<volatile int*>(last), mode == "print-order");
    });
  }
  return 0;
}
