// Integers of 32 bits that wrap, and then become an address or a bound.
//
// nvcc writes the same instructions for signed and for unsigned integers, so a sum that wraps is
// not wrong by itself.  A wrapped value is kept together with what it would be in 64 bits, of
// operands that are taken as signed.  Where it is extended to 64 bits, as signed or as unsigned,
// the result is that value, or it is wrong; a comparison, also of the extension, is wrong if it
// would turn out otherwise.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "vgpu/check/numerics/numerics.hpp"
#include "vgpu/check/numerics/operations.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

__extension__ using Wide = __int128;

std::int64_t bounded(Wide value) {
  constexpr Wide kMost = kUnknown;
  if (value > kMost || value < -kMost) return kUnknown;
  return static_cast<std::int64_t>(value);
}

std::int32_t signed_word(const std::byte* row, unsigned lane) {
  std::int32_t value = 0;
  if (row != nullptr) std::memcpy(&value, row + lane * sizeof value, sizeof value);
  return value;
}

Wide true_result(Opcode opcode, Wide a, Wide b, Wide c) {
  switch (opcode) {
    case Opcode::add_: return a + b;
    case Opcode::sub_: return a - b;
    case Opcode::mul_: return a * b;
    case Opcode::mad_: return a * b + c;
    case Opcode::shl_: return b < 0 || b > 31 ? 0 : a * (Wide{1} << static_cast<int>(b));
    default: return -a;  // neg
  }
}

// Returns the lanes whose result may not be the true one, of operands that are words of their rows;
// a row that is not there is 0.  Nearly all results are right, so rows are looked at as a whole.
std::uint32_t wrapped_lanes(Opcode opcode, const std::array<const std::byte*, 3>& rows,
                            const std::byte* results) {
  static constexpr std::array<std::byte, kWordRowBytes> kZeros{};
  const auto row_or_zeros = [](const std::byte* row) {
    return row != nullptr ? row : kZeros.data();
  };
  const std::byte *const a = row_or_zeros(rows[0]), *const b = row_or_zeros(rows[1]),
                         *const c = row_or_zeros(rows[2]);
  const auto word = [](const std::byte* row, unsigned lane) {
    std::int32_t value = 0;
    std::memcpy(&value, row + lane * sizeof value, sizeof value);
    return value;
  };
  // Signs say whether a sum or a difference has wrapped.
  std::int32_t signs = 0;
  std::int64_t difference = 0;
  const auto each = [&](auto look) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) look(lane, word(results, lane));
  };
  switch (opcode) {
    case Opcode::add_:
      each([&](unsigned l, std::int32_t r) { signs |= (word(a, l) ^ r) & (word(b, l) ^ r); });
      break;
    case Opcode::sub_:
      each([&](unsigned l, std::int32_t r) {
        signs |= (word(a, l) ^ word(b, l)) & (word(a, l) ^ r);
      });
      break;
    case Opcode::mul_:
    case Opcode::mad_: {
      const std::byte* const addend = opcode == Opcode::mad_ ? c : kZeros.data();
      each([&](unsigned l, std::int32_t r) {
        difference |= (std::int64_t{word(a, l)} * word(b, l) + word(addend, l)) ^ r;
      });
      break;
    }
    case Opcode::shl_:
      each([&](unsigned l, std::int32_t r) {
        const std::int32_t by = word(b, l);
        const bool is_amount = by >= 0 && by <= 31;
        difference |= (is_amount ? word(a, l) * (std::int64_t{1} << by) : 0) ^ r;
      });
      break;
    default: return ~0u;
  }
  return signs < 0 || difference != 0 ? ~0u : 0;
}

// The lanes whose word is negative.
std::uint32_t negative_lanes(const std::byte* row) {
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    lanes |= std::uint32_t{signed_word(row, lane) < 0} << lane;
  return lanes;
}

// Returns whether an index of a ring has gone below 0: a difference of two sizes or indices, or a
// sum with a negative one, which is divided as an unsigned integer.  Numbers of a hash are larger.
bool is_below_zero(Opcode opcode, const std::array<std::int64_t, 3>& values, std::int32_t result) {
  constexpr std::int64_t kMost = 1 << 24;
  const auto [a, b, unused] = values;
  const std::int64_t added = opcode == Opcode::sub_ ? -b : b;
  return result < 0 && a > -kMost && a < kMost && added > -kMost && added < kMost &&
         (a >= 0 || added >= 0) && a + added == result;
}

