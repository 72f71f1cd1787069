// The toolkit's functions, which nvcc compiles into their callers: the places in their code where a
// special value is made of bits or literals, so that no operation on floats makes it.
//
// A literal NaN or infinity in a program's own code is meant.  So each of these places is known by
// what stands around it, and none by its literal alone.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns whether a selection ends a logarithm: an infinity if the value is 0, else, outside the
// domain, x * inf + inf.
bool is_logarithm_of_zero(const Program& program, std::uint32_t pc);

// Returns whether an instruction adds a literal infinity to a double, by which exp(double)
// overflows.
bool adds_infinity(const Program& program, const Instr& instr);

// A literal NaN that a function gives outside its domain, or a literal infinity at a pole.
struct OutsideDomain {
  std::string_view what{};  // which function; empty: the instruction gives none
  // The function's arguments, as far as they are known: of a NaN the literal is none of their
  // domain's, and of an infinity an infinity is none.
  std::array<Ref, 3> arguments{};
  bool is_negative = false;    // the first one is kept without its sign, and is below 0
  bool is_up_to_zero = false;  // the literal is dropped afterwards where the first one is above 0
  // The lanes that keep the literal are those that take the branch behind it; none: all.
  Ref guard{};
  bool is_guard_negated = false;
  // The bits of a double: the literal is what a NaN that they have becomes.
  Ref nan{};
  // The double that does not fit in a float of 8 bits, `what`; none: it is another function.
  Ref number{};
  bool gives_infinity = false;  // as e5m2 does
};
// Of pow(), fmod(), remainder(), tgamma(), lgamma(), logb(), erfinv() and Bessel functions, for a
// move or a selection; of conversions to floats of 8 bits that do not saturate; in unoptimised
// code, of every function.
OutsideDomain outside_domain_of(const Program& program, std::uint32_t pc);

// A literal infinity that a function gives beyond a bound of a number that it has calculated.
struct BeyondBound {
  std::string_view what{};  // which function; empty: the instruction gives none
  Ref compared{};           // with the bound; infinite: so was the argument
  double bound = 0;
};
// Of powf(), expm1f(), sinh(double) and tgamma(double), for a move or a selection.
BeyondBound beyond_bound_of(const Program& program, std::uint32_t pc);

// Returns whether a conversion makes the quadrant of an angle, from which functions of angles take
// the place of their coefficients: it is some quadrant for a NaN.
bool makes_quadrant(const Program& program, std::uint32_t pc);

// Conversions to bf16 for targets below sm_80 calculate with integers.  Returns the row of the
// float, without its sign, of which a selection has found that it is a NaN, so that it gives the
// literal NaN of bf16; none: it does something else.  Conversions to floats of 8 bits do the same
// for a double first.
Ref nan_becoming_bfloat(const Program& program, std::uint32_t pc);
// Returns whether an instruction rounds a bf16 up, by adding 1 to its bits.
bool rounds_bfloat_up(const Program& program, std::uint32_t pc);

}  // namespace warpcheck::vgpu
