// Floating-point results: where a NaN, an infinity or a lost value is made, and where one is
// dropped.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "vgpu/check/numerics/numerics.hpp"
#include "vgpu/check/numerics/operations.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

// Returns whether a part of a result comes from this source: cvt makes a pair of two sources, of
// which the first one is the upper part.
bool makes_part(const ValuePlan& plan, std::size_t source, std::uint32_t part) {
  const bool packs = parts_of(plan.result) == 2 && parts_of(plan.source) == 1;
  return !packs || source == 1 - part;
}

// Returns what an operation lacks if its result is infinite: "65504 + 32 does not fit in f16".
std::string text_of_infinity(const Instr& instr, FloatFormat result, const std::string& operation) {
  switch (instr.opcode) {
    case Opcode::div_:
    case Opcode::rcp_:
    case Opcode::rsqrt_:
    case Opcode::lg2_:
      // An overflow of a quotient is one, too, but not of a division by zero.
      if (operation.ends_with(" 0") || operation.ends_with("-0")) return operation;
      break;
    default: break;
  }
  return fmt::format("{} does not fit in {}", operation, name_of(result));
}

struct IntegerRange {
  double least = 0, beyond = 0;  // values in (least - 1, beyond) have a value when cut off
};
//   bytes_used: of a word, if only its low bytes are used.  Bytes of a signed word may be meant as
//   unsigned: 200 is the byte 200.
IntegerRange integer_range_of(ptx::Type type, std::uint32_t bytes_used) {
  const int bits = static_cast<int>(8 * std::min(ptx::bytes_of(type), bytes_used));
  const bool is_cut = ptx::bytes_of(type) == 4 && bytes_used < 4;
  if (is_cut && ptx::is_signed(type)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits)};
  if (ptx::is_signed(type)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1)};
  return {0, std::ldexp(1.0, bits)};
}

// Returns whether a comparison asks for NaNs.  One that is true for them (ltu ...) does not: it is
// how nvcc writes the opposite of another.
bool asks_for_nan(ptx::Compare compare) {
  return compare == ptx::Compare::nan || compare == ptx::Compare::num;
}

// Returns whether both instructions are those of one function of the toolkit, in unoptimised code.
bool are_in_toolkit(const Program& program, std::uint32_t made, std::uint32_t dropped) {
  const std::uint32_t function = program.function_of(made);
  return function != 0 && function == program.function_of(dropped) &&
         !program.functions[function].name.starts_with("_Z") &&
         program.source_of(made).location.line == 0 &&
         program.source_of(dropped).location.line == 0;
}

bool is_subnormal(double value) {
  return value != 0 && std::abs(value) < std::numeric_limits<float>::min();
}

double exact_result(Opcode opcode, double a, double b, double c) {
  switch (opcode) {
    case Opcode::add_: return a + b;
    case Opcode::sub_: return a - b;
    case Opcode::mul_: return a * b;
    default: return a * b + c;
  }
}

}  // namespace

Tag NumericsChecker::tag_of_result(const InstrStep& step, const ValuePlan& plan,
                                   const Sources& sources, unsigned lane) {
  const Instr& instr = step.program->code[step.pc];
  const std::byte* const row = row_of(*step.registers, plan.results[0]);
  for (std::uint32_t part = 0; part < parts_of(plan.result); ++part) {
    const double result = float_at(plan.result, row, lane, part);
    if (std::isfinite(result)) continue;
    std::vector<double> operands;
    bool has_special = false, has_nan = false;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Source& source = sources[i];
      if (source.row == nullptr || !makes_part(plan, i, part)) continue;
      const std::uint32_t source_part = parts_of(plan.source) == 2 ? part : 0;
      const double value = float_at(plan.source, source.row, lane, source_part);
      if (plan.adds_infinity && source.ref.bank == Bank::constant) continue;
      operands.push_back(value);
      if (std::isfinite(value)) continue;
      if (source.tags != nullptr && source.tags->of(lane) != 0) return source.tags->of(lane);
      has_special = true;
      has_nan |= std::isnan(value);
    }
    const bool is_nan = std::isnan(result);
    const bool is_made = !has_special || (is_nan && !has_nan);
    if (!is_made || !plan.makes_tags) continue;
    const auto describe = [&] {
      if (plan.adds_infinity) {
        return fmt::format("exp({}) does not fit in f64", text_of_float(plan.source, operands[0]));
      }
      if (plan.scaled_by != 1) operands[0] /= plan.scaled_by;
      const std::string operation = plan.step_of == FunctionStep::none
                                        ? text_of_operation(instr, plan.source, operands)
                                        : text_of_step(plan.step_of, operands);
      return is_nan ? operation : text_of_infinity(instr, plan.result, operation);
    };
    return origins_.made(is_nan ? Made::nan : Made::infinity, *step.program, step.pc, describe,
                         reporter_, thread_of(step.place, lane));
  }
  return 0;
}