// Returns how many bits the largest magnitude in a row of words has.
int magnitude_bits(const std::byte* row) {
  std::uint32_t bits = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    std::int32_t word = 0;
    std::memcpy(&word, row + lane * sizeof word, sizeof word);
    bits |= static_cast<std::uint32_t>(word ^ word >> 31);
  }
  return std::bit_width(bits);
}

std::string text_of_wrap(Opcode opcode, std::int64_t a, std::int64_t b, std::int64_t c) {
  const std::string x = with_commas(a), y = with_commas(b);
  switch (opcode) {
    case Opcode::add_: return fmt::format("{} + {}", x, y);
    case Opcode::sub_: return fmt::format("{} - {}", x, y);
    case Opcode::mul_: return fmt::format("{} * {}", x, y);
    case Opcode::mad_:
      return c == 0 ? fmt::format("{} * {}", x, y)
                    : fmt::format("{} * {} + {}", x, y, with_commas(c));
    case Opcode::shl_: return fmt::format("{} << {}", x, y);
    default: return fmt::format("-{}", x);
  }
}

bool holds(ptx::Compare compare, Wide a, Wide b) {
  switch (compare) {
    case ptx::Compare::eq: return a == b;
    case ptx::Compare::ne: return a != b;
    case ptx::Compare::lt:
    case ptx::Compare::lo: return a < b;
    case ptx::Compare::le:
    case ptx::Compare::ls: return a <= b;
    case ptx::Compare::gt:
    case ptx::Compare::hi: return a > b;
    default: return a >= b;
  }
}

bool is_unsigned(const Instr& instr) {
  const ptx::Compare compare = instr.modifiers.compare;
  return !ptx::is_signed(instr.modifiers.type) || compare == ptx::Compare::lo ||
         compare == ptx::Compare::ls || compare == ptx::Compare::hi || compare == ptx::Compare::hs;
}

bool is_wrapping_of(const Instr& instr) {
  return ptx::bytes_of(instr.modifiers.type) == 4 && instr.modifiers.part != ptx::MulPart::wide &&
         instr.modifiers.part != ptx::MulPart::hi && instr.opcode != Opcode::cvt_;
}

}  // namespace

// Returns whether the operands of a sum or a product of words are too small for a wrap, which is so
// for nearly all indices.  False: that is not known.
bool NumericsChecker::cannot_wrap(const InstrStep& step) {
  const Instr& instr = step.program->code[step.pc];
  const auto bits_of = [&](ComputeOperand operand) {
    return magnitude_bits(row_of(*step.registers, instr[operand]));
  };
  const int a = bits_of(ComputeOperand::a);
  switch (instr.opcode) {
    case Opcode::add_:
    case Opcode::sub_: return a <= 30 && bits_of(ComputeOperand::b) <= 30;
    case Opcode::mul_: return a + bits_of(ComputeOperand::b) <= 30;
    case Opcode::mad_:
      return a + bits_of(ComputeOperand::b) <= 30 && bits_of(ComputeOperand::c) <= 29;
    case Opcode::shl_: {
      const int by_bits = bits_of(ComputeOperand::b);
      return by_bits <= 4 ? a + (1 << by_bits) - 1 <= 31 : false;
    }
    default: return a <= 30;  // neg
  }
}

