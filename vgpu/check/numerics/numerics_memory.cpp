// Marked values in memory, and those that the host reads.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

#include "vgpu/check/numerics/numerics.hpp"
#include "vgpu/check/numerics/operations.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/shadow/printed_arguments.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {
namespace {

FindingKind kind_of_made(Made made) {
  switch (made) {
    case Made::nan:
    case Made::divided: return FindingKind::not_a_number;
    case Made::infinity: return FindingKind::infinity;
    case Made::lost: return FindingKind::lossy_conversion;
    case Made::wrapped: break;
  }
  return FindingKind::wrapped_integer;
}

std::string text_of_made(const ValueOrigin& origin) {
  switch (origin.made) {
    case Made::nan: return fmt::format("(1) makes a NaN: {}", origin.what);
    case Made::infinity: return fmt::format("(1) makes an infinity: {}", origin.what);
    case Made::lost: return fmt::format("(1) loses the value: {}", origin.what);
    case Made::divided:
      return fmt::format("(1) divides by 0: {}, and CUDA does not define the result", origin.what);
    case Made::wrapped: break;
  }
  return fmt::format("(1) wraps: {}", origin.what);
}

struct FloatBits {
  float value = 0;
  std::int32_t bits = 0;
  explicit FloatBits(const std::byte* at) {
    std::memcpy(&value, at, sizeof value);
    std::memcpy(&bits, at, sizeof bits);
  }
};

}  // namespace

Finding NumericsChecker::finding_of(const ValueOrigin& origin) const {
  Finding finding;
  finding.kind = kind_of_made(origin.made);
  finding.kernel = origin.kernel;
  finding.accesses = {origin.side};
  finding.message = text_of_made(origin);
  return finding;
}

Tag NumericsChecker::tag_in(const Allocation& allocation, Tag tag, const Access& access,
                            unsigned lane, std::uint32_t offset) {
  // Wrapped integers are followed in registers only, where it is known what they would be.
  if (tag == 0 || origins_.origin_of(tag).made == Made::wrapped) return 0;
  if (allocation.space != ptx::Space::global) return tag;
  return origins_.stored(tag, access, lane, offset, reporter_);
}

bool NumericsChecker::takes_row(const RowAccess& row) {
  if (memory_.has(*row.allocation)) return false;
  return row.kind == AccessKind::read || !step_ || !warp_->tags.any();
}

void NumericsChecker::on_access(const Access& access) {
  if (!step_ || step_->pc != access.pc) return;
  switch (plan_->rule) {
    case ValueRule::loads:
      if (memory_.has(*access.allocation)) load(access);
      break;
    case ValueRule::stores: store(access); break;
    case ValueRule::copies: copy(access); break;
    case ValueRule::updates:
      // Other atomics leave no tag where there is none.
      if (plan_->result != FloatFormat::none || plan_->is_of_float_bits || warp_->tags.any() ||
          memory_.has(*access.allocation)) {
        updated_ = access;
      }
      break;
    default: break;
  }
}

// Returns the first element of a vector that an access has.  Accesses of local memory are those of
// single words, in their order.
std::uint32_t NumericsChecker::first_element(const Access& access) {
  if (access.space != ptx::Space::local || access.element_bytes == 0) return 0;
  const ptx::Modifiers& m = access.program->code[access.pc].modifiers;
  const std::uint32_t whole = std::max(ptx::bytes_of(m.type) * m.vector, 1u);
  const std::uint32_t at = local_bytes_ % whole;
  local_bytes_ += access.bytes;
  return at / access.element_bytes;
}

// A float that is loaded has a tag if it is special; other values with a tag are wrong integers.
std::int64_t NumericsChecker::truth_of_loaded(Tag tag) {
  const Made made = origins_.origin_of(tag).made;
  return made == Made::nan || made == Made::infinity ? 0 : kUnknown;
}

void NumericsChecker::load(const Access& access) {
  const std::uint32_t bytes = std::min<std::uint32_t>(access.bytes, access.element_bytes);
  const std::uint32_t first = first_element(access);
  for (std::uint32_t i = 0; i < access.elements() && first + i < loaded_.size(); ++i) {
    RowTags& loaded = loaded_[first + i];
    for_each_bit(access.mask, [&](unsigned lane) {
      const Tag tag = memory_.get(*access.allocation, access.offset[lane] + i * bytes, bytes);
      if (tag == 0) return;
      has_loaded_ = true;
      loaded.mask |= 1u << lane;
      loaded.tag[lane] = tag;
      loaded.truth[lane] = truth_of_loaded(tag);
    });
  }
}

