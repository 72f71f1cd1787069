// The length of an array as a function of the kernel's integers and its launch, from what runs
// touched: the smallest of a list of simple functions that is never too small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/kernel/kernel_description.hpp"
#include "harness/kernel/kernel_input.hpp"

namespace warpcheck {

struct Sample {
  KernelInput input;  // without arrays
  std::int64_t extent = 0;
};

// kernel: with the scalars' names.  Precondition: there are samples.
[[nodiscard]] Expression fitted_length(const KernelDescription& kernel,
                                       const std::vector<Sample>& samples);

}  // namespace warpcheck
