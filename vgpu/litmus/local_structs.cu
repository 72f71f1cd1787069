// Structs in local memory, as unoptimised code keeps and copies them: word by word, padding
// included.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::unwritten;

namespace {

struct Weighted {
  double value;
  int index;
};
using Words = volatile unsigned*;
__device__ Words words_of(Weighted& one) { return reinterpret_cast<Words>(&one); }

// expect: uninitialized-read local note
__global__ void copies_struct(Weighted* out, int chosen) {
  Weighted kept[2];
  kept[chosen].value = threadIdx.x;
  kept[chosen].index = int(threadIdx.x);
  const Words from = words_of(kept[chosen]), to = words_of(out[threadIdx.x]);
  for (int i = 0; i < 4; ++i) to[i] = from[i];  //~ read
}
LITMUS(copies_struct) {  //~ host copy
  Weighted* const out = unwritten<Weighted>(32);
  copies_struct<<<1, 32>>>(out, 1);
  copy_out(out, 32);
}

// No wide store tells that a struct has padding where it was copied to.
// expect: uninitialized-read local note
__global__ void copies_copied_struct(Weighted* out, int chosen) {
  Weighted kept[4];
  kept[chosen].value = threadIdx.x;
  kept[chosen].index = int(threadIdx.x);
  const Words first = words_of(kept[chosen]), second = words_of(kept[chosen + 1]);
  for (int i = 0; i < 4; ++i) second[i] = first[i];  //~ read
  const Words to = words_of(out[threadIdx.x]);
  for (int i = 0; i < 4; ++i) to[i] = second[i];
}
LITMUS(copies_copied_struct) {  //~ host copy
  Weighted* const out = unwritten<Weighted>(32);
  copies_copied_struct<<<1, 32>>>(out, 0);
  copy_out(out, 32);
}

// expect: uninitialized-read local
__global__ void copies_struct_without_index(Weighted* out, int chosen) {
  Weighted kept[2];
  kept[chosen].value = threadIdx.x;
  const Words from = words_of(kept[chosen]), to = words_of(out[threadIdx.x]);
  for (int i = 0; i < 4; ++i) to[i] = from[i];  //~ read
}
LITMUS(copies_struct_without_index) {  //~ host copy
  Weighted* const out = unwritten<Weighted>(32);
  copies_struct_without_index<<<1, 32>>>(out, 1);
  copy_out(out, 32);
}

}  // namespace