void NumericsChecker::add_integers(const InstrStep& step, const ValuePlan& plan) {
  const Instr& instr = step.program->code[step.pc];
  if (plan.rounds_bfloat_up) return round_bfloat_up(step, plan);
  if (!is_wrapping_of(instr)) return widen(step, plan);
  if (!plan.makes_tags && !warp_->tags.any()) return;
  const Sources sources = sources_of(step);
  const std::byte* const row = row_of(*step.registers, plan.results[0]);
  std::uint32_t lanes = 0;  // of which the result may have a tag
  for (const Source& source : sources) {
    if (source.tags != nullptr) lanes |= source.tags->mask;
  }
  if (plan.makes_tags && plan.is_index)
    lanes |= wrapped_lanes(instr.opcode, {sources[0].row, sources[1].row, sources[2].row}, row);
  if (plan.is_unsigned_dividend) lanes |= negative_lanes(row);
  if ((step.active & lanes) == 0) {
    if (warp_->tags.any()) warp_->tags.clear(step, plan.results[0], step.active);
    return;
  }
  RowTags tags;
  for_each_bit(step.active & lanes, [&](unsigned lane) {
    std::array<std::int64_t, 3> values{};
    Tag tag = 0, of_bits = 0;
    bool is_unknown = false;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      values[i] = signed_word(sources[i].row, lane);
      const Tag known = sources[i].tags == nullptr ? 0 : sources[i].tags->of(lane);
      if (known == 0) continue;
      if (!is_integer(*sources[i].tags, lane)) {
        of_bits = known;
        continue;
      }
      tag = known;
      values[i] = sources[i].tags->truth[lane];
      is_unknown |= values[i] == kUnknown;
    }
    // The bits of a bf16 become those of a float.
    if (of_bits != 0 && instr.opcode == Opcode::shl_ && values[1] == 16) {
      tags.mask |= 1u << lane;
      tags.tag[lane] = of_bits;
      return;
    }
    const std::int64_t truth =
        is_unknown ? kUnknown : bounded(true_result(instr.opcode, values[0], values[1], values[2]));
    const std::int32_t result = signed_word(row, lane);
    // A constant above 2^31 is written as its complement, and may be added in place of a
    // subtraction.
    constexpr std::int64_t kTurn = std::int64_t{1} << 32;
    const bool may_turn = plan.adds_constant && tag != 0 && !is_unknown;
    const bool is_below =
        plan.is_unsigned_dividend && tag == 0 && is_below_zero(instr.opcode, values, result);
    if (!is_below && (truth == result || (may_turn && truth - kTurn == result))) return;
    if (tag == 0 && !is_below && !(plan.makes_tags && plan.is_index)) return;
    if (tag == 0) {
      const auto describe = [&] {
        if (is_below) {
          return fmt::format("{} is {}, which is {} as an unsigned integer",
                             text_of_wrap(instr.opcode, values[0], values[1], values[2]),
                             with_commas(truth), with_commas(truth + kTurn));
        }
        return fmt::format("{} is {}, and 32 bits keep {} of it",
                           text_of_wrap(instr.opcode, values[0], values[1], values[2]),
                           with_commas(truth), with_commas(result));
      };
      tag = origins_.made(Made::wrapped, *step.program, step.pc, describe, reporter_,
                          thread_of(step.place, lane));
    }
    tags.mask |= 1u << lane;
    tags.tag[lane] = tag;
    tags.truth[lane] = truth;
  });
  warp_->tags.set(step, plan.results[0], tags, step.active);
}

// Returns the quotient or the remainder that a number below 0 would have, rounded down: the place
// in a ring.
std::int64_t NumericsChecker::divided_downwards(const InstrStep& step, const Sources& sources,
                                                std::int64_t truth, unsigned lane) {
  const Instr& instr = step.program->code[step.pc];
  const std::int64_t by = integer_at(sources[1].row, ptx::Type::u32, lane);
  if (by == 0) return kUnknown;
  const std::int64_t rest = (truth % by + by) % by;
  return instr.opcode == Opcode::rem_ ? rest : (truth - rest) / by;
}

// Returns whether what has a tag is an integer, and none of the bits of a float.
bool NumericsChecker::is_integer(const RowTags& tags, unsigned lane) {
  const Made made = origins_.origin_of(tags.tag[lane]).made;
  return made == Made::lost || made == Made::wrapped || tags.truth[lane] == kUnknown;
}

