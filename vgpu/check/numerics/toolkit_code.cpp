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
    case 4: return literal<std::uint32_t>(program, ref) == 0x7fff'ffff;
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

// In unoptimised code the functions are no part of their callers.
bool is_in_one_of(std::span<const std::string_view> names, const Program& program,
                  std::uint32_t pc) {
  const std::string_view name = program.functions[program.function_of(pc)].name;
  return std::ranges::find(names, name) != names.end();
}
bool is_in_logarithm(const Program& program, std::uint32_t pc) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"lgamma", "lgammaf", "log", "log10", "log10f", "log1p", "log2", "log2f", "logf"});
  return is_in_one_of(kNames, program, pc);
}
bool is_in_function_with_domain(const Program& program, std::uint32_t pc) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"fmod", "fmodf", "pow", "powf", "remainder", "remainderf",
                                       "remquo", "remquof", "tgamma", "tgammaf"});
  return is_in_one_of(kNames, program, pc);
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
  if (what.empty() && is_in_function_with_domain(program, pc)) what = "a function of the toolkit";
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
    const bool is_bound = literal<std::uint64_t>(program, bound) == 0x4086'33ce'8fb9'f87e;
    return is_bound ? "sinh()" : std::string_view();
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

}  // namespace

bool is_logarithm_of_zero(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 12;  // from that sum on
  const Instr& instr = program.code[pc];
  const FloatFormat format = float_format_of(instr.modifiers.type);
  const Ref& infinity = instr[ComputeOperand::a];
  if (instr.opcode == Opcode::mov_ && format != FloatFormat::none && is_in_logarithm(program, pc)) {
    return infinity.bank == Bank::constant &&
           float_at(format, program.constants.data() + infinity.offset, 0) ==
               -std::numeric_limits<double>::infinity();
  }
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
  if (!moves && instr.opcode != Opcode::selp_) return {};
  const Type type = instr.modifiers.type;
  if (moves && ptx::bytes_of(type) == 4) {
    if (const OutsideDomain beyond = beyond_byte(program, pc); !beyond.what.empty()) return beyond;
  }
  const bool is_nan = is_nan_of_toolkit(program, instr[ComputeOperand::a], type) ||
                      (!moves && is_nan_of_toolkit(program, instr[ComputeOperand::b], type));
  if (!is_nan) return {};
  OutsideDomain outside{.what = function_around(program, pc)};
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

Ref nan_becoming_bfloat(const Program& program, std::uint32_t pc) {
  constexpr std::uint32_t kLength = 12, kNan = 0x7fff;
  const Instr& instr = program.code[pc];
  Ref found;
  if (instr.opcode != Opcode::selp_ || ptx::bytes_of(instr.modifiers.type) > 4 ||
      !is_literal(program, instr[ComputeOperand::a], kNan)) {
    return found;
  }
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