void NumericsChecker::compute(const InstrStep& step, const ValuePlan& plan) {
  if (plan.flushes) find_flushed(step, plan);
  const Ref& result = plan.results[0];
  if (result.bank != Bank::word && result.bank != Bank::wide) return;
  const bool narrows = plan.rule == ValueRule::computes && plan.source == FloatFormat::f32 &&
                       part_bytes_of(plan.result) == 2;
  const SpecialLanes specials = specials_in(plan.result, row_of(*step.registers, result));
  RowTags tags;
  if ((specials.any & step.active) != 0) {
    const Sources sources = sources_of(step);
    for_each_bit(specials.any & step.active, [&](unsigned lane) {
      const Tag tag = tag_of_result(step, plan, sources, lane);
      if (tag == 0) return;
      tags.mask |= 1u << lane;
      tags.tag[lane] = tag;
    });
  }
  if (warp_->tags.any()) {
    if (plan.inverts_root) find_swallowed(step, plan);
    keep_undefined(sources_of(step), step.active, tags);
  }
  warp_->tags.set(step, result, tags, step.active);
  if (!narrows) return;
  const Sources sources = sources_of(step);
  const std::byte* const row = row_of(*step.registers, result);
  for_each_bit(step.active, [&](unsigned lane) {
    for (std::uint32_t part = 0; part < parts_of(plan.result); ++part) {
      if (float_at(plan.result, row, lane, part) != 0) continue;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        if (sources[i].row == nullptr || !makes_part(plan, i, part)) continue;
        const double value = float_at(plan.source, sources[i].row, lane);
        if (value == 0) continue;
        report_underflow(step, lane,
                         fmt::format("{} becomes 0 in {}", text_of_float(plan.source, value),
                                     name_of(plan.result)));
      }
    }
  });
}

// Finds sums of squares that have overflowed, and of which the inverse of the root is 0: a vector
// that is divided by its length becomes 0, and nobody sees an infinity.
void NumericsChecker::find_swallowed(const InstrStep& step, const ValuePlan& plan) {
  const bool divides = step.program->code[step.pc].opcode == Opcode::div_;
  const Source source = sources_of(step)[divides ? 1 : 0];
  if (source.tags == nullptr) return;
  const std::byte* const row = row_of(*step.registers, plan.results[0]);
  for_each_bit(source.tags->mask & step.active, [&](unsigned lane) {
    const ValueOrigin& origin = origins_.origin_of(source.tags->tag[lane]);
    const Instr& made = origin.program->code[origin.pc];
    const bool overflows = made.opcode == Opcode::add_ || made.opcode == Opcode::mul_ ||
                           made.opcode == Opcode::fma_ || made.opcode == Opcode::mad_;
    if (origin.made != Made::infinity || !overflows) return;
    const bool is_swallowed = std::isinf(float_at(plan.source, source.row, lane)) &&
                              float_at(plan.result, row, lane) == 0;
    if (!is_swallowed) return;
    reporter_.report({step.program, step.pc, origin.pc, 7}, [&] {
      Finding finding = finding_of(origin);
      finding.severity = Severity::note;
      finding.accesses.push_back(
          reporter_.side("compute", *step.program, step.pc, thread_of(step.place, lane)));
      finding.message += "; (2) makes 0 of it, as the inverse of a root";
      return finding;
    });
  });
}

// What is computed of a quotient that nothing defines is not defined either.
void NumericsChecker::keep_undefined(const Sources& sources, std::uint32_t lanes, RowTags& tags) {
  for (const Source& source : sources) {
    if (source.tags == nullptr) continue;
    for_each_bit(source.tags->mask & lanes & ~tags.mask, [&](unsigned lane) {
      const Tag tag = source.tags->tag[lane];
      if (origins_.origin_of(tag).made != Made::divided) return;
      tags.mask |= 1u << lane;
      tags.tag[lane] = tag;
      tags.truth[lane] = kUnknown;
    });
  }
}

