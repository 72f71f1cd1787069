// Threads that wait for half a second of %globaltimer, by themselves, with a counter in memory, with
// pauses, and for a flag that another thread sets in time: virtual time passes faster while all of
// them only wait for it, and waits of different lengths end in their order.
// build: -arch=compute_80
// case alone: | | 0
// expect alone: clean
// prints alone: it has passed
// case paused: | | 1
// expect paused: clean
// prints paused: it has passed
// case flag: | | 2
// expect flag: note data-race set get
// prints flag: the flag was set
// case unoptimised: -G | | 0
// expect unoptimised: clean
// prints unoptimised: it has passed
// case unoptimised_flag: -G | | 2
// expect unoptimised_flag: note data-race set get
// prints unoptimised_flag: the flag was set
#include <cstdio>
#include <cstdlib>

__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void wait(unsigned long long ns, unsigned* rounds, bool pauses) {
  const unsigned long long begin = now();
  do {
    ++*rounds;
    if (pauses) __nanosleep(100);
  } while (now() - begin < ns);
}

// Block 0 sets the flag after some time; block 1 waits for a little longer than that.
__global__ void hand_over(unsigned long long ns, volatile unsigned* flag, unsigned* seen) {
  const unsigned long long begin = now();
  if (blockIdx.x == 0) {
    while (now() - begin < ns) {
    }
    *flag = 1;  //~ set
  } else {
    while (*flag == 0 && now() - begin < ns + ns / 4) {
    }
    *seen = *flag;  //~ get
  }
}

int main(int, char** arguments) {
  constexpr unsigned long long kHalfASecond = 500'000'000;
  unsigned *words, host[2];
  cudaMalloc(&words, 8);
  cudaMemset(words, 0, 8);
  const int kind = atoi(arguments[1]);
  if (kind == 2) {
    hand_over<<<2, 1>>>(kHalfASecond, words, words + 1);
  } else {
    wait<<<1, 1>>>(kHalfASecond, words, kind == 1);
  }
  cudaMemcpy(host, words, 8, cudaMemcpyDeviceToHost);
  if (kind == 2) {
    puts(host[1] == 1 ? "the flag was set" : "gave up");
  } else {
    puts(host[0] > 0 ? "it has passed" : "nothing");
  }
  cudaFree(words);
  return 0;
}
