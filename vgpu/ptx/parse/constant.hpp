// Constants and constant expressions (PTX ISA 9.0, 4.5).
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/ptx/parse/lexer.hpp"

namespace warpcheck::ptx {

struct Constant {
  std::uint64_t bits = 0;  // integer: 64 bits; real: the bits of a float or of a double
  bool is_unsigned = false;
  bool is_real = false;
  bool is_double = false;

  [[nodiscard]] double real() const;  // the value of any constant
};

// Returns whether a constant can begin here: a number, a sign, `~`, `!`, `(` or WARP_SZ.
bool starts_constant(const Lexer& lexer);

// Parses an integer expression, or a real with an optional sign.
Constant parse_constant(Lexer& lexer);

// Parses an integer expression from 0 to `max`; `what` names it in the error.
std::uint64_t parse_count(Lexer& lexer, std::string_view what, std::uint64_t max);

}  // namespace warpcheck::ptx
