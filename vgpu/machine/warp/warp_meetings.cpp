#include "vgpu/machine/warp/warp_meetings.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/machine/sync/passed_barriers.hpp"
#include "vgpu/machine/warp/followed_values.hpp"
#include "vgpu/machine/warp/shuffle_source.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

bool are_alike(const Instr& a, const Instr& b) {
  const ptx::Modifiers& m = a.modifiers;
  const ptx::Modifiers& n = b.modifiers;
  return a.opcode == b.opcode && m.type == n.type && m.warp == n.warp && m.shuffle == n.shuffle &&
         m.vote == n.vote && m.atom_op == n.atom_op && m.nan == n.nan && m.absolute == n.absolute;
}

}  // namespace

bool WarpMeetings::all_members_are(const RunningFragment& run, const Instr& instr,
                                   std::uint32_t active) const {
  const Ref& mask = instr[WarpOperand::members];
  const auto first = static_cast<unsigned>(std::countr_zero(active));
  const std::uint32_t members = word_of(run.banks, mask, first);
  if ((members & run.warp.live) != active) return false;
  if (mask.bank == Bank::constant) return true;
  std::array<std::uint32_t, kWarpLanes> masks{};
  std::memcpy(masks.data(), row_of(run.banks, mask), sizeof masks);
  std::uint32_t differs = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    differs |= (masks[lane] ^ members) & (0u - (active >> lane & 1u));
  }
  return differs == 0;
}

void WarpMeetings::execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  if (instr.compute != nullptr) {
    const bool shuffles_some = lanes != ~0u && instr.opcode == ptx::Opcode::shfl_;
    if (shuffles_some || run.warp.undefined.any()) [[unlikely]] {
      use_of_pending(run, instr, lanes);
      undefined_across_lanes(run, instr, lanes);
    }
    instr.compute(run.banks, instr, lanes);
    return;
  }
  const WarpLanes party{run.warp.index, lanes};
  const Meeting meeting{
      &launch_.program(), launch_.place_of(run.slot, run.warp), {&party, 1}, {&party, 1}};
  launch_.notify([&](Observer& observer) { observer.on_meeting(meeting); });
}

void WarpMeetings::operate(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  execute(run, instr, lanes);
  if (launch_.observers().passed_barriers != nullptr) [[unlikely]] {
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    launch_.observers().passed_barriers->report_of_warp(
        run.slot, run.warp, run.pc, lanes, word_of(run.banks, instr[WarpOperand::members], first));
  }
  if (launch_.observers().of_collectives.empty()) return;
  report_collective(launch_.place_of(run.slot, run.warp), run.pc, lanes, lanes);
}

// bar.warp.sync is not a collective here: it orders memory, and is reported as a Meeting.
void WarpMeetings::report_collective(const WarpPlace& place, std::uint32_t pc, std::uint32_t lanes,
                                     std::uint32_t members) const {
  if (launch_.program().code[pc].compute == nullptr) return;
  const Collective collective{&launch_.program(), place, pc, lanes, members};
  for (Observer* observer : launch_.observers().of_collectives) observer->on_collective(collective);
}

// Arithmetic with the result of a product that has not been waited for may be what the compiler has
// moved before the wait, and counts only where it matters.  Operations across lanes and products
// stay where the program has them.
void WarpMeetings::use_of_pending(const RunningFragment& run, const Instr& instr,
                                  std::uint32_t active) const {
  if (run.warp.pending_products.empty()) return;
  const bool is_product = instr.opcode == ptx::Opcode::mma_;
  const Ref& taken = is_product ? instr[MatrixOperand::a] : instr[WarpOperand::value];
  const std::uint32_t origin = run.warp.undefined.get(run.frame, taken).origin;
  if (origin == ptx::kNone) return;
  if (launch_.program().code[origin].kind != InstrKind::group_pending) return;
  launch_.use_of_undefined(run, UndefinedUse::Kind::handed_on, taken, active);
}

