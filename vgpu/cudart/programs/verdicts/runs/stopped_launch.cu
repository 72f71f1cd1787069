// A launch that a finding has stopped: how much the other threads had printed and stored until then
// depends on the schedule, and so does what the program makes of it.  All of that follows from the
// trap or the deadlock, and is told once.  What depended on the schedule before is told apart.
//
// case text: | --runs 4 | 0
// expect text: error trap assert
// case data: | --runs 4 | 1
// expect data: error trap assert_data
// case status: | --runs 4 | 2
// expect status: error trap assert
// case deadlock: | --runs 4 | 3
// expect deadlock: error deadlock
// case before: | --runs 4 | 4
// expect before: error trap assert
// expect before: note data-race last
// expect before: error schedule-dependent
// says before: at byte 0 of copy 1 to the host, by cudaMemcpy of 4 bytes, in kernel last_writer
// case passes: | --runs 4 | 5
// expect passes: clean
// case unoptimised: -G | --runs 4 | 0
// expect unoptimised: error trap assert
// case trap: | --runs 4 | 6
// expect trap: error trap instruction
// case sometimes: | --runs 8 | 7
// expect sometimes: error trap sometimes
// says sometimes: first seen in run
#include <cassert>
#include <cstdio>
#include <cstdlib>

__global__ void check(int round, int bad) {
  for (int i = 0; i < 3; ++i) {
    printf("round %d step %d block %d\n", round, i, blockIdx.x);
    assert(round < bad || i == 0 || blockIdx.x != 1);  //~ assert
  }
}

__global__ void fill(int* values, bool stops) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (threadIdx.x == 0 && blockIdx.x == 1) assert(!stops);  //~ assert_data
}

__global__ void wait_for_ever(volatile int* flag, int* values) {
  values[blockIdx.x] = 1;
  printf("block %d\n", blockIdx.x);
  while (blockIdx.x % 2 == 0 && *flag == 0) {
  }
}

__global__ void last_writer(volatile int* last) {
  *last = blockIdx.x;  //~ last
}

__global__ void stop(int* values) {
  values[threadIdx.x] = 1;
  if (threadIdx.x == 40) asm volatile("trap;");  //~ instruction
}

// Only the second block to come stops.
__global__ void stop_second(int* tickets, int* values) {
  const int ticket = atomicAdd(tickets, 1);
  values[blockIdx.x] = 1;
  assert(ticket != 1 || blockIdx.x == 1);  //~ sometimes
}

int main(int, char** arguments) {
  const int kind = std::atoi(arguments[1]);
  int* memory;
  cudaMallocManaged(&memory, 4096);
  int status = 0;
  if (kind == 1) fill<<<4, 64>>>(memory, true);
  if (kind == 3) wait_for_ever<<<8, 1>>>(memory, memory + 64);
  if (kind == 4) {
    int host;
    last_writer<<<4, 1>>>(memory);
    cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDeviceToHost);
  }
  if (kind == 5) fill<<<4, 64>>>(memory, false);
  if (kind == 6) stop<<<1, 64>>>(memory);
  if (kind == 7) stop_second<<<4, 1>>>(memory, memory + 64);
  if (kind == 0 || kind == 2 || kind == 4 || kind == 5) {
    for (int round = 0; round < 3 && status == 0; ++round) {
      check<<<3, 1>>>(round, kind == 5 ? 9 : 1);
      if (cudaDeviceSynchronize() != cudaSuccess) status = 3;
    }
  }
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < 256; ++i) sum += memory[i];
  std::printf("%d\n", sum);
  cudaFree(memory);
  return kind == 2 ? sum % 7 : 0;
}
