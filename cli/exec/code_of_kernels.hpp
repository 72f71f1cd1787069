// The device code that a run of a program has launched, decoded: for experiments with it.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "cli/exec/program_run.hpp"
#include "harness/causes/code_places.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {

class CodeOfKernels {
 public:
  // run: one with ExecSettings::code.  A kernel of a module that was linked of several is left out.
  explicit CodeOfKernels(const ProgramRun& run);
  CodeOfKernels(const CodeOfKernels&) = delete;
  CodeOfKernels& operator=(const CodeOfKernels&) = delete;

  // In the order of their first launches.
  [[nodiscard]] const std::vector<LaunchedKernel>& kernels() const { return kernels_; }
  // Of the largest module.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Module {
    std::string path, text;
    std::optional<ptx::Module> parsed;
  };
  void add(const cudart::KernelRecord& kernel);

  std::list<Module> modules_;
  std::list<vgpu::Program> programs_;
  std::vector<LaunchedKernel> kernels_;
  std::uint64_t bytes_ = 0;
};

}  // namespace warpcheck
