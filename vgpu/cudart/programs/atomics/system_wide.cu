// Atomics at the scope of the system on memory that the host uses as well, of all kinds; the host
// goes on when it has waited.
// MUTANT: one of them is an ordinary update.
// expect: data-race
#include "check.hpp"

constexpr int kThreads = 64, kBlocks = 4, kAll = kThreads * kBlocks;

__global__ void update(int* cells) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  atomicAdd_system(&cells[0], 10);
  atomicExch_system(&cells[1], i);
  atomicMax_system(&cells[2], i);
  atomicMin_system(&cells[3], -i);
  atomicInc_system(reinterpret_cast<unsigned*>(&cells[4]), 17);
  atomicDec_system(reinterpret_cast<unsigned*>(&cells[5]), 137);
  atomicCAS_system(&cells[6], i - 1, i);
  atomicAnd_system(&cells[7], 2 * i + 7);
  atomicOr_system(&cells[8], 1 << i % 8);
#ifdef MUTANT
  cells[9] ^= i;  //~
#else
  atomicXor_system(&cells[9], i);
#endif
}

int main() {
  Buffer<int> cells(10);
  cells[7] = 0xff;
  update<<<kBlocks, kThreads>>>(cells);
  finish();
  int all_bits = 0xff, changed = 0, counter = 0, downwards = 0;
  for (int i = 0; i < kAll; ++i) {
    all_bits &= 2 * i + 7;
    changed ^= i;
    counter = counter >= 17 ? 0 : counter + 1;
    downwards = downwards == 0 ? 137 : downwards - 1;
  }
  const bool is_right = cells[0] == 10 * kAll && 0 <= cells[1] && cells[1] < kAll &&
                        cells[2] == kAll - 1 && cells[3] == 1 - kAll && cells[4] == counter &&
                        cells[5] == downwards && cells[6] >= 0 && cells[6] < kAll &&
                        cells[7] == all_bits && cells[8] == 0xff && cells[9] == changed;
  return verdict(is_right);
}
