#include "vgpu/ptx/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace warpcheck::ptx {

std::optional<std::string> demangle(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) return std::nullopt;
  return std::string(text.get());
}

}  // namespace warpcheck::ptx
