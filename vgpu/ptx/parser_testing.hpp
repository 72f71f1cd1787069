// For tests of the parser: modules and bodies without their repeated beginnings, and the errors in
// them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::ptx {

inline constexpr std::string_view kHead = ".version 8.0\n.target sm_75\n.address_size 64\n";

inline Module parse_text(std::string_view rest) {
  return parse(std::string(kHead) + std::string(rest), "t");
}

// Parses a kernel with that body, which is on one line after three lines of header.
inline Function parse_body_text(std::string_view body) {
  Module module = parse_text(".entry k() { " + std::string(body) + "\n}");
  return std::move(module.functions.at(0));
}

inline std::string error_of(std::string_view text) {
  try {
    parse(text, "t");
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string error_in(std::string_view rest) {
  return error_of(std::string(kHead) + std::string(rest));
}

inline std::string error_in_body(std::string_view body) {
  return error_in(".entry k() { .reg .b32 %r<4>; .reg .pred %p; " + std::string(body) + "\n}");
}

}  // namespace warpcheck::ptx