void NumericsChecker::store(const Access& access) {
  const Instr& instr = access.program->code[access.pc];
  const std::uint32_t bytes = std::min<std::uint32_t>(access.bytes, access.element_bytes);
  const std::uint32_t first = first_element(access);
  for (std::uint32_t i = 0; i < access.elements(); ++i) {
    const RowTags* const tags = warp_->tags.get(*step_, instr[MemoryOperand::value + (first + i)]);
    if (tags == nullptr && !memory_.has(*access.allocation)) continue;
    for_each_bit(access.mask, [&](unsigned lane) {
      const std::uint32_t offset = access.offset[lane] + i * bytes;
      Tag tag = tags == nullptr ? 0 : tags->of(lane);
      if (tag != 0 && !is_integer(*tags, lane) && !stores_special(access, first + i, lane)) tag = 0;
      memory_.set(*access.allocation, offset, bytes,
                  tag_in(*access.allocation, tag, access, lane, offset));
    });
  }
}

// Returns whether an element that a lane stores may be special: of a pair of halves with a tag, the
// other one may be.
bool NumericsChecker::stores_special(const Access& access, std::uint32_t element,
                                     unsigned lane) const {
  const Ref& value = access.program->code[access.pc][MemoryOperand::value + element];
  const std::size_t width = value.bank == Bank::wide ? 8 : 4;
  const bool is_part = access.bytes < access.element_bytes;  // in local memory
  return may_be_special(row_of(*step_->registers, value) + lane * width,
                        is_part ? width : access.element_bytes);
}

void NumericsChecker::copy(const Access& access) {
  for_each_bit(access.mask, [&](unsigned lane) {
    std::array<Tag, 8>& tags = copied_[lane];
    for (std::uint32_t at = 0; at < access.bytes; at += 2) {
      const std::uint32_t offset = access.offset[lane] + at;
      if (access.kind == AccessKind::read) {
        tags[at / 2] = memory_.get(*access.allocation, offset, 2);
      } else {
        memory_.set(*access.allocation, offset, 2,
                    tag_in(*access.allocation, tags[at / 2], access, lane, offset));
      }
    }
  });
}

void NumericsChecker::update(const InstrStep& step, const ValuePlan& plan) {
  if (!updated_ && !warp_->tags.any()) return;
  RowTags old;
  if (updated_ && updated_->element_bytes != 0) {
    for_each_bit(updated_->mask, [&](unsigned lane) {
      if (plan.is_of_float_bits) compare_float_bits(step, lane);
      find_old(step, lane, old);
      update_element(step, plan, lane);
    });
  }
  for (const Ref& ref : plan.results) warp_->tags.set(step, ref, old, step.active);
}

// Finds the tag of what an atomic operation returns: of a single element only.
void NumericsChecker::find_old(const InstrStep& step, unsigned lane, RowTags& tags) {
  const Access& access = *updated_;
  const Ref& old = step.program->code[step.pc][AtomicOperand::old];
  const bool is_row = old.bank == Bank::word || old.bank == Bank::wide;
  if (!is_row || access.elements() != 1 || !memory_.has(*access.allocation)) return;
  const Tag tag = memory_.get(*access.allocation, access.offset[lane], access.element_bytes);
  if (tag == 0) return;
  const std::size_t width = old.bank == Bank::wide ? 8 : 4;
  const std::byte* const value = row_of(*step.registers, old) + lane * width;
  const std::int64_t truth = truth_of_loaded(tag);
  if (truth != kUnknown && !may_be_special(value, access.element_bytes)) return;
  tags.mask |= 1u << lane;
  tags.tag[lane] = tag;
  tags.truth[lane] = truth;
}