// A lane's result of shfl has the undefined bits of what it reads; it is undefined if the lane that
// it reads takes no part (PTX ISA 9.7.9.6).  The results of other operations depend on all lanes.
void WarpMeetings::undefined_across_lanes(RunningFragment& run, const Instr& instr,
                                          std::uint32_t active) {
  UndefinedRegisters& undefined = run.warp.undefined;
  if (instr.opcode != ptx::Opcode::shfl_) {
    undefined.propagate(run.frame, run.banks, instr, active, launch_.program());
    return;
  }
  const UndefinedLanes value = undefined.get(run.frame, instr[WarpOperand::value]);
  const LaneBits bits = undefined.bits_of(run.frame, instr[WarpOperand::value]);
  UndefinedLanes from;  // lanes in which the source lane is undefined
  for (const WarpOperand operand : {WarpOperand::lane, WarpOperand::clamp, WarpOperand::members}) {
    const UndefinedLanes lanes = undefined.get(run.frame, instr[operand]);
    if ((lanes.mask & active) == 0) continue;
    from.mask |= lanes.mask & active;
    from.origin = lanes.origin;
  }
  LaneBits result{};
  std::uint32_t from_nobody = 0, from_somebody = 0;
  ValueLanes values;
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned source = shuffle_source(instr.modifiers.shuffle, lane,
                                           word_of(run.banks, instr[WarpOperand::lane], lane),
                                           word_of(run.banks, instr[WarpOperand::clamp], lane));
    const bool is_nobody = (~active >> source & 1u) != 0;
    const bool is_whole = is_nobody || (from.mask >> lane & 1u) != 0;
    result[lane] = is_whole ? ones_of(4) : bits[source];
    from_nobody |= std::uint32_t{is_nobody} << lane;
    from_somebody |= (value.mask >> source & 1u) << lane;
    values.whole |= (value.values.whole >> source & 1u) << lane;
    values.calculated |= (value.values.calculated >> source & 1u) << lane;
  }
  if (from_nobody != 0 && launch_.observers().following.values)
    report_unfollowed(launch_, run, from_nobody);
  const std::uint32_t origin = from_nobody != 0                    ? run.pc
                               : (from_somebody & ~from.mask) != 0 ? value.origin
                                                                   : from.origin;
  undefined.set_bits(run.frame, instr[WarpOperand::result], result, origin, active,
                     launch_.program(), {values.whole, values.calculated | from_nobody});
  undefined.set(run.frame, instr[WarpOperand::predicate], from, active, launch_.program());
}

// Lanes with another mask are left out and arrive separately.
void WarpMeetings::arrive(RunningFragment& run, std::size_t index, const Instr& instr,
                          std::uint32_t active) {
  Warp& warp = run.warp;
  if (active != run.mask) {
    const std::size_t others = warp.fragments.split(index, run.mask & ~active);
    ++warp.fragments[others].pc;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(active));
  const std::uint32_t members = word_of(run.banks, instr[WarpOperand::members], first);
  std::uint32_t same = 0;
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (word_of(run.banks, instr[WarpOperand::members], lane) == members) same |= 1u << lane;
  }
  const std::uint32_t outsiders = same & ~members;
  const std::uint32_t now = outsiders != 0 ? outsiders : same;
  if (now != active) warp.fragments.split(index, active & ~now);
  if (outsiders != 0) {
    launch_.report_misuse(run, static_cast<unsigned>(std::countr_zero(outsiders)),
                          BarrierDivergence::Reason::not_a_member);
    operate_now(run.slot, warp, {index});
    return;
  }
  Fragment& fragment = warp.fragments[index];
  fragment.state = Fragment::State::at_warp_operation;
  fragment.members = members;
  operate_if_complete(run.slot, warp, index);
}

