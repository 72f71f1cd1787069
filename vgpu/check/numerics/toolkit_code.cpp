#include "vgpu/check/numerics/toolkit_code.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "vgpu/check/numerics/float_rows.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

// Calls visit(instruction) for those before pc, the nearest first, until it returns true.  Returns
// whether it has.
template <class Visit>
bool any_before(const Program& program, std::uint32_t pc, std::uint32_t count, Visit visit) {
  for (std::uint32_t at = pc; at != 0 && pc - at < count; --at) {
    if (visit(program.code[at - 1])) return true;
  }
  return false;
}

template <class Number>
Number literal(const Program& program, const Ref& ref) {
  Number value{};
  std::memcpy(&value, program.constants.data() + ref.offset, sizeof value);
  return value;
}

bool is_literal(const Program& program, const Ref& ref, std::uint32_t value) {
  return ref.bank == Bank::constant && literal<std::uint32_t>(program, ref) == value;
}

bool is_zero_test(const Program& program, const Instr& instr) {
  if (instr.opcode != Opcode::setp_ || instr.modifiers.compare != ptx::Compare::eq) return false;
  const FloatFormat format = float_format_of(instr.modifiers.type);
  const Ref& b = instr[CompareOperand::b];
  return format != FloatFormat::none && b.bank == Bank::constant &&
         float_at(format, program.constants.data() + b.offset, 0) == 0;
}

// Returns whether an operand is the NaN that the toolkit's functions give.  NAN and nan("") are
// others; CUDART_NAN is the same.
bool is_nan_of_toolkit(const Program& program, const Ref& ref, Type type) {
  if (ref.bank != Bank::constant) return false;
  switch (ptx::bytes_of(type)) {
    // The second one is that of a double, converted by the compiler.
    case 4: return is_literal(program, ref, 0x7fff'ffff) || is_literal(program, ref, 0xffc0'0000);
    case 8: return literal<std::uint64_t>(program, ref) == 0xfff8'0000'0000'0000;
    default: return false;
  }
}

bool rounds_down_or_off(const Instr& instr) {
  const ptx::Rounding rounding = instr.modifiers.rounding;
  return instr.opcode == Opcode::cvt_ &&
         float_format_of(instr.modifiers.type) != FloatFormat::none &&
         instr.modifiers.type == instr.modifiers.source_type &&
         (rounding == ptx::Rounding::rmi || rounding == ptx::Rounding::rzi);
}

// Whether an instruction asks if the bits of a float, or of the upper half of a double, are those
// of an infinity or a NaN.
bool tests_special_bits(const Program& program, const Instr& instr) {
  const Ref& b = instr[CompareOperand::b];
  return instr.opcode == Opcode::setp_ && ptx::bytes_of(instr.modifiers.type) == 4 &&
         float_format_of(instr.modifiers.type) == FloatFormat::none &&
         (is_literal(program, b, 0x7f7f'ffff) || is_literal(program, b, 0x7f80'0000) ||
          is_literal(program, b, 0x7fef'ffff));
}

// Functions with a domain, a pole or a bound.  In unoptimised code they are no part of their
// callers.
std::string_view toolkit_function(const Program& program, std::uint32_t pc) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"acosh",         "asin",      "atanh",      "cosh",    "cyl_bessel_i0",
       "cyl_bessel_i1", "erfcinv",   "erfcx",      "erfinv",  "exp10",
       "exp2",          "exp",       "expm1",      "fmod",    "jn",
       "lgamma",        "log10",     "log1p",      "log2",    "log",
       "logb",          "nextafter", "normcdfinv", "pow",     "rcbrt",
       "remainder",     "remquo",    "rhypot",     "rnorm3d", "rnorm4d",
       "sinh",          "tgamma",    "y0",         "y1",      "yn",
       "acos"});
  const std::string_view name = program.functions[program.function_of(pc)].name;
  std::string_view stem = name;
  if (stem.ends_with('f')) stem.remove_suffix(1);
  const bool is_known = std::ranges::find(kNames, name) != kNames.end() ||
                        std::ranges::find(kNames, stem) != kNames.end();
  return is_known ? name : std::string_view();
}

