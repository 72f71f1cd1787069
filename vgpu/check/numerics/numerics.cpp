#include "vgpu/check/numerics/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "vgpu/check/numerics/operations.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

constexpr std::array<ComputeOperand, 3> kSources{ComputeOperand::a, ComputeOperand::b,
                                                 ComputeOperand::c};

bool accesses_memory(ValueRule rule) {
  return rule == ValueRule::loads || rule == ValueRule::stores || rule == ValueRule::updates ||
         rule == ValueRule::copies;
}

// Returns whether a shift by 1 gives a lane what the mean would be without a wrap.
bool is_right_mean(const InstrStep& step, std::int64_t truth, unsigned lane) {
  const Instr& instr = step.program->code[step.pc];
  const std::uint32_t word = word_of(*step.registers, instr[ComputeOperand::d], lane);
  const bool extends_sign = ptx::is_signed(instr.modifiers.type);
  return truth ==
         (extends_sign ? std::int64_t{static_cast<std::int32_t>(word)} : std::int64_t{word});
}

// Returns the lane whose value a shuffle gives to `lane` (PTX ISA 9.7.9.6).
unsigned source_lane(const InstrStep& step, const Instr& instr, unsigned lane) {
  const std::uint32_t by = word_of(*step.registers, instr[WarpOperand::lane], lane) & 31;
  const std::uint32_t clamp = word_of(*step.registers, instr[WarpOperand::clamp], lane);
  const std::uint32_t segment = clamp >> 8 & 31;
  const unsigned last = (lane & segment) | (clamp & 31 & ~segment);
  switch (instr.modifiers.shuffle) {
    case ptx::ShuffleMode::up:
      return static_cast<int>(lane) - static_cast<int>(by) >= static_cast<int>(last) ? lane - by
                                                                                     : lane;
    case ptx::ShuffleMode::down: return lane + by <= last ? lane + by : lane;
    case ptx::ShuffleMode::bfly: return (lane ^ by) <= last ? lane ^ by : lane;
    default: {
      const unsigned from = (lane & segment) | (by & ~segment);
      return from <= last ? from : lane;
    }
  }
}

}  // namespace

std::unique_ptr<Checker> make_numerics_checker(Reporter& reporter) {
  return std::make_unique<NumericsChecker>(reporter);
}

void NumericsChecker::reset(WarpModel /*model*/) {
  origins_.reset();
  memory_.reset();
  shared_.clear();
  ignored_.clear();
  plans_.clear();
  warps_.clear();
  launches_ = 0;
  step_.reset();
  warp_ = nullptr;
  warp_key_ = nullptr;
  planned_ = nullptr;
  is_beside_ = false;
  follows_tags_ = false;
}

void NumericsChecker::on_sync(const Sync& sync) {
  if (sync.kind == Sync::Kind::kernel_end)
    shared_.keep([&](const Allocation& allocation) { return memory_.has(allocation); });
  if (sync.kind == Sync::Kind::kernel_start) {
    forget_written_by_host();
    origins_.begin_launch(launches_++);
    planned_ = nullptr;
    // The warps of a launch that has ended are gone.
    if (!is_beside_) {
      warps_.clear();
      warp_ = nullptr;
      warp_key_ = nullptr;
      follow_tags(memory_.any());
    }
    is_beside_ = false;
  }
  if (sync.kind == Sync::Kind::block_start && sync.shared != nullptr) memory_.clear(*sync.shared);
}

NumericsChecker::WarpState& NumericsChecker::state_of(const InstrStep& step) {
  if (step.warp != warp_key_) {
    warp_key_ = step.warp;
    warp_ = &warps_[step.warp];
  }
  if (warp_->block != step.slot->serial + 1) {
    warp_->block = step.slot->serial + 1;
    warp_->tags.clear();
    warp_->waiting.clear();
  }
  return *warp_;
}

void NumericsChecker::Planned::need_steps(bool of_all) {
  steps.resize(plans.size());
  for (std::size_t pc = 0; pc < plans.size(); ++pc)
    steps[pc] = of_all || plans[pc].makes_tags ? 1 : 0;
}

