// The options that say which kernels are meant and what they are called with, for `kernel` and
// `new --kernel`.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/kernel/assumptions.hpp"
#include "cli/kernel/kernel_text.hpp"
#include "cli/kernel/signature.hpp"

namespace warpcheck {

struct KernelOptions {
  std::string file;
  std::vector<std::string> names;    // of kernels; empty: the only one
  std::string block, grid;           // "256", "16,16"; empty: not given
  std::string shared;                // bytes of dynamic shared memory
  std::vector<std::string> lets;     // "n=0..1000"
  std::vector<std::string> lengths;  // "a=n*m"
  std::vector<std::string> requirements;
  std::vector<std::string> instantiate;
  std::vector<std::string> nvcc;
  unsigned architecture = 75;

  // With FILE and KERNELs as words of the command.
  void add_to(CLI::App& command);
  // Only the options.
  void add_options_to(CLI::App& command);
  [[nodiscard]] CompileOptions compilation() const;
};

struct AssumedKernel {
  Assumptions assumptions;
  std::string signature;  // "saxpy(int n, ...)"
  std::vector<ParameterName> parameters;
  // What the user or the source says; the rest is assumed.
  bool is_block_given = false;
  bool has_lockstep_warps = false;
  bool has_weak_volatile = false;  // its volatile accesses are meant as plain ones
  // By name.  Trials may keep to the small ones of them.
  std::map<std::string, ValueRange> ranges_given;
  std::vector<std::string> lengths_given;  // names

  [[nodiscard]] bool is_range_given(const std::string& name) const {
    return ranges_given.contains(name);
  }
};

// A file's kernels; however many are tried, it is compiled once.
struct CompiledKernels {
  KernelFile file;
  ptx::Module module;
};
// Throws UsageError.
[[nodiscard]] CompiledKernels compiled_kernels(const KernelOptions& options);

// Finds a kernel and what to assume of it.  Throws UsageError.
//   wanted: its name; empty: the only one, or the only one that is instantiated
[[nodiscard]] AssumedKernel assumed_kernel(const CompiledKernels& compiled,
                                           const KernelOptions& options, std::string wanted);

}  // namespace warpcheck