// Finds operands that flushing makes zero, and results.
void NumericsChecker::find_flushed(const InstrStep& step, const ValuePlan& plan) {
  const Instr& instr = step.program->code[step.pc];
  const Sources sources = sources_of(step);
  const std::byte* const row = row_of(*step.registers, plan.results[0]);
  for_each_bit(step.active, [&](unsigned lane) {
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].row == nullptr) continue;
      values[i] = float_at(plan.source, sources[i].row, lane);
      if (!is_subnormal(values[i])) continue;
      report_underflow(
          step, lane,
          fmt::format("the operand {} is flushed to 0", text_of_float(plan.source, values[i])));
    }
    if (float_at(plan.result, row, lane) != 0) return;
    const double exact = exact_result(instr.opcode, values[0], values[1], values[2]);
    if (!is_subnormal(exact) || instr.modifiers.sat) return;
    report_underflow(
        step, lane,
        fmt::format("{} is flushed to 0", text_of_operation(instr, plan.source, values)));
  });
}

void NumericsChecker::report_underflow(const InstrStep& step, unsigned lane,
                                       const std::string& what) {
  reporter_.report({step.program, step.pc, ptx::kNone, 0}, [&] {
    Finding finding;
    finding.kind = FindingKind::underflow;
    finding.severity = Severity::note;
    finding.kernel = kernel_name(step.program->kernel);
    finding.accesses = {
        reporter_.side("compute", *step.program, step.pc, thread_of(step.place, lane))};
    finding.message = fmt::format("(1) loses a small value: {}", what);
    return finding;
  });
}

void NumericsChecker::report_ignored(const InstrStep& step, Tag tag, unsigned lane,
                                     std::string_view how) {
  const ValueOrigin& origin = origins_.origin_of(tag);
  // What powf() of an infinity makes and drops itself is no value of the program.
  if (origin.program == step.program && are_in_toolkit(*step.program, origin.pc, step.pc)) return;
  const auto [known, is_new] = ignored_.try_emplace({step.program, step.pc, origin.pc});
  Ignored& ignored = known->second;
  if (is_new) {
    Finding& finding = ignored.finding;
    finding.kind = FindingKind::ignored_nan;
    finding.severity = Severity::note;
    finding.kernel = kernel_name(step.program->kernel);
    finding.accesses = {origin.side, reporter_.side("compute", *step.program, step.pc,
                                                    thread_of(step.place, lane))};
    finding.message = fmt::format("(1) makes a NaN: {}; (2) {}", origin.what, how);
    const AccessSide &made = finding.accesses[0], &dropped = finding.accesses[1];
    ignored.tag = tag;
    ignored.is_in_one_line = made.line != 0 && made.file == dropped.file &&
                             made.line == dropped.line && origin.program == step.program;
  }
  ++ignored.times;
  if (ignored.is_in_one_line) return;
  reporter_.report({step.program, step.pc, origin.pc, 1}, [&] { return ignored.finding; });
}

void NumericsChecker::report_ignored_in_one_line() {
  for (const auto& [code, ignored] : std::exchange(ignored_, {})) {
    const auto& [program, dropped_at, made_at] = code;
    if (!ignored.is_in_one_line || origins_.origin_of(ignored.tag).is_seen) continue;
    reporter_.report(
        {program, dropped_at, made_at, 1}, [&] { return ignored.finding; }, ignored.times);
  }
}

void NumericsChecker::take_extreme(const InstrStep& step, const ValuePlan& plan) {
  const Sources sources = sources_of(step);
  const Ref& result = plan.results[0];
  const std::byte* const row = row_of(*step.registers, result);
  const SpecialLanes specials = specials_in(plan.result, row);
  RowTags tags;
  for_each_bit(step.active, [&](unsigned lane) {
    for (const Source& source : sources) {
      const Tag tag = source.tags == nullptr ? 0 : source.tags->of(lane);
      if (tag == 0) continue;
      for (std::uint32_t part = 0; part < parts_of(plan.result); ++part) {
        const double from = float_at(plan.source, source.row, lane, part);
        const double to = float_at(plan.result, row, lane, part);
        if (std::isnan(from) && !std::isnan(to)) report_ignored(step, tag, lane, "drops it");
        const bool is_kept = from == to || (std::isnan(from) && std::isnan(to));
        if (std::isfinite(from) || !is_kept) continue;
        tags.mask |= 1u << lane;
        tags.tag[lane] = tag;
      }
    }
  });
  tags.mask &= specials.any;
  warp_->tags.set(step, result, tags, step.active);
}