NumericsChecker::Planned& NumericsChecker::planned_of(const Program& program) {
  Planned& planned = plans_[&program];
  if (planned.kernel != program.kernel || planned.plans.size() != program.code.size()) {
    planned = {program.kernel, plan_values(program), {}};
    planned.need_steps(follows_tags_);
  }
  return planned;
}

const std::uint8_t* NumericsChecker::steps_of(const Program& program) {
  planned_ = nullptr;
  return planned_of(program).steps.data();
}

void NumericsChecker::follow_tags(bool follows) {
  if (follows == follows_tags_) return;
  follows_tags_ = follows;
  for (auto& [program, planned] : plans_) planned.need_steps(follows);
}

const ValuePlan& NumericsChecker::plan_of(const InstrStep& step) {
  if (step.program != planned_) {
    planned_ = step.program;
    plans_now_ = &planned_of(*step.program).plans;
  }
  return (*plans_now_)[step.pc];
}

void NumericsChecker::on_step(const InstrStep& step) {
  plan_ = &plan_of(step);
  step_.reset();
  WarpState& warp = state_of(step);
  is_saved_ = false;
  is_done_ = !follows_tags_ && plan_->rule == ValueRule::adds_integers &&
             !plan_->rounds_bfloat_up && !plan_->is_unsigned_dividend && cannot_wrap(step);
  if (is_done_) return;
  local_bytes_ = 0;
  updated_.reset();
  const ValuePlan& plan = *plan_;
  if (accesses_memory(plan.rule)) {
    step_ = step;
    if (has_loaded_) {
      for (RowTags& tags : loaded_) tags.mask = 0;
    }
    has_loaded_ = false;
    if (warp.tags.any()) use_address(step);
  }
  if (plan.rule == ValueRule::prints) print(step);
  if (plan.is_in_place && (plan.makes_tags || warp.tags.any())) save_sources(step);
  if (plan.rule == ValueRule::shuffles && warp.tags.any()) {
    std::erase_if(warp.waiting, [&](const Waiting& one) { return (one.lanes & step.active) != 0; });
    warp.waiting.push_back({step.pc, step.active, *step.registers});
  }
}

void NumericsChecker::on_step_end(const InstrStep& step) {
  const ValuePlan& plan = *plan_;
  const bool is_needed = plan.makes_tags || warp_->tags.any() || accesses_memory(plan.rule);
  if (is_needed && step.active != 0 && !is_done_) execute(step, plan);
  if (!follows_tags_ && (warp_->tags.any() || memory_.any())) follow_tags(true);
  step_.reset();
}

// The program asks whether a value is special: one that is left in memory is known to it.
void NumericsChecker::note_asked(const InstrStep& step) {
  for (const Source& source : sources_of(step)) {
    if (source.tags == nullptr) continue;
    for_each_bit(source.tags->mask & step.active, [&](unsigned lane) {
      origins_.origin_of(source.tags->tag[lane]).is_asked = true;
    });
  }
}

void NumericsChecker::execute(const InstrStep& step, const ValuePlan& plan) {
  if (plan.asks_for_special && warp_->tags.any()) note_asked(step);
  switch (plan.rule) {
    case ValueRule::nothing:
    case ValueRule::stores:
    case ValueRule::copies: break;
    case ValueRule::replaces: set_results(step, plan, {}); break;
    case ValueRule::moves: move(step, plan); break;
    case ValueRule::selects: select(step, plan); break;
    case ValueRule::shuffles: {
      // The lanes that waited have their results now.
      for (const Waiting& one : std::exchange(warp_->waiting, {})) {
        InstrStep earlier = step;
        earlier.pc = one.pc;
        earlier.active = one.lanes;
        earlier.registers = &one.registers;
        shuffle(earlier);
      }
      break;
    }
    case ValueRule::computes: compute(step, plan); break;
    case ValueRule::extremes: take_extreme(step, plan); break;
    case ValueRule::extremes_of_integers: take_integer_extreme(step, plan); break;
    case ValueRule::rounds_to_integer: round_to_integer(step, plan); break;
    case ValueRule::compares: compare(step, plan); break;
    case ValueRule::adds_integers: add_integers(step, plan); break;
    case ValueRule::compares_integers: compare_integers(step, plan); break;
    case ValueRule::multiplies_matrices: multiply_matrices(step, plan); break;
    case ValueRule::updates: update(step, plan); break;
    case ValueRule::prints: break;
    case ValueRule::loads:
      if (!has_loaded_ && !warp_->tags.any()) break;
      for (std::size_t i = 0; i < plan.results.size() && i < loaded_.size(); ++i) {
        warp_->tags.set(step, plan.results[i], loaded_[i], step.active);
      }
      break;
  }
}

