#include "vgpu/ptx/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace warpcheck::ptx {
namespace {

// ABI tags distinguish symbols, not functions: Numba puts a hash of its options there.
void remove_abi_tags(std::string& name) {
  constexpr std::string_view kTag = "[abi:";
  for (std::size_t at = name.find(kTag); at != std::string::npos; at = name.find(kTag, at)) {
    const std::size_t end = name.find(']', at);
    if (end == std::string::npos) return;
    name.erase(at, end + 1 - at);
  }
}

// nvcc puts what is internal to a file into a namespace that is named for the file and a hash.
void remove_scopes_of_files(std::string& name) {
  constexpr std::string_view kScope = "_INTERNAL_";
  for (std::size_t at = name.find(kScope); at != std::string::npos; at = name.find(kScope, at)) {
    const std::size_t end = name.find("::", at);
    if (end == std::string::npos) return;
    name.erase(at, end + 2 - at);
  }
}

}  // namespace

std::optional<std::string> demangle(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) return std::nullopt;
  std::string name = text.get();
  remove_abi_tags(name);
  remove_scopes_of_files(name);
  return name;
}

}  // namespace warpcheck::ptx
