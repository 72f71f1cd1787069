// The parameters of a kernel, from the debug information of its unoptimised PTX, or else from its
// mangled name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/kernel/kernel_text.hpp"
#include "harness/kernel/kernel_description.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {

// The kernel of a file that `name` means: "scan", "scan<int>", or a mangled name; empty: the only
// one.  Returns its mangled name.  Throws UsageError, with the names that there are.
[[nodiscard]] std::string find_kernel(const ptx::Module& module, const KernelFile& file,
                                      std::string_view name);

// A parameter of the kernel itself, before it is flattened.
struct ParameterName {
  std::string name, type;
};

// Its description, with all values of each integer, and without lengths and launches.  Throws
// UsageError for a parameter that cannot be made: a texture, a pointer to pointers.
[[nodiscard]] KernelDescription described(const ptx::Module& module, const KernelFile& file,
                                          const std::string& mangled,
                                          std::vector<ParameterName>& parameters);

// "saxpy(int n, float a, const float* x, float* y)"
[[nodiscard]] std::string signature_text(const KernelDescription& kernel);

}  // namespace warpcheck
