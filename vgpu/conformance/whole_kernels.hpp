// The kernels of kernels.cu and their builds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

struct WholeKernel {
  ptx::InstructionForm form;  // `text` and `mnemonic` are the kernel's name
  unsigned ulps = 0;          // allowed distance of a result from a GPU's; 0: the same bits
};
const std::vector<WholeKernel>& whole_kernels();

// A build of kernels.cu by nvcc: the compute capability, optimised or not (-G).  All builds compute
// the same; a kernel with another result in one build is recorded for that build as "NAME@BUILD".
struct KernelBuild {
  std::string_view name;  // kernels.NAME.ptx is its file
  int target;
};
inline constexpr KernelBuild kKernelBuilds[] = {{"75", 75},   {"75-G", 75}, {"80", 80},
                                                {"80-G", 80}, {"90", 90},   {"90-G", 90}};

std::string name_in_build(const WholeKernel& kernel, const KernelBuild& build);

// Returns what a recording may contain: each kernel for all builds, and for each single build.
std::vector<ptx::InstructionForm> kernel_forms();

// Returns the units in the last place between two results of the type; NaNs are equal only to each
// other.
std::uint64_t ulps_between(std::string_view type, std::uint64_t x, std::uint64_t y);

// Returns whether two results of a kernel agree.  The assembler chooses which of several NaNs a sum
// of f64 returns, and its optimisation levels differ, so all NaNs of f64 are equal.
bool is_agreed(std::string_view type, std::uint64_t x, std::uint64_t y, unsigned ulps);

}  // namespace warpcheck::conformance
