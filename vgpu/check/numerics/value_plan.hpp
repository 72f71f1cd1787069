// What each instruction of a program does with numbers, decided once for a program.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/check/numerics/float_rows.hpp"
#include "vgpu/check/numerics/toolkit_code.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// How the tags of an instruction's results follow from those of its sources.
enum class ValueRule : std::uint8_t {
  nothing,   // it has no results
  replaces,  // the results have no tags
  moves,     // the results are bits of the sources, or a quotient of integers
  selects,   // selp, slct: those of one source
  shuffles,  // shfl: those of another lane
  computes,  // floats of floats: a special result has the tag of a special source, or a new one
  extremes,  // min and max of floats, which drop a NaN
  extremes_of_integers,
  rounds_to_integer,
  compares,           // floats
  adds_integers,      // sums and products, also wider ones
  compares_integers,  // of 32 bits
  loads,
  stores,
  updates,  // atomics
  copies,   // from memory to memory
  prints,
  multiplies_matrices,
};

// A function of the toolkit that an instruction is a step of.
enum class FunctionStep : std::uint8_t {
  none,
  exponential,         // of expf(): 2^fraction times 2^whole
  scaled_exponential,  // of __expf(): 2 to the power of x * log2(e)
  arc,                 // of acosf() and asinf(): the root of (1 - x) / 2
};

struct ValuePlan {
  ValueRule rule = ValueRule::nothing;
  FloatFormat source = FloatFormat::none, result = FloatFormat::none;
  // A source's row is a result's row too, so sources are read before the instruction is executed.
  bool is_in_place = false;
  // The instruction may make a first tag.
  bool makes_tags = false;
  // Flushes subnormal operands and results to zero.
  bool flushes = false;
  // adds_integers: the result may become an address or a bound.
  bool is_index = false;
  // adds_integers: the result is divided as an unsigned integer, as the index of a ring is.
  bool is_unsigned_dividend = false;
  // moves: a quotient or remainder of unsigned words.
  bool divides_unsigned = false;
  // adds_integers: the second addend, or what is subtracted, is a constant.
  bool adds_constant = false;
  // updates: an integer atomic whose operand is, as the code shows, the bits of a float.
  bool is_of_float_bits = false;
  // updates: of unsigned integers, beside the opposite one of signed integers: v >= 0 ?
  // atomicMax((int*)a, v) : atomicMin((unsigned*)a, v) is a maximum of floats.
  bool has_other_half = false;
  // computes: adds a literal infinity, by which the toolkit's exp(double) makes an overflow.
  bool adds_infinity = false;
  // computes: the inverse of a square root, or a quotient by one.
  bool inverts_root = false;
  FunctionStep step_of = FunctionStep::none;  // computes
  // computes: where the toolkit's logarithm makes a NaN, what it has multiplied its argument by.
  double scaled_by = 1;
  // A comparison with an infinity, by value or by bits.
  bool asks_for_special = false;
  // compares: code asks elsewhere whether an operand is a NaN.
  bool asks_for_nan = false;
  // compares_integers: asks whether a value is the one that memory or a parameter has, as code does
  // that compares a checksum with the expected one.
  bool compares_checksum = false;
  // moves: divides by 2, as the mean of two indices does.
  bool halves = false;
  // moves: divides integers, or gives their remainder.
  bool divides_integers = false;
  // moves: gives an infinity for a float that is 0, by its bits.
  bool inverts_exponent = false;
  // rounds_to_integer: the bytes that are used of the integer.
  std::uint32_t bytes_used = 4;
  // moves, selects: gives an infinity because a value is 0, in the toolkit's logarithm.
  bool is_logarithm_of_zero = false;
  // moves, selects: gives a NaN outside the domain of a function of the toolkit.
  OutsideDomain outside_domain{};
  // moves, selects: gives an infinity beyond the bound of a function of the toolkit.
  BeyondBound beyond_bound{};
  // moves: makes a half of an integer.
  bool makes_half = false;
  // selects: gives the NaN of bf16 for the NaN that is in this row.
  Ref becomes_bfloat{};
  // adds_integers: to the bits of a bf16, which may become those of an infinity.
  bool rounds_bfloat_up = false;
  std::vector<Ref> results;
};

// Returns the plan of each instruction, by pc.
std::vector<ValuePlan> plan_values(const Program& program);

}  // namespace warpcheck::vgpu
