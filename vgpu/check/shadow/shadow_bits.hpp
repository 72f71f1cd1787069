// Where the bytes of a result come from, of an instruction on bits: logic, shifts, fields,
// permutations.
//
// Each bit of such a result depends on at most one bit of data, if the other operands are constants
// (no byte is data in two operands of a logical instruction; what selects bits is constant).  So
// the instruction is executed with all bits of data 0 and all 1, which shows the results that
// depend on data and those that are its bits; and once for each binary digit of the bits' numbers,
// which shows which bit each is.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// The operands of one lane: their bits, and which bytes are data.
struct ShadowBits {
  std::array<std::uint64_t, 4> value{};   // a, b, c, f
  std::array<std::uint8_t, 4> of_data{};  // one bit for each byte
};

// Where a byte of the result comes from.
struct ShadowByte {
  enum class Kind : std::uint8_t { plain, moved, mixed };
  Kind kind = Kind::mixed;
  std::uint8_t operand = 0, byte = 0;  // moved: which byte of which source
};

struct ShadowBytes {
  bool is_known = false;  // false: the conditions do not hold
  std::array<ShadowByte, 8> bytes{};
};
[[nodiscard]] ShadowBytes shadow_bytes_of(const Instr& instr, const ShadowBits& operands);

}  // namespace warpcheck::vgpu
