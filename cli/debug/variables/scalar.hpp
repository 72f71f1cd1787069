// The number that the bytes of an arithmetic value or a pointer mean, and back.
#pragma once

#include <cstdint>

#include "cli/debug/variables/value.hpp"
#include "vgpu/text/half.hpp"

namespace warpcheck::debug {

struct Scalar {
  const Type* type = nullptr;
  std::uint64_t bits = 0;  // integers and pointers: the value, extended to 64 bits by its sign
  double number = 0;       // floating types; exact for all of them
  bool is_unwritten = false;
};

// Of an integral, floating, pointer, or other type of up to 8 bytes.
Scalar scalar_of(const Value& value, const MemoryBytes& bytes);

// A result: the number rounded or truncated to the type.
Value value_of(const Scalar& scalar);

std::uint16_t half_of_float(float number);      // IEEE 754 binary16, to nearest even
std::uint16_t bfloat16_of_float(float number);  // to nearest even

// The low `count` bits of a number, extended to 64 by the sign if `is_signed`.
constexpr std::uint64_t extended(std::uint64_t bits, unsigned count, bool is_signed) {
  if (count >= 64) return bits;
  if (count == 0) return 0;
  const unsigned unused = 64 - count;
  const std::uint64_t high = bits << unused;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused)
                   : high >> unused;
}

}  // namespace warpcheck::debug
