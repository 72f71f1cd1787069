// The operators of scan_lookback.
#pragma once

#include "kernels/fast/scan_lookback.hpp"

namespace fast {

struct Add {
  __device__ int operator()(int a, int b) const {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
  }
  __device__ float operator()(float a, float b) const { return a + b; }
};

// `first`, then `second`.
struct Compose {
  __device__ Affine operator()(const Affine& first, const Affine& second) const {
    return {first.factor * second.factor, second.factor * first.term + second.term};
  }
};

}  // namespace fast