void NumericsChecker::save_sources(const InstrStep& step) {
  const Instr& instr = step.program->code[step.pc];
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    const bool is_atomic = instr.kind == InstrKind::atomic;
    const Ref& ref = is_atomic ? instr[AtomicOperand::value] : instr[kSources[i]];
    if (ref.bank != Bank::word && ref.bank != Bank::wide) continue;
    std::memcpy(saved_[i].row.data(), row_of(*step.registers, ref),
                ref.bank == Bank::wide ? kWideRowBytes : kWordRowBytes);
    const RowTags* const tags = warp_->tags.get(step, ref);
    saved_[i].tags.mask = 0;
    if (tags != nullptr) saved_[i].tags = *tags;
  }
  is_saved_ = true;
}

NumericsChecker::Sources NumericsChecker::sources_of(const InstrStep& step) const {
  const Instr& instr = step.program->code[step.pc];
  Sources sources;
  const bool has_tags = warp_->tags.any();
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    const Ref& ref = instr[kSources[i]];
    if (ref.bank == Bank::none || ref.bank == Bank::predicate) continue;
    sources[i].ref = ref;
    if (is_saved_ && ref.bank != Bank::constant) {
      sources[i].row = saved_[i].row.data();
      if (saved_[i].tags.mask != 0) sources[i].tags = &saved_[i].tags;
    } else {
      sources[i].row = row_of(*step.registers, ref);
      if (has_tags) sources[i].tags = warp_->tags.get(step, ref);
    }
  }
  return sources;
}

void NumericsChecker::set_results(const InstrStep& step, const ValuePlan& plan,
                                  const RowTags& tags) {
  for (const Ref& ref : plan.results) warp_->tags.set(step, ref, tags, step.active);
}

// Returns the tag of the NaN that a function of the toolkit gives outside its domain, or of the
// infinity at a pole; 0: the lane takes another value.
Tag NumericsChecker::outside_domain(const InstrStep& step, const ValuePlan& plan, unsigned lane,
                                    bool is_infinite) {
  const OutsideDomain& outside = plan.outside_domain;
  if (outside.what.empty()) return 0;
  if (outside.guard.bank == Bank::predicate) {
    const bool holds = (read_predicate(*step.registers, outside.guard) >> lane & 1u) != 0;
    if (holds == outside.is_guard_negated) return 0;
  }
  if (outside.nan.bank != Bank::none) {
    const RowTags* const known = warp_->tags.get(step, outside.nan);
    return known == nullptr ? 0 : known->of(lane);
  }
  if (outside.number.bank != Bank::none) {
    const std::byte* const row = row_of(*step.registers, outside.number);
    const double number = float_at(FloatFormat::f64, row, lane);
    if (!std::isfinite(number)) return 0;
    return origins_.made(
        is_infinite ? Made::infinity : Made::nan, *step.program, step.pc,
        [&] {
          return fmt::format("{} does not fit in {}", text_of_float(FloatFormat::f64, number),
                             outside.what);
        },
        reporter_, thread_of(step.place, lane));
  }
  // Of a special argument the program is told that it is special.
  std::string text;
  for (const Ref& argument : outside.arguments) {
    if (argument.bank != Bank::word && argument.bank != Bank::wide) continue;
    const FloatFormat format = argument.bank == Bank::wide ? FloatFormat::f64 : FloatFormat::f32;
    double value = float_at(format, row_of(*step.registers, argument), lane);
    if (std::isnan(value) || (is_infinite && std::isinf(value))) return 0;
    if (outside.is_up_to_zero && value > 0) return 0;
    if (outside.is_negative) value = -std::abs(value);
    text += (text.empty() ? "" : ", ") + text_of_float(format, value);
  }
  return origins_.made(
      is_infinite ? Made::infinity : Made::nan, *step.program, step.pc,
      [&] { return text_of_call(outside.what, text); }, reporter_, thread_of(step.place, lane));
}

