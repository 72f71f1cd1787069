// Names of C++ as their source writes them (Itanium C++ ABI, 5.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpcheck::ptx {

// "_Z3addiPf" -> "add(int, float*)".  Nothing for what is no mangled name: `extern "C"` names and
// plain words, which the ABI's function would read as types.
std::optional<std::string> demangle(std::string_view mangled);

}  // namespace warpcheck::ptx