void NumericsChecker::round_to_integer(const InstrStep& step, const ValuePlan& plan) {
  const Instr& instr = step.program->code[step.pc];
  const Source source = sources_of(step)[0];
  const ptx::Type type = instr.modifiers.type;
  const bool is_cut = ptx::bytes_of(type) == 4 && plan.bytes_used < 4;
  const IntegerRange range = integer_range_of(type, is_cut ? plan.bytes_used : 8);
  RowTags tags;
  for_each_bit(step.active, [&](unsigned lane) {
    const double value = float_at(plan.source, source.row, lane);
    if (value > range.least - 1 && value < range.beyond) return;
    Tag tag = source.tags == nullptr ? 0 : source.tags->of(lane);
    if (tag == 0) {
      const auto describe = [&] {
        return fmt::format(
            "{} does not fit in {}", text_of_float(plan.source, value),
            is_cut ? counted(8 * plan.bytes_used, "bit") : std::string(ptx::name_of(type)));
      };
      tag = origins_.made(Made::lost, *step.program, step.pc, describe, reporter_,
                          thread_of(step.place, lane));
    }
    tags.mask |= 1u << lane;
    tags.tag[lane] = tag;
    tags.truth[lane] = kUnknown;
  });
  set_results(step, plan, tags);
}

void NumericsChecker::compare(const InstrStep& step, const ValuePlan& plan) {
  const Instr& instr = step.program->code[step.pc];
  set_results(step, plan, {});
  const Sources sources = sources_of(step);
  if (plan.asks_for_nan || asks_for_nan(instr.modifiers.compare) ||
      sources[0].ref == sources[1].ref) {
    return;
  }
  for (const std::size_t side : {0u, 1u}) {
    const Source &source = sources[side], &other = sources[1 - side];
    if (source.tags == nullptr) continue;
    // isnan() is compiled to a comparison with the infinity.
    if (other.ref.bank == Bank::constant && std::isinf(float_at(plan.source, other.row, 0)))
      continue;
    for_each_bit(source.tags->mask & step.active, [&](unsigned lane) {
      for (std::uint32_t part = 0; part < parts_of(plan.source); ++part) {
        if (!std::isnan(float_at(plan.source, source.row, lane, part))) continue;
        report_ignored(step, source.tags->tag[lane], lane, "compares it with a number");
      }
    });
  }
}

// A special element has the tag of any source: which ones it is made of is not followed.  It is a
// first one if all sources are finite.
void NumericsChecker::multiply_matrices(const InstrStep& step, const ValuePlan& plan) {
  const Instr& instr = step.program->code[step.pc];
  std::uint32_t special = 0;
  if (plan.result != FloatFormat::none) {
    for (const Ref& ref : plan.results) {
      special |= specials_in(plan.result, row_of(*step.registers, ref)).any;
    }
  }
  if (special == 0) return set_results(step, plan, {});
  const MatrixProduct product = product_of(instr);
  Tag tag = 0;
  bool is_finite = true;
  for (const MatrixOperand operand : {MatrixOperand::a, MatrixOperand::b, MatrixOperand::c}) {
    const ptx::Type type = product.type_of(operand);
    FloatFormat format = float_format_of(type);
    if (type == ptx::Type::f16) format = FloatFormat::f16x2;
    if (type == ptx::Type::bf16) format = FloatFormat::bf16x2;
    if (type == ptx::Type::tf32) format = FloatFormat::f32;
    for (std::uint32_t i = 0; i < registers_of(product, operand); ++i) {
      const Ref ref = row_after(instr[operand], i);
      if (ref.bank == Bank::constant || ref.bank == Bank::none) continue;
      const std::byte* const row = row_of(*step.registers, ref);
      is_finite &= specials_in(format, row).any == 0 && !has_special_bytes(type, row);
      if (const RowTags* const known = warp_->tags.get(step, ref); known != nullptr && tag == 0) {
        tag = known->tag[static_cast<unsigned>(__builtin_ctz(known->mask))];
      }
    }
  }
  if (tag == 0 && is_finite) {
    const auto describe = [&] {
      return fmt::format("an element of the product of matrices does not fit in {}",
                         name_of(plan.result));
    };
    const auto lane = static_cast<unsigned>(__builtin_ctz(special));
    tag = origins_.made(Made::infinity, *step.program, step.pc, describe, reporter_,
                        thread_of(step.place, lane));
  }
  for (const Ref& ref : plan.results) {
    RowTags tags;
    tags.mask = tag == 0 ? 0 : specials_in(plan.result, row_of(*step.registers, ref)).any;
    tags.tag.fill(tag);
    warp_->tags.set(step, ref, tags, ~0u);
  }
}

}  // namespace warpcheck::vgpu
