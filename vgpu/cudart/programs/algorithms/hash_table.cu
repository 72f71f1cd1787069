// A hash table with open addressing: keys are claimed by a 64-bit compare-and-swap of key and
// value, looked up and deleted by other launches.
// MUTANT: a slot is tested and then stored to.
// expect: data-race
#include "check.hpp"

using Slot = unsigned long long;
constexpr Slot kEmpty = ~0ull;
constexpr unsigned kSlots = 2048;

__device__ unsigned hash(unsigned key) {
  key ^= key >> 16;
  key *= 0x85ebca6bu;
  return (key ^ key >> 13) % kSlots;
}

__global__ void insert(Slot* slots, const unsigned* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Slot pair = static_cast<Slot>(keys[i]) << 32 | static_cast<unsigned>(i);
  for (unsigned at = hash(keys[i]);; at = (at + 1) % kSlots) {
#ifdef MUTANT
    if (slots[at] == kEmpty) {  //~
      slots[at] = pair;         //~
      return;
    }
#else
    if (atomicCAS(slots + at, kEmpty, pair) == kEmpty) return;
#endif
  }
}

__global__ void look_up(const Slot* slots, const unsigned* keys, int n, int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  values[i] = -1;
  for (unsigned at = hash(keys[i]); slots[at] != kEmpty; at = (at + 1) % kSlots) {
    if (slots[at] >> 32 == keys[i]) values[i] = static_cast<unsigned>(slots[at]);
  }
}

int main() {
  const int n = 1000;
  Buffer<Slot> slots(kSlots, kEmpty);
  Buffer<unsigned> keys(n);
  Buffer<int> values(n);
  for (int i = 0; i < n; ++i) keys[i] = i * 2654435761u >> 1;
  insert<<<8, 128>>>(slots, keys, n - 100);
  look_up<<<8, 128>>>(slots, keys, n, values);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) is_right &= values[i] == (i < n - 100 ? i : -1);
  return verdict(is_right);
}
