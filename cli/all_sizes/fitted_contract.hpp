// The contract of a kernel, fitted to launches that were observed: which bytes each pointer may
// use, as a function of the scalars and the launch, and what holds between these.
//
// A function is taken if it holds in every observed launch; that it holds in all others is an
// assumption, and reports name it.
#pragma once

#include <string>
#include <vector>

#include "cli/all_sizes/observed_launches.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck {

// What the domain of a pair allows.
struct DomainLimits {
  std::int64_t elements_max = 2'147'483'647;  // of an array
  std::int64_t grid_max = 2'147'483'647;      // blocks, if launches take the input's grid
  std::int64_t block_max = 1'024;
};

struct FittedKernel {
  std::string kernel;                      // mangled
  std::shared_ptr<const std::string> ptx;  // of its module
  vgpu::symbolic::KernelContract contract;
  // Relations of scalars and launch, of which a proof may do without.
  std::vector<vgpu::symbolic::Condition> relations;
  std::size_t launches = 0;
  // Not empty: why no contract fits.
  std::string obstacle;
  // Scalars without a limit of the domain.
  std::vector<std::size_t> unlimited;
};

// One for each kernel and each way in which its pointers share arrays, in order of appearance.
[[nodiscard]] std::vector<FittedKernel> fit_contracts(const std::vector<ObservedLaunch>& launches,
                                                      const DomainLimits& limits);

}  // namespace warpcheck
