// The contract of a kernel without host code, from what the user says and what trial runs showed:
// domains in which `kernel --prove` tries to prove it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/kernel/kernel_options.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck {

// Up to here 32-bit indices with a stride or a halo beside them do not wrap.
inline constexpr std::int64_t kModestNumber = 1'000'000'000;

// Blocks of a grid, by axis.
inline constexpr std::array<std::int64_t, 3> kGridMost{2'147'483'647, 65'535, 65'535};

struct KernelDomain {
  vgpu::symbolic::KernelContract contract;
  // The larger, the narrower: numbers of threads and elements are limited.
  unsigned narrowness = 0;
  // Blocks are of any size; else those of the trials, or those that the user says.
  bool has_any_block = false;
};

// Ordered: with the blocks of the trials before those with any, the narrowest first.  None: an
// expression of the kernel's cannot be translated; `obstacle` says which.
[[nodiscard]] std::vector<KernelDomain> domains_of(const AssumedKernel& kernel,
                                                   const ptx::Function& function,
                                                   std::string& obstacle);

// Whether the length of an array, which trials needed, names no integer of the kernel: larger
// integers may need more.
[[nodiscard]] bool is_number_of_trials(const AssumedKernel& kernel, const std::string& array);
// Whether one of the kernel's has, beside integers that may be larger.
[[nodiscard]] bool has_number_of_trials(const AssumedKernel& kernel);
// Arrays of integers that decide what is accessed hold the values that they have in trials: indices
// lead into the array behind them.  Returns whether there are any.
bool take_values_of_trials(const AssumedKernel& kernel, vgpu::symbolic::KernelContract& contract);
// Integers are no larger than those of the trials.
void keep_to_trials(const AssumedKernel& kernel, vgpu::symbolic::KernelContract& contract);

// What nobody says of a grid: it has no more blocks than the largest integer needs, with a thread
// for each number, or a block.
[[nodiscard]] std::vector<Expression> covering(const AssumedKernel& kernel);

// With the blocks of the trials and covering grids.
//   wide: integers that are as large as their type, or what is said of them, allows
//   most: of the others
[[nodiscard]] KernelDomain domain_beyond(const AssumedKernel& kernel, const ptx::Function& function,
                                         const std::vector<std::string>& wide, std::int64_t most,
                                         std::string& obstacle);

// Nothing: it has an operator that has no term.
[[nodiscard]] std::optional<vgpu::symbolic::Term> term_of(const Expression& expression);

}  // namespace warpcheck
