#include "vgpu/program/program.hpp"

#include <algorithm>

#include "vgpu/program/layout.hpp"
#include "vgpu/ptx/demangle.hpp"

namespace warpcheck::vgpu {

ptx::SourceLocation Program::report_location(std::uint32_t pc) const {
  const auto in_toolkit = [&](const ptx::SourceLocation& place) {
    if (place.file >= files.size()) return true;
    const std::string& file = files[place.file];
    return file.find("/cuda") != std::string::npos && file.find("/include/") != std::string::npos;
  };
  const ptx::SourceLocation innermost = source_of(pc).location;
  ptx::SourceLocation place = innermost;
  while (in_toolkit(place) && place.inlined_at < locations.size()) {
    place = locations[place.inlined_at];
  }
  return in_toolkit(place) ? innermost : place;
}

std::uint32_t Program::function_of(std::uint32_t pc) const {
  const auto after = std::ranges::upper_bound(functions, pc, {}, &FunctionCode::entry);
  return static_cast<std::uint32_t>(after - functions.begin()) - 1;
}

std::string demangled_variable(const std::string& name) {
  const std::optional<std::string> full = ptx::demangle(name);
  if (!full) return name;
  const std::size_t scope = full->rfind("::");
  return scope == std::string::npos ? *full : full->substr(scope + 2);
}

}  // namespace warpcheck::vgpu
