// Flags in global memory by which blocks wait for one another: volatile accesses and no fence.
#pragma once

namespace warpcheck::litmus {

__device__ inline void set(int* flag, int value) { *static_cast<volatile int*>(flag) = value; }

__device__ inline void wait_for(int* flag, int value) {
  while (*static_cast<volatile int*>(flag) != value) {
  }
}

}  // namespace warpcheck::litmus
