// Demangles C++ names (Itanium C++ ABI, 5.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpcheck::ptx {

// Converts "_Z3addiPf" to "add(int, float*)".  Returns nothing for a name that is not mangled:
// `extern "C"` names and plain words, which the ABI's function would read as types.
std::optional<std::string> demangle(std::string_view mangled);

}  // namespace warpcheck::ptx