// The toolkit's conversion to bf16 adds 1 to the bits of the number that is cut off.
void NumericsChecker::round_bfloat_up(const InstrStep& step, const ValuePlan& plan) {
  RowTags tags;
  const std::byte* const row = row_of(*step.registers, plan.results[0]);
  const SpecialLanes specials = specials_in(FloatFormat::bf16, row);
  const Source number = sources_of(step)[0];
  const SpecialLanes before = specials_in(FloatFormat::bf16, number.row);
  for_each_bit(specials.any & step.active, [&](unsigned lane) {
    const auto describe = [&] {
      const double largest = 0x1.fep127;
      return fmt::format("a number of more than {} does not fit in bf16",
                         text_of_float(FloatFormat::f32, largest));
    };
    Tag tag = number.tags == nullptr ? 0 : number.tags->of(lane);
    if ((before.any >> lane & 1u) == 0) {
      tag = origins_.made(Made::infinity, *step.program, step.pc, describe, reporter_,
                          thread_of(step.place, lane));
    }
    if (tag == 0) return;
    tags.mask |= 1u << lane;
    tags.tag[lane] = tag;
  });
  set_results(step, plan, tags);
}

// A limit that is taken is what the program wants; what is within the limit is as wrong as before.
// A NaN becomes 0, and no limit has asked for that, also if it is 0 itself: a signed integer is 0
// of no number that does not fit.  The bits of a special float are compared as integers, too, as
// hypot() does.
void NumericsChecker::take_integer_extreme(const InstrStep& step, const ValuePlan& plan) {
  const Sources sources = sources_of(step);
  const ptx::Type type = step.program->code[step.pc].modifiers.type;
  const bool is_wide = plan.results[0].bank == Bank::wide;
  const std::byte* const row = row_of(*step.registers, plan.results[0]);
  const std::size_t bytes = is_wide ? 8 : 4;
  const auto is_taken = [&](const Source& source, unsigned lane) {
    return std::memcmp(source.row + lane * bytes, row + lane * bytes, bytes) == 0;
  };
  RowTags tags;
  for (const std::size_t side : {0u, 1u}) {
    const Source &source = sources[side], &other = sources[1 - side];
    if (source.tags == nullptr || other.row == nullptr) continue;
    for_each_bit(source.tags->mask & step.active, [&](unsigned lane) {
      if (!is_taken(source, lane)) return;
      const ValueOrigin& origin = origins_.origin_of(source.tags->tag[lane]);
      const bool is_nan = origin.made == Made::lost && ptx::is_signed(type) &&
                          integer_at(source.row, type, lane) == 0;
      if (is_integer(*source.tags, lane) && is_taken(other, lane) && !is_nan) return;
      tags.mask |= 1u << lane;
      tags.tag[lane] = source.tags->tag[lane];
      tags.truth[lane] = source.tags->truth[lane];
    });
  }
  set_results(step, plan, tags);
}

// Instructions with 64 bits, and conversions.  Those between words and halves of them move the bits
// of floats.
void NumericsChecker::widen(const InstrStep& step, const ValuePlan& plan) {
  if (!warp_->tags.any()) return;
  const Instr& instr = step.program->code[step.pc];
  const ptx::Modifiers& m = instr.modifiers;
  const bool converts = instr.opcode == Opcode::cvt_;
  const ptx::Type from = converts ? m.source_type : m.type;
  const bool extends_sign = ptx::is_signed(from);
  const bool moves_bits = converts && ptx::bytes_of(from) <= 4 && ptx::bytes_of(m.type) <= 4;
  RowTags tags;
  for (const Source& source : sources_of(step)) {
    if (source.tags == nullptr) continue;
    for_each_bit(source.tags->mask & step.active, [&](unsigned lane) {
      if (!is_integer(*source.tags, lane)) {
        if (!moves_bits) return;
        tags.mask |= 1u << lane;
        tags.tag[lane] = source.tags->tag[lane];
        return;
      }
      // The upper half of a product is a quotient.
      const bool is_wrapped = origins_.origin_of(source.tags->tag[lane]).made == Made::wrapped;
      if (is_wrapped && m.part == ptx::MulPart::hi) return;
      const bool is_word = source.ref.bank == Bank::word && ptx::bytes_of(from) == 4;
      const std::int32_t word = is_word ? signed_word(source.row, lane) : 0;
      const std::int64_t widened =
          extends_sign ? word : std::int64_t{static_cast<std::uint32_t>(word)};
      if (is_word && widened == source.tags->truth[lane]) return;
      tags.mask |= 1u << lane;
      tags.tag[lane] = source.tags->tag[lane];
      // An extension that is compared at once.
      tags.truth[lane] = converts && is_word ? source.tags->truth[lane] : kUnknown;
    });
  }
  set_results(step, plan, tags);
}

