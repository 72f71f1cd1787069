// The kernels of kernels.cu, and what they are built for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

struct WholeKernel {
  ptx::InstructionForm form;  // `text` and `mnemonic` are the kernel's name
  unsigned ulps = 0;          // how far a result may be from a GPU's; 0: the same bits
};
const std::vector<WholeKernel>& whole_kernels();

// What nvcc makes of kernels.cu: for which compute capability, optimised or not (-G).  All builds
// compute the same; a kernel for which one does not is recorded for that build as "NAME@BUILD".
struct KernelBuild {
  std::string_view name;  // kernels.NAME.ptx is its file
  int target;
};
inline constexpr KernelBuild kKernelBuilds[] = {{"75", 75},   {"75-G", 75}, {"80", 80},
                                                {"80-G", 80}, {"90", 90},   {"90-G", 90}};

std::string name_in_build(const WholeKernel& kernel, const KernelBuild& build);

// What a recording of them may hold: each kernel for all builds, and for each.
std::vector<ptx::InstructionForm> kernel_forms();

// Units of the last place between two results of the type; NaN are equal to each other alone.
std::uint64_t ulps_between(std::string_view type, std::uint64_t x, std::uint64_t y);

// Whether two results of a kernel agree.  Which of several NaN a sum of f64 hands on is the
// assembler's choice, and differs between its levels: one NaN of f64 is as good as another.
bool is_agreed(std::string_view type, std::uint64_t x, std::uint64_t y, unsigned ulps);

}  // namespace warpcheck::conformance
