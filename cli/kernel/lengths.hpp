// The length of an array as a function of the kernel's integers and its launch, from what runs
// touched: the smallest of a list of simple functions that is never too small.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/kernel/kernel_description.hpp"
#include "harness/kernel/kernel_input.hpp"

namespace warpcheck {

struct Sample {
  KernelInput input;  // without arrays
  std::int64_t extent = 0;
};

struct FittedLength {
  Expression length = Expression::number(0);
  // false: it bounds what was touched, and no more is known.  Other inputs may need more.
  bool is_known = false;
};

// A function that names the launch is known if most runs that touched the array needed all of it:
// launches of trials have few blocks, and a larger one may need more.
//   kernel: with the scalars' names.  Precondition: there are samples.
[[nodiscard]] FittedLength fitted_length(const KernelDescription& kernel,
                                         const std::vector<Sample>& samples);

// The bytes of dynamic shared memory: a function that most runs needed all of, which may count
// elements of up to 16 bytes.  Nothing: there is none.
//   samples: extents in bytes
[[nodiscard]] std::optional<Expression> fitted_bytes(const KernelDescription& kernel,
                                                     std::vector<Sample> samples);

// Whether most runs that touched the array needed all of that length.
[[nodiscard]] bool is_needed_by_most(const KernelDescription& kernel, const Expression& length,
                                     const std::vector<Sample>& samples);

// Of an array into which data lead.
//   most: with the contents that lead farthest; plain: of the same runs where all arrays are zero
//   indices: 1 + the largest index that the arrays hold
[[nodiscard]] FittedLength fitted_length_by_data(const KernelDescription& kernel,
                                                 const std::vector<Sample>& most,
                                                 const std::vector<Sample>& plain,
                                                 std::int64_t indices);

}  // namespace warpcheck
