// How a kernel is written in source text, from its mangled name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

struct KernelSignature {
  std::string name;  // "scan_tree_kernel<int>"; unnamed namespaces are left out
  // "int const*", "int"; nothing for extern "C" names, which do not tell.
  std::optional<std::vector<std::string>> parameters;
};

[[nodiscard]] KernelSignature signature_of(std::string_view mangled);

}  // namespace warpcheck
