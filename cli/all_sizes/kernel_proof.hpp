// `kernel --prove`: a kernel without host code for every size, or a case that fails.
#pragma once

#include <vector>

#include "cli/all_sizes/all_sizes.hpp"
#include "cli/kernel/kernel_options.hpp"
#include "harness/case/settings.hpp"
#include "harness/kernel/kernel_pair.hpp"

namespace warpcheck {

// Whether launches and integers have one value each, so that a certificate of a run is one of all.
[[nodiscard]] bool has_one_size(const AssumedKernel& kernel);

// pair: of the kernel.  settings: those of the runs that confirm a suspicion.
[[nodiscard]] PairOfAllSizes prove_kernel_file(const KernelPair& pair, const AssumedKernel& kernel,
                                               const std::vector<Settings>& settings,
                                               const AllSizesOptions& options);

}  // namespace warpcheck
