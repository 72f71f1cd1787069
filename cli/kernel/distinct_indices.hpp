// Scatters: `out[perm[i]] = in[i]` is right if no two elements of `perm` are equal, and races if
// two are.  Nothing in the file says which, and the trials draw equal ones.  So a kernel whose only
// defect is that threads store to one place, and that has none if the elements of an index array
// differ, passes with this condition, and the case is kept.
//
// Only stores count.  `hist[in[i]] += 1` reads what another thread writes, and stays an error: its
// indices are data.  So does a partition, where values choose the place and are none: different
// ones would only hide the choice.  So do kernels with rows (`begin[i] .. begin[i + 1]`): of
// neighbours in a graph some are equal.
#pragma once

#include <string>
#include <vector>

#include "cli/kernel/kernel_options.hpp"
#include "harness/report/report.hpp"

namespace warpcheck {

// The arrays of indices to try with different elements: of a kernel whose failures are stores by
// two threads to one place in global memory; else none.
[[nodiscard]] std::vector<std::string> indices_that_may_differ(const AssumedKernel& kernel,
                                                               const std::vector<Report>& failures);

}  // namespace warpcheck
