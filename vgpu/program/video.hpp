// Video instructions: how the decoder encodes what their operands select.
//
// In a scalar instruction, .b0 - .b3 and .h0, .h1 name a byte or a half of a source, or the part of
// the result that is merged into c.  In an instruction on two halves or four bytes, a selector
// names for each element one of the elements of a and b together, with b above a; a mask names the
// elements that are written.  Source: PTX ISA 9.0, 9.7.18, 9.7.19.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// Returns the number of elements in a register: 1, 2 or 4.
constexpr unsigned video_elements(ptx::Opcode opcode) {
  using ptx::Opcode;
  if (opcode >= Opcode::vadd4_) return 4;
  return opcode >= Opcode::vadd2_ ? 2 : 1;
}

struct VideoOperands {
  struct BitField {
    std::uint8_t begin = 0, bits = 32;  // in the register
    friend bool operator==(const BitField&, const BitField&) = default;
  };
  BitField d, a, b;                            // scalar
  std::array<std::uint8_t, 4> of_a{}, of_b{};  // by element, lowest first
  std::uint8_t mask = 0;                       // of elements
  bool negated_a = false, negated_b = false, negated_c = false, plus_one = false;  // vmad
  std::uint8_t scale = 0;  // vmad: number of bits by which the result is shifted right
};

// Encodes the operands for Instr::packed, and decodes them.
constexpr std::int64_t encoded(const VideoOperands& v) {
  std::uint64_t bits = 0;
  const auto put = [&](std::uint64_t value, unsigned width) { bits = bits << width | value; };
  for (const VideoOperands::BitField part : {v.d, v.a, v.b}) {
    put(part.begin / 8u, 2);
    put(part.bits / 8u, 3);
  }
  for (unsigned i = 0; i < 4; ++i) put(v.of_a[i], 3);
  for (unsigned i = 0; i < 4; ++i) put(v.of_b[i], 3);
  put(v.mask, 4);
  for (const bool flag : {v.negated_a, v.negated_b, v.negated_c, v.plus_one}) put(flag ? 1 : 0, 1);
  put(v.scale, 4);
  return static_cast<std::int64_t>(bits);
}

constexpr VideoOperands video_operands(std::int64_t packed) {
  auto bits = static_cast<std::uint64_t>(packed);
  const auto take = [&](unsigned width) {
    const auto value = static_cast<std::uint8_t>(bits & ((1u << width) - 1));
    bits >>= width;
    return value;
  };
  VideoOperands v;
  v.scale = take(4);
  for (bool* const flag : {&v.plus_one, &v.negated_c, &v.negated_b, &v.negated_a}) {
    *flag = take(1) != 0;
  }
  v.mask = take(4);
  for (unsigned i = 4; i-- > 0;) v.of_b[i] = take(3);
  for (unsigned i = 4; i-- > 0;) v.of_a[i] = take(3);
  for (VideoOperands::BitField* const part : {&v.b, &v.a, &v.d}) {
    part->bits = static_cast<std::uint8_t>(8 * take(3));
    part->begin = static_cast<std::uint8_t>(8 * take(2));
  }
  return v;
}

}  // namespace warpcheck::vgpu