void NumericsChecker::compare_integers(const InstrStep& step, const ValuePlan& plan) {
  if (plan.compares_checksum) return;
  const Instr& instr = step.program->code[step.pc];
  const Sources sources = sources_of(step);
  const bool is_wide = ptx::bytes_of(instr.modifiers.type) == 8;
  const auto value_of = [&](const Source& source, unsigned lane) -> Wide {
    if (is_wide) {
      std::int64_t value = 0;
      std::memcpy(&value, source.row + lane * sizeof value, sizeof value);
      return is_unsigned(instr) ? Wide{static_cast<std::uint64_t>(value)} : Wide{value};
    }
    const std::int32_t word = signed_word(source.row, lane);
    return is_unsigned(instr) ? Wide{static_cast<std::uint32_t>(word)} : Wide{word};
  };
  for (const std::size_t side : {0u, 1u}) {
    const Source &source = sources[side], &other = sources[1 - side];
    if (source.tags == nullptr) continue;
    for_each_bit(source.tags->mask & step.active, [&](unsigned lane) {
      const ValueOrigin& origin = origins_.origin_of(source.tags->tag[lane]);
      const std::int64_t truth = source.tags->truth[lane];
      if (origin.made != Made::wrapped || truth == kUnknown) return;
      // A negative value that is compared as unsigned is a test of a range.
      if (is_unsigned(instr) && truth < 0) return;
      // So is a sum that is compared with its own operand: it asks whether it has wrapped.
      if (other.ref == origin.a || other.ref == origin.b) return;
      // Of two sums that have wrapped, both would be others.
      const Tag beside = other.tags == nullptr ? 0 : other.tags->of(lane);
      const bool has_truth = beside != 0 && other.tags->truth[lane] != kUnknown &&
                             origins_.origin_of(beside).made == Made::wrapped;
      const Wide there = has_truth ? Wide{other.tags->truth[lane]} : value_of(other, lane);
      const Wide here = value_of(source, lane);
      const ptx::Compare how = instr.modifiers.compare;
      const Wide now = value_of(other, lane);
      const bool is_so = side == 0 ? holds(how, here, now) : holds(how, now, here);
      const bool would_be = side == 0 ? holds(how, truth, there) : holds(how, there, truth);
      if (is_so == would_be) return;
      reporter_.report({step.program, step.pc, origin.pc, 2}, [&] {
        Finding finding = finding_of(origin);
        finding.accesses.push_back(
            reporter_.side("compute", *step.program, step.pc, thread_of(step.place, lane)));
        finding.message += fmt::format("; (2) compares it with {}, and decides otherwise",
                                       with_commas(static_cast<std::int64_t>(there)));
        return finding;
      });
    });
  }
}

// Reports addresses that are made of wrong integers, before the access.
void NumericsChecker::use_address(const InstrStep& step) {
  const Instr& instr = step.program->code[step.pc];
  if (instr.kind != InstrKind::load && instr.kind != InstrKind::store &&
      instr.kind != InstrKind::atomic) {
    return;
  }
  const RowTags* const tags = warp_->tags.get(step, instr[MemoryOperand::address]);
  if (tags == nullptr || (tags->mask & step.active) == 0) return;
  const AccessKind kind = instr.kind == InstrKind::load    ? AccessKind::read
                          : instr.kind == InstrKind::store ? AccessKind::write
                                                           : AccessKind::atomic;
  for_each_bit(tags->mask & step.active, [&](unsigned lane) {
    const ValueOrigin& origin = origins_.origin_of(tags->tag[lane]);
    reporter_.explain_address(*step.program, step.pc,
                              origin.made == Made::wrapped ? origin.what : std::string());
    reporter_.report({step.program, step.pc, origin.pc, 3}, [&] {
      Finding finding = finding_of(origin);
      finding.accesses.push_back(
          reporter_.side(role_name(kind), *step.program, step.pc, thread_of(step.place, lane)));
      finding.message += "; the address of (2) is made of it";
      return finding;
    });
  });
}

}  // namespace warpcheck::vgpu
