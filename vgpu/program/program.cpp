#include <cxxabi.h>

#include <algorithm>

#include <cstdlib>
#include <memory>

#include "vgpu/program/layout.hpp"

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
  if (!name.starts_with("_Z")) return name;  // `s` alone would read as the type short
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || demangled == nullptr) return name;
  const std::string_view full(demangled.get());
  const std::size_t scope = full.rfind("::");
  return std::string(scope == std::string_view::npos ? full : full.substr(scope + 2));
}

}  // namespace warpcheck::vgpu
