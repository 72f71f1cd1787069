// How a compute instruction treats shadow values, whatever their domain is: what it moves, and what
// a domain has to calculate.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/check/shadow/shadow_domain.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct ShadowRule {
  enum class Kind : std::uint8_t {
    move,        // mov of one row, cvta: d has the cells of a
    pack,        // mov d, {a, b ...}
    unpack,      // mov {d, e ...}, a
    select,      // selp
    bits,        // logic, shifts, fields, permutations: bytes move, or a domain calculates
    calculate,   // a domain calculates
    compare,     // the result is a predicate
    set,         // the result is a number that says what a comparison finds
    predicates,  // predicates from predicates
    unknown,     // the result is lost if an operand is not plain
  };
  Kind kind = Kind::unknown;
  std::uint8_t elements = 1;         // of a packed type
  std::uint8_t sources = 0;          // operands a, b, c, f that are there
  std::array<ptx::Type, 4> types{};  // of each source's elements
  ShadowOperation operation{};       // calculate, compare, bits
  // Sources, by bit, that are literals which mean themselves (exact_literals.hpp); only for domains
  // that ask for it.
  std::uint8_t exact_literals = 0;
  // Element 0 is calculated from b, and element 1 from a: cvt.rn.f16x2.f32 d, a, b.
  bool packs = false;
};

[[nodiscard]] ptx::Type element_type_of(ptx::Type type);

// Returns the rule of an instruction of kind `compute`, whose modifiers it refers to.
[[nodiscard]] ShadowRule shadow_rule_of(const Instr& instr);

}  // namespace warpcheck::vgpu