Tag NumericsChecker::logarithm_of_zero(const InstrStep& step, unsigned lane) {
  return origins_.made(
      Made::infinity, *step.program, step.pc, [] { return std::string("the logarithm of 0"); },
      reporter_, thread_of(step.place, lane));
}

Tag NumericsChecker::inverse_of_zero(const InstrStep& step, const Source& source, unsigned lane) {
  constexpr std::uint32_t kSign = 0x8000'0000;
  std::uint32_t bits = 0;
  std::memcpy(&bits, source.row + lane * sizeof bits, sizeof bits);
  if ((bits & ~kSign) != 0) return 0;
  return origins_.made(
      Made::infinity, *step.program, step.pc, [] { return std::string("a negative power of 0"); },
      reporter_, thread_of(step.place, lane));
}

// Returns whether a float is as wrong as the integer that it is converted from.
static bool is_wrong_as_float(const ValueOrigin& origin) {
  return origin.made == Made::divided || origin.made == Made::lost;
}

// Returns whether what a tag says of a source is true of the result, too.  Integers that have
// wrapped stay wrong when they are copied, and if they are the mean of two, but not when their bits
// are taken apart, which hashes do.  One that has lost its value stays so whatever is made of it.
// The bits of a NaN or an infinity may be taken apart and put together again.
// Of integers that become floats, those that nothing defines stay so, and those that have lost
// their value until something is calculated with the float.
bool NumericsChecker::keeps(const Instr& instr, const ValuePlan& plan, const ValueOrigin& origin) {
  const bool is_made_float = instr.opcode == Opcode::cvt_ && plan.result != FloatFormat::none &&
                             plan.source == FloatFormat::none &&
                             ptx::bytes_of(instr.modifiers.source_type) >= 4;
  if (is_made_float) return is_wrong_as_float(origin);
  const bool divides = instr.opcode == Opcode::div_ || instr.opcode == Opcode::rem_;
  const bool copies = instr.opcode == Opcode::mov_ || instr.opcode == Opcode::cvta_;
  switch (origin.made) {
    case Made::nan:
    case Made::infinity: return !divides;
    case Made::lost:
    case Made::divided: return true;
    case Made::wrapped: break;
  }
  // The mean of two indices, and the index n * (n + 1) / 2 of a triangle.
  const Opcode made_by = origin.program->code[origin.pc].opcode;
  return copies || (plan.halves && (made_by == Opcode::add_ || made_by == Opcode::mul_ ||
                                    made_by == Opcode::mad_));
}

// Returns the tag of the infinity that a function of the toolkit gives beyond its bound; 0: the
// argument was infinite itself.
Tag NumericsChecker::beyond_bound(const InstrStep& step, const ValuePlan& plan, unsigned lane) {
  const BeyondBound& beyond = plan.beyond_bound;
  if (beyond.what.empty()) return 0;
  const std::byte* const row = row_of(*step.registers, beyond.compared);
  const double compared = float_at(plan.result, row, lane);
  if (!std::isfinite(compared) || compared < beyond.bound) return 0;
  return origins_.made(
      Made::infinity, *step.program, step.pc,
      [&] { return fmt::format("{} does not fit in {}", beyond.what, name_of(plan.result)); },
      reporter_, thread_of(step.place, lane));
}

