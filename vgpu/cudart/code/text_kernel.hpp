// Kernels of which the harness has the PTX as text, without a host object.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck::cudart {

// The PTX of one translation unit in each build; empty: there is none.
struct BuildTexts {
  std::string optimized, unoptimized;
  [[nodiscard]] bool empty() const { return optimized.empty() && unoptimized.empty(); }
};

// Registers a kernel, for as long as the process lives, and returns what cudaLaunchKernel() takes
// for it.  A launch in a build without a text is refused.
//   kernel: its mangled name
const void* register_kernel_text(BuildTexts texts, std::string_view kernel);

}  // namespace warpcheck::cudart
