// Whether an inferred length is one element, or one row, more than the kernel's integers say
// because the kernel goes one too far (`if (i <= n) out[i] = 0`), or because it needs so many.
//
// Both have arrays of n + 1 elements.  What tells them apart is the access: where rows begin and
// end, in a difference or a halo, no instruction accesses more than n elements (`begin[i]` and
// `begin[i + 1]`).  One that accesses all n + 1 from the first one on is taken for an overrun,
// unless something says that it is meant (is_meant() in overruns.cpp).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/kernel/probes.hpp"

namespace warpcheck {

// The length that an array has if its last element, or row, is accessed by mistake; nothing: it is
// not, as far as runs show.
//   runs: with arrays of zeros.  length: of the array, as these runs need it; those of the other
//   arrays are in the kernel.  bordered: integers by one more than which the kernel multiplies
[[nodiscard]] std::optional<Expression> length_without_overrun(
    const KernelDescription& kernel, const std::vector<Probe>& runs, std::size_t array,
    const Expression& length, const std::set<std::string>& bordered);

// Whether a length is a size and one element, or one row, more.
[[nodiscard]] bool is_one_more_than_a_size(const KernelDescription& kernel,
                                           const std::vector<Probe>& runs, std::size_t array,
                                           const Expression& length);

// Whether an array of where rows begin, of rows + 2 elements, has a row too many.
[[nodiscard]] bool has_one_row_too_many(const std::vector<Probe>& runs, std::size_t array);

}  // namespace warpcheck