std::vector<std::size_t> WarpMeetings::fragments_at_same_operation(const Warp& warp,
                                                                   std::size_t index) const {
  const Fragment& one = warp.fragments[index];
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& other = warp.fragments[i];
    const bool waits =
        other.state == Fragment::State::at_warp_operation && other.members == one.members;
    if (!waits || !are_alike(launch_.program().code[other.pc], launch_.program().code[one.pc]))
      continue;
    // Matrix products are .aligned: all lanes execute the same instruction (9.7.14).
    if (other.is_at_place_of(one) || !is_matrix_product(launch_.program().code[one.pc]))
      found.push_back(i);
  }
  return found;
}

bool WarpMeetings::operate_if_complete(Slot& slot, Warp& warp, std::size_t index) {
  const std::vector<std::size_t> here = fragments_at_same_operation(warp, index);
  std::uint32_t present = 0;
  for (const std::size_t i : here) present |= warp.fragments[i].mask;
  if ((warp.fragments[index].members & warp.live & ~present) != 0) return false;
  operate_now(slot, warp, here);
  return true;
}

void WarpMeetings::operate_now(Slot& slot, Warp& warp, const std::vector<std::size_t>& here) {
  const Fragment& first = warp.fragments[here.front()];
  std::uint32_t lanes = 0;
  bool same_place = true;
  for (const std::size_t i : here) {
    lanes |= warp.fragments[i].mask;
    same_place &= warp.fragments[i].is_at_place_of(first);
  }
  const Instr& instr = launch_.program().code[first.pc];
  const bool is_complete = first.state == Fragment::State::at_warp_operation;
  if (launch_.observers().passed_barriers != nullptr && is_complete) {
    launch_.observers().passed_barriers->report_of_warp(slot, warp, first.pc, first.mask,
                                                        first.members);
  }
  if (same_place || instr.compute == nullptr) {
    RunningFragment run(slot, warp, launch_.program(), first);
    execute(run, instr, lanes);
  } else {
    execute_across(warp, here);
  }
  for (const std::size_t i : here) {
    Fragment& fragment = warp.fragments[i];
    if (!launch_.observers().of_collectives.empty()) {
      report_collective(launch_.place_of(slot, warp), fragment.pc, fragment.mask, lanes);
    }
    fragment.resume();
    fragment.held = false;
  }
}

namespace {

// Rows for the operands of an operation whose lanes have their operands in different registers.
class OperandRows {
 public:
  Ref place(WarpOperand operand, Bank bank) {
    banks_.base[static_cast<std::size_t>(bank)] = rows_.front().bytes.data();
    return {bank, static_cast<std::uint32_t>(place_of(operand) * sizeof(Row))};
  }
  [[nodiscard]] const LaneBanks& banks() const { return banks_; }

 private:
  struct alignas(64) Row {
    std::array<std::byte, kWideRowBytes> bytes;
  };
  std::array<Row, kOperandPlaces> rows_{};
  LaneBanks banks_;
};

void copy_lanes(std::byte* to, const std::byte* from, Bank bank, std::uint32_t mask) {
  if (bank == Bank::predicate) {
    std::uint32_t old = 0, bits = 0;
    std::memcpy(&old, to, sizeof old);
    std::memcpy(&bits, from, sizeof bits);
    old = (old & ~mask) | (bits & mask);
    std::memcpy(to, &old, sizeof old);
    return;
  }
  const std::size_t width = bank == Bank::wide ? 8 : 4;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    std::memcpy(to + lane * width, from + lane * width, width);
  }
}

constexpr std::array kWarpOperands = {WarpOperand::result,    WarpOperand::value,
                                      WarpOperand::lane,      WarpOperand::clamp,
                                      WarpOperand::predicate, WarpOperand::members};

Bank bank_of_operand(const Instr& instr, WarpOperand operand) {
  const bool is_vote = instr.opcode == ptx::Opcode::vote_;
  const bool is_ballot = is_vote && instr.modifiers.vote == ptx::VoteMode::ballot;
  const bool is_result = operand == WarpOperand::result, is_value = operand == WarpOperand::value;
  if (operand == WarpOperand::predicate) return Bank::predicate;
  if (is_vote && (is_value || (is_result && !is_ballot))) return Bank::predicate;
  return is_value && instr.modifiers.type == ptx::Type::b64 ? Bank::wide : Bank::word;
}

}  // namespace

