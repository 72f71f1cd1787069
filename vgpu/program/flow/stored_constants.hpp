// Which constants a kernel stores, as its code shows.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct StoredConstant {
  std::uint32_t bytes = 0;
  std::uint64_t value = 0;
  friend bool operator==(const StoredConstant&, const StoredConstant&) = default;
};

// Returns the constant that a store of one number stores whenever it is executed; nothing: it is no
// such store, or its value depends on anything.
[[nodiscard]] std::optional<StoredConstant> stored_constant(const Program& program,
                                                            std::uint32_t pc);

}  // namespace warpcheck::vgpu
