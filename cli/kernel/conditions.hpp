// Conditions that nothing in the file says, and with which a kernel that fails may be right.  If it
// passes with one, that is the answer, with the condition; the case without it is kept.
//
// Distinct indices: `out[perm[i]] = in[i]` is right if no two elements of `perm` are equal, and
// races if two are; the trials draw equal ones.  Only stores count.  `hist[in[i]] += 1` reads what
// another thread writes, and stays an error: its indices are data.  So does a partition, where
// values choose the place and do not go into its address: different ones would only hide the
// choice.  So do kernels with rows (`begin[i] .. begin[i + 1]`): of neighbours in a graph some are
// equal.
//
// Blocks: code with a constant in place of the block's extent (`blockIdx.x * 32 + threadIdx.x`) is
// right only with blocks of that many threads.
#pragma once

#include <string>
#include <vector>

#include "cli/kernel/kernel_options.hpp"
#include "harness/report/report.hpp"

namespace warpcheck {

// The arrays of indices to try with different elements: of a kernel whose failures are stores by
// two threads to one place in global memory; else none.
[[nodiscard]] std::vector<std::string> indices_that_may_differ(const CompiledKernels& compiled,
                                                               const AssumedKernel& kernel,
                                                               const std::vector<Report>& failures);

// The blocks to try, as of --block ("32,8"), likely ones first; none: the user or the source says
// the block, or the code multiplies the number of its block by no constant.
[[nodiscard]] std::vector<std::string> blocks_of_constants(const CompiledKernels& compiled,
                                                           const AssumedKernel& kernel);

}  // namespace warpcheck
