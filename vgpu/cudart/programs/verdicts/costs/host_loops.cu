// A loop of the host in which nothing changes: the kernel sets `again` although it has changed nothing
// (>= instead of >).  Each round begins with the memory of the one before, so the device cannot end
// it.  The host could count its rounds, as it does here so that the test ends: so this is a note after
// 10,000 rounds.  Benchmarks repeat a launch less often, or read nothing in between; a loop that does
// something is none.
// case endless: | | 0 11000
// expect endless: note deadlock launch
// says endless: the host has read the same results each time
// case short: | | 0 5000
// expect short: clean
// case benchmark: | | 1 11000
// expect benchmark: clean
// case progress: | | 2 11000
// expect progress: clean
// case unoptimised: -G | | 0 11000
// expect unoptimised: note deadlock launch
#include <cstdlib>

__global__ void step(int* values, int* again, bool changes) {
  const int i = threadIdx.x;
  if (changes && i == 0) ++values[40];
  if (i > 0 && values[i] >= values[0]) *again = 1;
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]), rounds = atoi(arguments[2]);
  int *values, *again, go = 0;
  cudaMalloc(&values, 256);
  cudaMemset(values, 0, 256);
  cudaMalloc(&again, 4);
  int round = 0;
  do {
    cudaMemset(again, 0, 4);
    step<<<1, 2>>>(values, again, kind == 2);  //~ launch
    if (kind != 1) cudaMemcpy(&go, again, 4, cudaMemcpyDeviceToHost);
    ++round;
  } while (kind == 1 ? round < rounds : go != 0 && round < rounds);
  cudaDeviceSynchronize();
  cudaFree(values);
  cudaFree(again);
  return 0;
}