Tag NumericsChecker::too_large_for_half(const InstrStep& step, const Source& source,
                                        unsigned lane) {
  const Instr& instr = step.program->code[step.pc];
  const std::byte* const row = row_of(*step.registers, instr[ComputeOperand::d]);
  if (source.row == nullptr || !std::isinf(float_at(FloatFormat::f16, row, lane))) return 0;
  const auto describe = [&] {
    return fmt::format("{} does not fit in f16",
                       with_commas(integer_at(source.row, instr.modifiers.source_type, lane)));
  };
  return origins_.made(Made::infinity, *step.program, step.pc, describe, reporter_,
                       thread_of(step.place, lane));
}

// PTX ISA 9.7.1: the result of a division by zero is unspecified.  An operand that has a tag itself
// is where the number went wrong.
Tag NumericsChecker::divided_by_zero(const InstrStep& step, const Sources& sources, unsigned lane) {
  const Instr& instr = step.program->code[step.pc];
  const ptx::Type type = instr.modifiers.type;
  if (sources[1].row == nullptr || integer_at(sources[1].row, type, lane) != 0) return 0;
  for (const Source& source : sources) {
    if (source.tags != nullptr && source.tags->of(lane) != 0) return source.tags->of(lane);
  }
  const auto describe = [&] {
    return fmt::format("{} {} 0", with_commas(integer_at(sources[0].row, type, lane)),
                       instr.opcode == Opcode::div_ ? '/' : '%');
  };
  return origins_.made(Made::divided, *step.program, step.pc, describe, reporter_,
                       thread_of(step.place, lane));
}

// Returns the tags of what an instruction makes of operands that have none.
RowTags NumericsChecker::made_by_move(const InstrStep& step, const ValuePlan& plan,
                                      const Sources& sources) {
  RowTags tags;
  const bool may_make = plan.is_logarithm_of_zero || !plan.outside_domain.what.empty() ||
                        plan.inverts_exponent || plan.divides_integers || plan.makes_half ||
                        !plan.beyond_bound.what.empty();
  for_each_bit(may_make ? step.active : 0, [&](unsigned lane) {
    Tag& tag = tags.tag[lane];
    tag = plan.is_logarithm_of_zero ? logarithm_of_zero(step, lane)
          : plan.inverts_exponent   ? inverse_of_zero(step, sources[0], lane)
          : plan.divides_integers   ? divided_by_zero(step, sources, lane)
          : plan.makes_half         ? too_large_for_half(step, sources[0], lane)
                            : outside_domain(step, plan, lane, plan.outside_domain.gives_infinity);
    if (tag == 0) tag = beyond_bound(step, plan, lane);
    if (tag == 0) return;
    tags.mask |= 1u << lane;
    if (plan.divides_integers) tags.truth[lane] = kUnknown;
  });
  return tags;
}