// Marks what an atomic operation has left in memory.
void NumericsChecker::update_element(const InstrStep& step, const ValuePlan& plan, unsigned lane) {
  const Access& access = *updated_;
  const Allocation& allocation = *access.allocation;
  const Instr& instr = step.program->code[step.pc];
  const std::uint32_t elements = access.elements();
  for (std::uint32_t i = 0; i < elements; ++i) {
    const std::uint32_t offset = access.offset[lane] + i * access.element_bytes;
    const Ref value = row_after(instr[AtomicOperand::value], i);
    const bool is_swap = instr.modifiers.atom_op == ptx::AtomOp::cas;
    const RowTags* const of_value =
        warp_->tags.get(step, is_swap ? instr[AtomicOperand::swap] : value);
    Tag tag = of_value == nullptr ? 0 : of_value->of(lane);
    const Tag before = memory_.get(allocation, offset, access.element_bytes);
    if (plan.result != FloatFormat::none) {
      // A row with the value that memory has now in the lane's place.
      std::array<std::byte, kWideRowBytes> row{};
      std::memcpy(row.data() + lane * (access.element_bytes == 8 ? 8u : 4u),
                  allocation.data + offset, access.element_bytes);
      const SpecialLanes specials = specials_in(plan.result, row.data());
      if ((specials.any >> lane & 1u) == 0) {
        tag = 0;
      } else if (tag == 0) {
        tag = before;
        const std::byte* const added =
            i == 0 && is_saved_ ? saved_[0].row.data() : row_of(*step.registers, value);
        bool is_made = tag == 0;
        std::string operands;
        for (std::uint32_t part = 0; part < parts_of(plan.result); ++part) {
          const double operand = float_at(plan.result, added, lane, part);
          is_made &= std::isfinite(operand);
          operands += (part == 0 ? "" : ", ") + text_of_float(plan.result, operand);
        }
        // What memory had before is not known; that it was finite is what the tags say.
        if (is_made && instr.modifiers.atom_op == ptx::AtomOp::add) {
          const auto describe = [&] {
            return fmt::format("an atomic sum does not fit in {} when {} is added",
                               name_of(plan.result), operands);
          };
          tag = origins_.made((specials.nan >> lane & 1u) != 0 ? Made::nan : Made::infinity,
                              *step.program, step.pc, describe, reporter_,
                              thread_of(step.place, lane));
        }
      }
    } else if (is_swap && tag != 0) {
      const std::byte* const swapped = row_of(*step.registers, instr[AtomicOperand::swap]);
      const std::size_t width = access.element_bytes == 8 ? 8 : 4;
      const bool is_there =
          std::memcmp(allocation.data + offset, swapped + lane * width, access.element_bytes) == 0;
      if (!is_there) tag = before;
    }
    memory_.set(allocation, offset, access.element_bytes,
                tag_in(allocation, tag, access, lane, offset));
  }
}

// An integer maximum orders the bits of floats as floats only if they are positive: -0.0 is the
// least integer, and of two negative floats the greater one has the lesser bits.
void NumericsChecker::compare_float_bits(const InstrStep& step, unsigned lane) {
  const Instr& instr = step.program->code[step.pc];
  const FloatBits left(updated_->allocation->data + updated_->offset[lane]);
  const FloatBits operand(saved_[0].row.data() + lane * 4);
  const Ref& old = instr[AtomicOperand::old];
  const bool is_unsigned = !ptx::is_signed(instr.modifiers.type);
  // The least of the bits of negative floats, as unsigned integers, is the greatest float: that is
  // the other half of a maximum by atomicMax() of the positive ones.
  const bool is_other_half = is_unsigned && plan_->has_other_half && std::signbit(operand.value);
  const bool is_max = (instr.modifiers.atom_op == ptx::AtomOp::max) != is_other_half;
  const bool is_lost = std::isnan(operand.value)
                           ? left.bits != operand.bits
                           : (is_max ? left.value < operand.value : left.value > operand.value);
  if (!is_lost) return;
  reporter_.report({step.program, step.pc, ptx::kNone, 4}, [&] {
    Finding finding;
    finding.kind = FindingKind::ignored_nan;
    finding.space = space_name(updated_->space);
    finding.kernel = kernel_name(step.program->kernel);
    finding.object = describe_element(*updated_, lane);
    finding.accesses = {
        reporter_.side("atomic", *step.program, step.pc, thread_of(step.place, lane))};
    finding.message = fmt::format(
        "(1) compares the bits of floats as integers: {} leaves {} in memory{}",
        text_of_float(FloatFormat::f32, operand.value), text_of_float(FloatFormat::f32, left.value),
        old.bank == Bank::word
            ? fmt::format(
                  ", which had {}",
                  text_of_float(FloatFormat::f32,
                                float_at(FloatFormat::f32, row_of(*step.registers, old), lane)))
            : std::string());
    return finding;
  });
}

