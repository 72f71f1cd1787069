// Three numbers in messages and reports.
#pragma once

#include <fmt/format.h>

#include <string>

#include "vgpu/program/dim3.hpp"

namespace warpcheck {

// Returns "(1,0,0)".
inline std::string triple(const Dim3& at) { return fmt::format("({},{},{})", at.x, at.y, at.z); }

}  // namespace warpcheck
