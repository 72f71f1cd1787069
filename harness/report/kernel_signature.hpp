// The source form of a kernel's name and parameters, from its mangled name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

struct KernelSignature {
  std::string name;  // "scan_tree_kernel<int>"; unnamed namespaces are left out
  // "int const*", "int"; empty for extern "C" names, which do not contain them.
  std::optional<std::vector<std::string>> parameters;
};

[[nodiscard]] KernelSignature signature_of(std::string_view mangled);

}  // namespace warpcheck
