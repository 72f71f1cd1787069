// The variables of a kernel's shared and constant memory, by name.
#pragma once

#include <cstdint>
#include <string>

namespace warpcheck::vgpu {

// A named range of shared or constant memory, for reports and addresses.
struct Symbol {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  // 0: up to the end (extern __shared__)
};

}  // namespace warpcheck::vgpu