// Returns the function whose code ends in a literal NaN here; empty: none does.
std::string_view function_around(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 12;
  std::string_view what;
  // pow() and tgamma() ask whether a number is whole.
  any_before(program, pc, kLength, [&](const Instr& compared) {
    if (tests_special_bits(program, compared)) what = "fmod() or remainder()";
    if (compared.opcode != Opcode::setp_) return !what.empty();
    any_before(program, pc, kLength, [&](const Instr& rounded) {
      if (!rounds_down_or_off(rounded)) return false;
      const Ref& whole = rounded[ComputeOperand::d];
      if (compared[CompareOperand::a] == whole || compared[CompareOperand::b] == whole)
        what = rounded.modifiers.rounding == ptx::Rounding::rmi ? "powf()" : "pow() or tgamma()";
      return !what.empty();
    });
    return !what.empty();
  });
  // asin() of a double takes the root of what is left to 1, and asks for its sign.
  const Instr& chosen = program.code[pc];
  if (what.empty() && chosen.opcode == Opcode::selp_ &&
      any_before(program, pc, 3,
                 [&](const Instr& test) {
                   return test.opcode == Opcode::setp_ && test.modifiers.type == Type::s32 &&
                          test.modifiers.compare == ptx::Compare::lt &&
                          test[CompareOperand::p] == chosen[ComputeOperand::c] &&
                          is_literal(program, test[CompareOperand::b], 0);
                 }) &&
      any_before(program, pc, 2 * kLength, [](const Instr& root) {
        return root.opcode == Opcode::rsqrt_ && root.modifiers.type == Type::f64;
      })) {
    what = "asin()";
  }
  // powf() with a constant exponent asks only for the sign; 2^152 and more are infinite.
  if (what.empty() && any_before(program, pc, 4 * kLength, [&](const Instr& other) {
        return other.opcode == Opcode::setp_ && other.modifiers.type == Type::f32 &&
               is_literal(program, other[CompareOperand::b], 0x4318'0000);
      })) {
    what = "powf()";
  }
  return what;
}

// Returns the function that compares a number with the bound from which it overflows; empty: none.
std::string_view function_with_bound(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 40;  // from the power of 2 on
  const Instr& instr = program.code[pc];
  const ptx::Compare how = instr.modifiers.compare;
  if (instr.opcode != Opcode::setp_ || (how != ptx::Compare::gt && how != ptx::Compare::ge))
    return {};
  const Ref& bound = instr[CompareOperand::b];
  if (bound.bank != Bank::constant) return {};
  if (instr.modifiers.type == Type::f64) {
    switch (literal<std::uint64_t>(program, bound)) {
      case 0x4086'33ce'8fb9'f87e: return "sinh()";
      case 0x4065'73fa'e561'f648: return "tgamma()";
      default: return {};
    }
  }
  if (instr.modifiers.type != Type::f32) return {};
  if (is_literal(program, bound, 0x4318'0000)) return "powf()";  // 2^152
  const bool is_power =
      is_literal(program, bound, 0x4300'0000) &&  // 2^128
      any_before(program, pc, kLength, [&](const Instr& other) {
        return other.opcode == Opcode::ex2_ && other[ComputeOperand::a] == instr[CompareOperand::a];
      });
  return is_power ? "expm1f()" : std::string_view();
}

// Returns whether an instruction asks if a double is a NaN, by comparing it with the infinity.
bool asks_for_nan(const Program& program, const Instr& test, ptx::Compare how) {
  constexpr std::uint64_t kInfinity = 0x7ff0'0000'0000'0000;
  const Ref& b = test[CompareOperand::b];
  return test.opcode == Opcode::setp_ && test.modifiers.type == Type::f64 &&
         test.modifiers.compare == how && b.bank == Bank::constant &&
         literal<std::uint64_t>(program, b) == kInfinity;
}

// Returns the argument for which exp2(), exp10(), expm1() or cosh() of a double selects a literal
// infinity here; none: it is other code.  The first three take `x is a NaN ? x + x : selected`
// afterwards, the last one selects `x is a number ? infinity : x`.
Ref argument_beyond_exponents(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 6;
  const Instr& instr = program.code[pc];
  if (instr.opcode != Opcode::selp_ || instr.modifiers.type != Type::f64) return {};
  const Ref& x = instr[ComputeOperand::b];
  const bool is_last = any_before(program, pc, kLength, [&](const Instr& test) {
    return asks_for_nan(program, test, ptx::Compare::le) && test[CompareOperand::a] == x &&
           test[CompareOperand::p] == instr[ComputeOperand::c];
  });
  if (is_last) return x;
  const auto end = std::min<std::size_t>(program.code.size(), std::size_t{pc} + kLength);
  for (std::uint32_t at = pc + 1; at < end; ++at) {
    const Instr& last = program.code[at];
    if (last.opcode != Opcode::selp_ || !(last[ComputeOperand::b] == instr[ComputeOperand::d]))
      continue;
    const bool tests = any_before(program, at, 2 * kLength, [&](const Instr& test) {
      return asks_for_nan(program, test, ptx::Compare::gtu) &&
             test[CompareOperand::p] == last[ComputeOperand::c];
    });
    Ref doubled;
    any_before(program, at, 2 * kLength, [&](const Instr& sum) {
      const bool is_double = sum.opcode == Opcode::add_ &&
                             sum[ComputeOperand::d] == last[ComputeOperand::a] &&
                             sum[ComputeOperand::a] == sum[ComputeOperand::b];
      if (is_double) doubled = sum[ComputeOperand::a];
      return is_double;
    });
    return tests ? doubled : Ref{};
  }
  return {};
}

// Returns what a conversion to a float of 8 bits gives if it does not saturate: it compares the
// bits of a double with those of the largest number that is rounded to one that fits.
OutsideDomain beyond_byte(const Program& program, std::uint32_t pc) {
  struct Format {
    std::string_view name;
    std::uint64_t most;
    std::uint32_t special;
  };
  static constexpr std::array<Format, 2> kFormats{
      {{"e4m3", 0x407d'0000'0000'0000, 0x7f}, {"e5m2", 0x40ed'ffff'ffff'ffff, 0x7c}}};
  const Instr& instr = program.code[pc];
  if (pc == 0 || pc + 1 == program.code.size()) return {};
  const Instr &test = program.code[pc - 1], &branch = program.code[pc + 1];
  const Ref& bound = test[CompareOperand::b];
  const bool is_branch =
      test.opcode == Opcode::setp_ && bound.bank == Bank::constant &&
      test.modifiers.type == Type::u64 && test.modifiers.compare == ptx::Compare::gt &&
      branch.kind == InstrKind::branch && branch.guard == test[CompareOperand::p];
  if (!is_branch) return {};
  // e4m3 and e5m2 each have a NaN of their own.
  constexpr std::uint64_t kInfinity = 0x7ff0'0000'0000'0000;
  const bool is_nan = is_literal(program, instr[ComputeOperand::a], 0x7f) ||
                      is_literal(program, instr[ComputeOperand::a], 0x7e);
  if (is_nan && literal<std::uint64_t>(program, bound) == kInfinity) {
    return {.what = "a float of 8 bits",
            .guard = branch.guard,
            .is_guard_negated = branch.guard_negated,
            .nan = test[CompareOperand::a]};
  }
  for (const Format& format : kFormats) {
    if (literal<std::uint64_t>(program, bound) != format.most ||
        !is_literal(program, instr[ComputeOperand::a], format.special)) {
      continue;
    }
    return {.what = format.name,
            .guard = branch.guard,
            .is_guard_negated = branch.guard_negated,
            .number = test[CompareOperand::a],
            .gives_infinity = format.special == 0x7c};
  }
  return {};
}

// The comparison that sets a predicate, of the instructions before; null: none of them does.
const Instr* test_of(const Program& program, std::uint32_t pc, const Ref& predicate) {
  constexpr std::uint32_t kLength = 4;
  const Instr* found = nullptr;
  any_before(program, pc, kLength, [&](const Instr& other) {
    const bool is_it = other.opcode == Opcode::setp_ && other[CompareOperand::p] == predicate;
    if (is_it) found = &other;
    return is_it;
  });
  return found;
}

// In optimised code, e5m2: a branch leads here if a double is a NaN.
OutsideDomain wide_byte_of_nan(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 64;
  constexpr std::uint64_t kInfinity = 0x7ff0'0000'0000'0000;
  OutsideDomain found;
  if (!is_literal(program, program.code[pc][ComputeOperand::b], 0x7e)) return found;
  for (std::uint32_t at = pc; at-- != 0 && pc - at < kLength && found.what.empty();) {
    const Instr& branch = program.code[at];
    if (branch.kind != InstrKind::branch || branch.target != pc) continue;
    const Instr* const test = test_of(program, at, branch.guard);
    if (test == nullptr || test->modifiers.type != Type::u64 ||
        test->modifiers.compare != ptx::Compare::gt) {
      continue;
    }
    const Ref& bound = (*test)[CompareOperand::b];
    if (bound.bank == Bank::constant && literal<std::uint64_t>(program, bound) == kInfinity)
      found = {.what = "a float of 8 bits", .nan = (*test)[CompareOperand::a]};
  }
  return found;
}

// In unoptimised code: the NaN that a conversion to a float of 8 bits gives for a NaN, which is its
// parameter.  Before sm_89, that of a float gives a literal NaN to that of a double.
OutsideDomain byte_of_nan(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 14, kParameters = 8;
  const std::string_view name = program.functions[program.function_of(pc)].name;
  const Instr& instr = program.code[pc];
  const bool moves = instr.opcode == Opcode::mov_;
  const Ref& by = instr[moves ? ComputeOperand::a : ComputeOperand::b];
  bool is_nan = false;
  if (name.find("__nv_cvt_float_to_fp8") != std::string_view::npos) {
    is_nan = moves && is_literal(program, by, 0x7fff'ffff);
  } else if (name.find("__nv_cvt_double_to_fp8") != std::string_view::npos) {
    // e4m3 has one NaN of either sign, e5m2 keeps the sign.
    is_nan = (is_literal(program, by, 0x7f) || (!moves && is_literal(program, by, 0x7e))) &&
             any_before(program, pc, kLength, [&](const Instr& test) {
               constexpr std::uint64_t kInfinity = 0x7ff0'0000'0000'0000;
               const Ref& bound = test[CompareOperand::b];
               return test.opcode == Opcode::setp_ && test.modifiers.type == Type::u64 &&
                      test.modifiers.compare == ptx::Compare::gt && bound.bank == Bank::constant &&
                      literal<std::uint64_t>(program, bound) == kInfinity;
             });
  }
  if (!is_nan) return moves ? OutsideDomain{} : wide_byte_of_nan(program, pc);
  const std::uint32_t entry = program.functions[program.function_of(pc)].entry;
  for (std::uint32_t at = entry; at < pc && at < entry + kParameters; ++at) {
    if (program.source_of(at).text.starts_with("ld.param.f"))
      return {.what = "a float of 8 bits", .nan = program.code[at][ComputeOperand::d]};
  }
  return {};
}

bool is_number(const Program& program, const Ref& ref, Type type, double number) {
  const FloatFormat format = float_format_of(type);
  return ref.bank == Bank::constant && format != FloatFormat::none &&
         float_at(format, program.constants.data() + ref.offset, 0) == number;
}

bool is_infinity(const Program& program, const Ref& ref, Type type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return is_number(program, ref, type, kInfinity) || is_number(program, ref, type, -kInfinity);
}

// In unoptimised code: a literal in one of the toolkit's functions that is moved on, as the result
// of one of several branches is, and not calculated with.
OutsideDomain special_of_function(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 8;  // in which the parameters are read
  const Instr& instr = program.code[pc];
  const Type type = instr.modifiers.type;
  const Ref& literal_at = instr[ComputeOperand::a];
  const bool is_inf = is_infinity(program, literal_at, type);
  const bool is_special = is_inf || is_nan_of_toolkit(program, literal_at, type);
  if (instr.opcode != Opcode::mov_ || !is_special || pc + 1 >= program.code.size()) return {};
  const std::string_view name = toolkit_function(program, pc);
  const Instr& next = program.code[pc + 1];
  if (name.empty() || next.opcode != Opcode::mov_ ||
      !(next[ComputeOperand::a] == instr[ComputeOperand::d])) {
    return {};
  }
  OutsideDomain found{.what = name, .gives_infinity = is_inf};
  const std::uint32_t entry = program.functions[program.function_of(pc)].entry;
  std::size_t count = 0;
  for (std::uint32_t at = entry; at < pc && at < entry + kLength; ++at) {
    if (!program.source_of(at).text.starts_with("ld.param.f")) continue;
    found.arguments[count++] = program.code[at][ComputeOperand::d];
    if (count == found.arguments.size()) break;
  }
  return count == 0 ? OutsideDomain{} : found;
}

// In optimised code: a literal infinity, or an infinity or a NaN, at a pole of a function.
OutsideDomain pole_of(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kNear = 8, kAfter = 26;
  const Instr& instr = program.code[pc];
  const Type type = instr.modifiers.type;
  if (!is_infinity(program, instr[ComputeOperand::a], type)) return {};
  const auto counts_zeros = [](const Instr& other) { return other.opcode == Opcode::clz_; };
  if (instr.opcode == Opcode::selp_) {
    const Instr* const test = test_of(program, pc, instr[ComputeOperand::c]);
    if (test == nullptr || test->modifiers.compare != ptx::Compare::eq) return {};
    OutsideDomain found{.arguments = {(*test)[CompareOperand::a]}, .gives_infinity = true};
    const Ref& bound = (*test)[CompareOperand::b];
    const Type tested = test->modifiers.type;
    const bool is_zero = is_number(program, bound, tested, 0);
    // A program's own code selects between an infinity and a number.
    if (is_nan_of_toolkit(program, instr[ComputeOperand::b], type)) {
      if (is_number(program, bound, tested, 1)) found.what = "erfinv";
      if (is_zero) found.what = "a Bessel function of ";
      found.is_up_to_zero = is_zero;
    } else if (is_zero && any_before(program, pc, kNear, counts_zeros)) {
      found.what = "logb";
    }
    return found;
  }
  if (pc + 1 >= program.code.size() || program.code[pc + 1].kind != InstrKind::branch) return {};
  const Instr& branch = program.code[pc + 1];
  const Instr* const test = test_of(program, pc, branch.guard);
  if (test == nullptr || test->modifiers.compare != ptx::Compare::eq) return {};
  OutsideDomain found{.arguments = {(*test)[CompareOperand::a]},
                      .guard = branch.guard,
                      .is_guard_negated = branch.guard_negated,
                      .gives_infinity = true};
  // lgamma() asks whether the number without its sign is whole.
  const bool is_whole = any_before(program, pc, kNear, [&](const Instr& rounded) {
    return rounds_down_or_off(rounded) &&
           rounded[ComputeOperand::d] == (*test)[CompareOperand::b] &&
           rounded[ComputeOperand::a] == (*test)[CompareOperand::a];
  });
  const auto end = std::min<std::size_t>(program.code.size(), std::size_t{pc} + kAfter);
  const std::span<const Instr> after(program.code.begin() + pc, program.code.begin() + end);
  if (is_whole) {
    found.what = "lgamma";
    found.is_negative = true;
  } else if (is_number(program, (*test)[CompareOperand::b], test->modifiers.type, 0) &&
             std::ranges::any_of(after, counts_zeros)) {
    found.what = "logb";
  }
  return found;
}

// fmod() and remainder() ask for the sign of the divisor, and for the bits of the number.
std::array<Ref, 3> arguments_of_remainder(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 12;
  std::array<Ref, 3> arguments{};
  any_before(program, pc, kLength, [&](const Instr& test) {
    if (test.opcode != Opcode::setp_) return false;
    const Ref& b = test[CompareOperand::b];
    if (is_number(program, b, test.modifiers.type, 0)) arguments[0] = test[CompareOperand::a];
    if (tests_special_bits(program, test) && is_literal(program, b, 0x7f7f'ffff))
      arguments[1] = test[CompareOperand::a];
    return false;
  });
  return arguments;
}

// Y of a negative number: its code has the terms of one of its expansions.
OutsideDomain bessel_of_negative(const Program& program, std::uint32_t pc) {
  const Instr& instr = program.code[pc];
  const bool moves = instr.opcode == Opcode::mov_;
  if (moves && pc + 1 >= program.code.size()) return {};
  const Ref& chosen = moves ? program.code[pc + 1].guard : instr[ComputeOperand::c];
  const Instr* const test = test_of(program, pc, chosen);
  if (test == nullptr) return {};
  const ptx::Compare how = test->modifiers.compare;
  const bool asks_for_sign =
      (how == ptx::Compare::lt || how == ptx::Compare::ltu || how == ptx::Compare::le) &&
      is_number(program, (*test)[CompareOperand::b], test->modifiers.type, 0);
  if (!asks_for_sign) return {};
  const auto has_term = [&](const Instr& other) {
    if (other.kind != InstrKind::compute) return false;
    return std::ranges::any_of(
        std::array{other[ComputeOperand::a], other[ComputeOperand::b], other[ComputeOperand::c]},
        [&](const Ref& ref) {
          if (ref.bank != Bank::constant) return false;
          const auto term = literal<std::uint64_t>(program, ref);
          return is_literal(program, ref, 0xbd97'26b5) || is_literal(program, ref, 0xbe48'c331) ||
                 term == 0xbfe9'21fb'5444'2d18 || term == 0xc002'd97c'7f33'21d2;
        });
  };
  if (!std::ranges::any_of(program.code, has_term)) return {};
  return {.what = "a Bessel function of ", .arguments = {(*test)[CompareOperand::a]}};
}

}  // namespace

bool is_logarithm_of_zero(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 12;  // from that sum on
  const Instr& instr = program.code[pc];
  const FloatFormat format = float_format_of(instr.modifiers.type);
  const Ref& infinity = instr[ComputeOperand::a];
  if (instr.opcode != Opcode::selp_ || format == FloatFormat::none ||
      infinity.bank != Bank::constant ||
      specials_in(format, program.constants.data() + infinity.offset).any == 0) {
    return false;
  }
  bool tests_zero = false, has_sum = false;
  any_before(program, pc, kLength, [&](const Instr& other) {
    tests_zero |=
        is_zero_test(program, other) && other[CompareOperand::p] == instr[ComputeOperand::c];
    has_sum |= other.opcode == Opcode::fma_ && other[ComputeOperand::b] == other[ComputeOperand::c];
    return false;
  });
  return tests_zero && has_sum;
}

bool adds_infinity(const Program& program, const Instr& instr) {
  const Ref& b = instr[ComputeOperand::b];
  return instr.opcode == Opcode::add_ && instr.modifiers.type == Type::f64 &&
         instr.kind == InstrKind::compute && b.bank == Bank::constant &&
         float_at(FloatFormat::f64, program.constants.data() + b.offset, 0) ==
             std::numeric_limits<double>::infinity();
}

OutsideDomain outside_domain_of(const Program& program, std::uint32_t pc) {
  const Instr& instr = program.code[pc];
  if (instr.kind != InstrKind::compute) return {};
  const bool moves = instr.opcode == Opcode::mov_ && instr[ComputeOperand::b].bank == Bank::none;
  if (moves || instr.opcode == Opcode::or_) {
    if (OutsideDomain found = byte_of_nan(program, pc); !found.what.empty()) return found;
  }
  if (!moves && instr.opcode != Opcode::selp_) return {};
  const Type type = instr.modifiers.type;
  if (moves && ptx::bytes_of(type) == 4) {
    if (const OutsideDomain beyond = beyond_byte(program, pc); !beyond.what.empty()) return beyond;
  }
  if (OutsideDomain found = special_of_function(program, pc); !found.what.empty()) return found;
  if (OutsideDomain found = pole_of(program, pc); !found.what.empty()) return found;
  const bool is_nan = is_nan_of_toolkit(program, instr[ComputeOperand::a], type) ||
                      (!moves && is_nan_of_toolkit(program, instr[ComputeOperand::b], type));
  if (!is_nan) return {};
  OutsideDomain outside{.what = function_around(program, pc)};
  if (outside.what == "fmod() or remainder()")
    outside.arguments = arguments_of_remainder(program, pc);
  if (outside.what.empty()) outside = bessel_of_negative(program, pc);
  const bool has_next = pc + 1 < program.code.size();
  if (!outside.what.empty() && moves && has_next &&
      program.code[pc + 1].kind == InstrKind::branch) {
    outside.guard = program.code[pc + 1].guard;
    outside.is_guard_negated = program.code[pc + 1].guard_negated;
  }
  return outside;
}

BeyondBound beyond_bound_of(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 16;
  const Instr& instr = program.code[pc];
  if (instr.kind != InstrKind::compute) return {};
  const bool moves = instr.opcode == Opcode::mov_ && instr[ComputeOperand::b].bank == Bank::none;
  const FloatFormat format = float_format_of(instr.modifiers.type);
  if ((!moves && instr.opcode != Opcode::selp_) || format == FloatFormat::none) return {};
  const auto is_infinity = [&](const Ref& ref) {
    return ref.bank == Bank::constant && float_at(format, program.constants.data() + ref.offset,
                                                  0) == std::numeric_limits<double>::infinity();
  };
  if (!is_infinity(instr[ComputeOperand::a]) && (moves || !is_infinity(instr[ComputeOperand::b])))
    return {};
  BeyondBound found;
  for (std::uint32_t at = pc; at != 0 && pc - at < kLength && found.what.empty(); --at) {
    found.what = function_with_bound(program, at - 1);
    if (found.what.empty()) continue;
    const Instr& test = program.code[at - 1];
    found.compared = test[CompareOperand::a];
    found.bound = float_at(format, program.constants.data() + test[CompareOperand::b].offset, 0);
  }
  if (found.what.empty()) {
    found.compared = argument_beyond_exponents(program, pc);
    found.bound = std::numeric_limits<double>::lowest();
    if (found.compared.bank != Bank::none) found.what = "exp2(), exp10(), expm1() or cosh()";
  }
  return found;
}

bool makes_quadrant(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 3;
  const Instr& instr = program.code[pc];
  return any_before(program, pc, kLength, [&](const Instr& product) {
    if (product.opcode != Opcode::mul_ ||
        !(product[ComputeOperand::d] == instr[ComputeOperand::a])) {
      return false;
    }
    const Ref& factor = product[ComputeOperand::b];  // 2 / pi
    if (factor.bank != Bank::constant) return false;
    return product.modifiers.type == Type::f64
               ? literal<std::uint64_t>(program, factor) == 0x3fe4'5f30'6dc9'c883
               : is_literal(program, factor, 0x3f22'f983);
  });
}

Ref nan_becoming_bfloat(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 12, kNan = 0x7fff;
  constexpr std::uint64_t kNanOfDouble = 0x7fff'ffff'e000'0000;
  const Instr& instr = program.code[pc];
  Ref found;
  if (instr.opcode != Opcode::selp_) return found;
  const Ref& nan = instr[ComputeOperand::a];
  const bool is_wide = ptx::bytes_of(instr.modifiers.type) == 8;
  const bool is_nan =
      is_wide ? nan.bank == Bank::constant && literal<std::uint64_t>(program, nan) == kNanOfDouble
              : is_literal(program, nan, kNan);
  if (!is_nan) return found;
  any_before(program, pc, kLength, [&](const Instr& other) {
    if (!tests_special_bits(program, other) ||
        !(other[CompareOperand::p] == instr[ComputeOperand::c])) {
      return false;
    }
    found = other[CompareOperand::a];
    return true;
  });
  return found;
}

bool rounds_bfloat_up(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 16;
  const Instr& instr = program.code[pc];
  if (instr.opcode != Opcode::add_ || ptx::bytes_of(instr.modifiers.type) > 4 ||
      float_format_of(instr.modifiers.type) != FloatFormat::none) {
    return false;
  }
  for (std::uint32_t at = pc - std::min(pc, kLength); at < pc; ++at) {
    const bool is_same = program.code[at].opcode == Opcode::selp_ &&
                         program.code[at][ComputeOperand::d] == instr[ComputeOperand::a];
    if (is_same && nan_becoming_bfloat(program, at).bank != Bank::none) return true;
  }
  return false;
}

}  // namespace warpcheck::vgpu
