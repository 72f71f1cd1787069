// The kernels of a PTX file, of a program, or of a case, for `warpcheck show`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/trial/engine.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {

struct ShownKernel {
  std::string name;  // mangled
  // The program, linked; null: it cannot be executed.
  const vgpu::Program* program = nullptr;
  std::string refusal;  // why not
};

struct ShownPrograms {
  std::vector<ShownKernel> kernels;  // in the order of the text, or of their launches
  std::string build;                 // "optimized": of a case; empty: the file has one build
  // What the programs were decoded from, and the programs that the runtime does not keep.
  std::vector<std::unique_ptr<ptx::Module>> modules;
  std::vector<std::unique_ptr<vgpu::Program>> programs;
};

// Reads a text of PTX, an ELF program without running it, or a case, which is run once.
//   build: of a case; nothing: the case's own
//   kernel: only such kernels are decoded (vgpu::shows_kernel()); empty: all
// Throws UsageError, CaseFileError.
[[nodiscard]] ShownPrograms programs_of(const std::string& file, std::optional<Build> build,
                                        const std::string& kernel);

}  // namespace warpcheck
