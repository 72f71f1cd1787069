// A number in exact arithmetic at one random point: an element of a prime field for what floats
// mean, of a Galois ring for integers modulo 2^32 or 2^64 (exact_numbers.hpp).
#pragma once

#include <cstdint>

#include "vgpu/check/exact/exact_range.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

struct ExactValue {
  enum class Kind : std::uint8_t {
    none,   // no number: nothing is known
    field,  // a float's
    ring,   // an integer's, of `bits` bits
    plus_infinity,
    minus_infinity,
    not_a_number,
  };
  Kind kind = Kind::none;
  bool is_data = false;                 // it depends on the data, and not on constants alone
  std::uint8_t bits = 0;                // ring: 16, 32 or 64
  std::uint16_t degree = 0, below = 0;  // bounds of the degrees of numerator and denominator
  std::uint64_t payload = 0;            // field: the element; ring: the number of the element
  // A float's: what its bits are; none: not known.
  ptx::Type format = ptx::Type::none;
  ExactRange range{};  // field
  friend bool operator==(const ExactValue&, const ExactValue&) = default;
  // Returns whether it is the same number, in whatever format.
  [[nodiscard]] bool is_number(ExactValue other) const {
    other.format = format;
    return *this == other;
  }

  [[nodiscard]] bool is_field() const { return kind == Kind::field; }
  [[nodiscard]] bool is_ring() const { return kind == Kind::ring; }
};

}  // namespace warpcheck::vgpu
