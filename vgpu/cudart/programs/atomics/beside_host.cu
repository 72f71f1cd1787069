// A thread of the host and a kernel count in the same words of managed memory at the same time,
// each by atomic operations: no count is lost.
//
// The mutant's kernel adds without atomics.
// expect: data-race
// varies: the host counts while the kernel does
#include <thread>

#include "check.hpp"

constexpr int kThreads = 64, kRounds = 2000;

struct Counters {
  unsigned long long sum;
  int down;
  unsigned wrapped;
  int ended;
};

__global__ void count(Counters* counters) {
  for (int i = 0; i < kRounds; ++i) {
#ifdef MUTANT
    ++counters->sum;  //~
#else
    atomicAdd_system(&counters->sum, 1ull);
#endif
    atomicSub_system(&counters->down, 2);
    atomicInc_system(&counters->wrapped, 9u);
  }
  __threadfence_system();
  atomicAdd_system(&counters->ended, 1);
}

// As long as the kernel counts; how often.
void count_on_host(Counters* counters, int* rounds) {
  for (; __atomic_load_n(&counters->ended, __ATOMIC_ACQUIRE) < kThreads; ++*rounds) {
    __atomic_fetch_add(&counters->sum, 1ull, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&counters->down, 2, __ATOMIC_RELAXED);
    unsigned found = __atomic_load_n(&counters->wrapped, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&counters->wrapped, &found, found >= 9 ? 0 : found + 1,
                                        false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
}

int main() {
  Counters* counters;
  require(cudaMallocManaged(&counters, sizeof *counters));
  *counters = {};
  int rounds = 0;
  std::thread host(count_on_host, counters, &rounds);
  count<<<1, kThreads>>>(counters);
  require(cudaDeviceSynchronize());
  host.join();
  const int all = kThreads * kRounds + rounds;
  const bool is_right = counters->sum == static_cast<unsigned long long>(all) &&
                        counters->down == -2 * all &&
                        counters->wrapped == static_cast<unsigned>(all) % 10;
  require(cudaFree(counters));
  return verdict(is_right);
}