// Formats of a byte have no infinity that is made here: a conversion takes the nearest number.
void NumericsChecker::move(const InstrStep& step, const ValuePlan& plan) {
  const Instr& instr = step.program->code[step.pc];
  const bool converts = instr.opcode == Opcode::cvt_;
  const auto has_nan = [&](const Source& source, unsigned lane) {
    bool found = false;
    for (std::uint32_t part = 0; part < parts_of(plan.source); ++part)
      found |= std::isnan(float_at(plan.source, source.row, lane, part));
    return found;
  };
  const Sources sources = sources_of(step);
  RowTags tags = made_by_move(step, plan, sources);
  for (const Source& source : sources) {
    if (source.tags == nullptr) continue;
    for_each_bit(source.tags->mask & step.active & ~tags.mask, [&](unsigned lane) {
      const Tag tag = source.tags->tag[lane];
      const std::int64_t given = source.tags->truth[lane];
      const ValueOrigin& origin = origins_.origin_of(tag);
      if (plan.divides_unsigned && origin.made == Made::wrapped && given < 0 &&
          &source == &sources[0]) {
        const std::int64_t wanted = divided_downwards(step, sources, given, lane);
        if (wanted == integer_at(row_of(*step.registers, plan.results[0]), ptx::Type::u32, lane))
          return;
        tags.mask |= 1u << lane;
        tags.tag[lane] = tag;
        tags.truth[lane] = wanted;
        return;
      }
      if (!keeps(instr, plan, origin)) return;
      if (converts && plan.source != FloatFormat::none && !has_nan(source, lane)) return;
      const std::int64_t truth = source.tags->truth[lane];
      const bool is_mean = plan.halves && truth != kUnknown;
      if (is_mean && is_right_mean(step, truth >> 1, lane)) return;
      tags.mask |= 1u << lane;
      tags.tag[lane] = tag;
      tags.truth[lane] = is_mean ? truth >> 1 : truth;
    });
  }
  const std::uint32_t specials =
      converts && plan.result != FloatFormat::none
          ? specials_in(plan.result, row_of(*step.registers, plan.results[0])).any
          : ~0u;
  for_each_bit(tags.mask & ~specials, [&](unsigned lane) {
    if (!is_wrong_as_float(origins_.origin_of(tags.tag[lane]))) tags.mask &= ~(1u << lane);
  });
  set_results(step, plan, tags);
}

void NumericsChecker::select(const InstrStep& step, const ValuePlan& plan) {
  const Instr& instr = step.program->code[step.pc];
  const Sources sources = sources_of(step);
  const Ref& selector = instr[ComputeOperand::c];
  std::uint32_t first = 0;  // lanes that take a
  if (instr.opcode == Opcode::selp_) {
    first = read_predicate(*step.registers, selector);
  } else {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const auto value = static_cast<std::int32_t>(word_of(*step.registers, selector, lane));
      first |= std::uint32_t{value >= 0} << lane;
    }
  }
  RowTags tags;
  for_each_bit(step.active, [&](unsigned lane) {
    const Source& source = sources[(first >> lane & 1u) != 0 ? 0 : 1];
    Tag tag = source.tags == nullptr ? 0 : source.tags->of(lane);
    if (tag != 0) tags.truth[lane] = source.tags->truth[lane];
    if (plan.is_logarithm_of_zero && (first >> lane & 1u) != 0) {
      tag = logarithm_of_zero(step, lane);
    }
    const bool is_literal =
        instr[(first >> lane & 1u) != 0 ? ComputeOperand::a : ComputeOperand::b].bank ==
        Bank::constant;
    const bool is_float = is_literal && plan.result != FloatFormat::none;
    const double value = is_float ? float_at(plan.result, source.row, lane) : 0;
    const bool is_infinite = std::isinf(value);
    if (tag == 0 && !std::isfinite(value)) tag = outside_domain(step, plan, lane, is_infinite);
    if (is_infinite && tag == 0) tag = beyond_bound(step, plan, lane);
    if (is_literal && tag == 0) {
      const RowTags* const nan = warp_->tags.get(step, plan.becomes_bfloat);
      tag = nan == nullptr ? 0 : nan->of(lane);
    }
    if (tag == 0) return;
    tags.mask |= 1u << lane;
    tags.tag[lane] = tag;
  });
  set_results(step, plan, tags);
}

void NumericsChecker::shuffle(const InstrStep& step) {
  const Instr& instr = step.program->code[step.pc];
  RowTags tags;
  const RowTags* const known = warp_->tags.get(step, instr[WarpOperand::value]);
  const RowTags* const values = is_saved_ && saved_[0].tags.mask != 0 ? &saved_[0].tags : known;
  if (values != nullptr) {
    for_each_bit(step.active, [&](unsigned lane) {
      const unsigned from = source_lane(step, instr, lane);
      if (values->of(from) == 0) return;
      tags.mask |= 1u << lane;
      tags.tag[lane] = values->tag[from];
      tags.truth[lane] = values->truth[from];
    });
  }
  warp_->tags.set(step, instr[WarpOperand::result], tags, step.active);
}

}  // namespace warpcheck::vgpu