// Executes an operation for lanes at different places: copies their operands to common rows, and
// copies the results to each lane's destination.
void WarpMeetings::execute_across(Warp& warp, const std::vector<std::size_t>& here) {
  OperandRows rows;
  Instr merged = launch_.program().code[warp.fragments[here.front()].pc];
  std::uint32_t lanes = 0;
  UndefinedLanes undefined;
  const auto each = [&](auto visit) {
    for (const std::size_t i : here) {
      const Fragment& fragment = warp.fragments[i];
      LaneBanks banks = banks_of(launch_.program(), warp, fragment);
      visit(fragment, launch_.program().code[fragment.pc], banks);
    }
  };
  for (const WarpOperand operand : kWarpOperands) {
    merged[operand] = rows.place(operand, bank_of_operand(merged, operand));
  }
  each([&](const Fragment& fragment, const Instr& instr, const LaneBanks& banks) {
    lanes |= fragment.mask;
    for (const WarpOperand operand : kWarpOperands) {
      if (operand == WarpOperand::result || operand == WarpOperand::predicate) continue;
      const Ref& from = instr[operand];
      const Ref& to = merged[operand];
      if (from.bank == Bank::none) continue;
      copy_lanes(row_of(rows.banks(), to), row_of(banks, from), to.bank, fragment.mask);
      const UndefinedLanes value = warp.undefined.get(frame_of(fragment), from);
      if ((value.mask & fragment.mask) != 0) undefined = {~0u, value.origin};
    }
  });
  merged.compute(rows.banks(), merged, lanes);
  each([&](const Fragment& fragment, const Instr& instr, const LaneBanks& banks) {
    for (const WarpOperand operand : {WarpOperand::result, WarpOperand::predicate}) {
      const Ref& from = merged[operand];
      const Ref& to = instr[operand];
      if (to.bank == Bank::none) continue;
      copy_lanes(row_of(banks, to), row_of(rows.banks(), from), from.bank, fragment.mask);
      warp.undefined.set(frame_of(fragment), to, undefined, fragment.mask, launch_.program());
    }
  });
}

void WarpMeetings::recheck(Slot& slot, Warp& warp) {
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    if (warp.fragments[i].state == Fragment::State::at_warp_operation) {
      operate_if_complete(slot, warp, i);
    }
  }
}

bool WarpMeetings::release_stuck(Slot& slot) {
  for (std::uint32_t number = 0; number < launch_.warps_per_block(); ++number) {
    Warp& warp = slot.warps[number];
    for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
      const Fragment& fragment = warp.fragments[i];
      if (fragment.state != Fragment::State::at_warp_operation) continue;
      const std::vector<std::size_t> here = fragments_at_same_operation(warp, i);
      std::uint32_t missing = fragment.members & warp.live;
      for (const std::size_t at : here) missing &= ~warp.fragments[at].mask;
      const auto elsewhere = std::ranges::find_if(
          warp.fragments, [&](const Fragment& other) { return (other.mask & missing) != 0; });
      BarrierDivergence divergence;
      divergence.reason = BarrierDivergence::Reason::elsewhere;
      divergence.program = &launch_.program();
      divergence.place = launch_.place_of(slot, warp);
      divergence.pc = fragment.pc;
      divergence.lane = static_cast<unsigned>(std::countr_zero(fragment.mask));
      divergence.other_pc = elsewhere->pc;
      divergence.other_warp = number;
      divergence.other_lane = static_cast<unsigned>(std::countr_zero(elsewhere->mask & missing));
      launch_.notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
      if (launch_.observers().passed_barriers != nullptr) {
        launch_.observers().passed_barriers->forgive_warp(slot, warp);
      }
      operate_now(slot, warp, here);
      slot.ready_warps |= 1u << number;
      return true;
    }
  }
  return false;
}

}  // namespace warpcheck::vgpu