void NumericsChecker::report_seen(const Allocation& allocation, std::uint32_t offset,
                                  std::uint32_t bytes, std::string_view by) {
  struct Seen {
    std::uint32_t first = 0, last = 0;
    std::uint64_t elements = 0;
  };
  std::map<Tag, Seen> seen;
  memory_.for_each(allocation, offset, bytes, [&](Tag tag, std::uint32_t at) {
    const std::uint32_t size = std::max(origins_.element_bytes(tag), 1u);
    const std::uint32_t element = at / size * size;
    const auto [known, is_new] = seen.try_emplace(tag, Seen{element, element, 1});
    if (is_new || known->second.last == element) return;
    known->second.last = element;
    ++known->second.elements;
  });
  for (const auto& [tag, where] : seen) {
    ValueOrigin& origin = origins_.origin_of(tag);
    origin.is_seen = true;
    const AccessSide* const store = origins_.last_store(tag);
    reporter_.report(
        {origin.program, origin.pc, store == nullptr ? ptx::kNone : store->instruction, 5},
        [&] {
          Finding finding = finding_of(origin);
          finding.space = "global";
          finding.object = describe(allocation, where.first, origins_.element_bytes(tag));
          if (store != nullptr) finding.accesses.push_back(*store);
          const std::string way = origins_.way_of(tag);
          finding.message +=
              fmt::format("; (2) stores it{}{}, and {} reads it", way.empty() ? "" : ", ", way, by);
          return finding;
        },
        where.elements);
  }
}

void NumericsChecker::on_host_access(const HostAccess& access) {
  if (!memory_.has(*access.allocation)) return;
  if (access.write) return memory_.set(*access.allocation, access.offset, access.bytes, 0);
  report_seen(*access.allocation, access.offset, access.bytes, "the host");
}

void NumericsChecker::on_operand(const OperandAccess& access) {
  if (!memory_.has(*access.allocation)) return;
  if (access.write) return memory_.set(*access.allocation, access.offset, access.bytes, 0);
  report_seen(*access.allocation, access.offset, access.bytes, access.operand->function);
}

void NumericsChecker::forget_written_by_host() {
  shared_.for_each_changed([&](const Allocation& allocation, std::uint32_t at, std::uint32_t size) {
    memory_.set(allocation, at, size, 0);
  });
}

void NumericsChecker::report_shared(const Allocation& allocation) {
  if (shared_.has(allocation) && memory_.has(allocation))
    report_seen(allocation, 0, allocation.limit(), "the host, which shares the memory,");
}

void NumericsChecker::on_free(const Allocation& allocation) {
  forget_written_by_host();
  allocation.for_each_part([&](const Allocation& part) { report_shared(part); });
  shared_.freed(allocation);
  if (!memory_.has(allocation)) return;
  memory_.for_each(allocation, 0, allocation.limit(),
                   [&](Tag tag, std::uint32_t) { origins_.leave(tag); });
  memory_.clear(allocation);
}

// What a program prints, somebody reads.
void NumericsChecker::print(const InstrStep& step) {
  for (const Ref& ref : plan_->results) warp_->tags.clear(step, ref, step.active);
  const Allocation* const local = step.warp->local;
  if (local == nullptr || !memory_.has(*local)) return;
  for_each_bit(step.active, [&](unsigned lane) {
    for (const PrintedArgument& argument : printed_arguments(step, lane)) {
      Tag tag = 0;
      for (std::uint32_t i = 0; i < argument.bytes / 4 && tag == 0; ++i)
        tag = memory_.get(*local, argument.offsets[i], 4);
      if (tag == 0) continue;
      ValueOrigin& origin = origins_.origin_of(tag);
      origin.is_seen = true;
      reporter_.report({origin.program, origin.pc, step.pc, 9}, [&] {
        Finding finding = finding_of(origin);
        finding.accesses.push_back(
            reporter_.side("print", *step.program, step.pc, thread_of(step.place, lane)));
        const std::string way = origins_.way_of(tag);
        finding.message += fmt::format("; (2) prints it{}{}", way.empty() ? "" : ", ", way);
        return finding;
      });
    }
  });
}

void NumericsChecker::on_trial_end(std::span<const Allocation* const> /*left*/) {
  forget_written_by_host();
  shared_.for_each([&](const Allocation& allocation) { report_shared(allocation); });
  report_ignored_in_one_line();
  memory_.for_each([&](Tag tag) { origins_.leave(tag); });
  for (const ValueOrigin& origin : origins_.all()) {
    if (origin.is_seen || origin.is_asked || !origin.is_left) continue;
    reporter_.report({origin.program, origin.pc, ptx::kNone, 6}, [&] {
      Finding finding = finding_of(origin);
      finding.severity = Severity::note;
      finding.space = "global";
      finding.object = origin.stored;
      finding.accesses.push_back(origin.stored_by);
      finding.message += "; (2) stores it, and the host does not read it";
      return finding;
    });
  }
}

}  // namespace warpcheck::vgpu
