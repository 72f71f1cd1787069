#include "vgpu/machine/sync/block_barriers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpcheck::vgpu {

using Reason = BarrierDivergence::Reason;

namespace {

// Returns whether two instructions come from one place in the source, as copies in an unrolled
// loop.
bool are_copies(const Program& program, std::uint32_t pc, std::uint32_t other) {
  const ptx::SourceLocation* a = &program.source_of(pc).location;
  const ptx::SourceLocation* b = &program.source_of(other).location;
  if (a->file == ptx::kNone) return false;
  while (a->file == b->file && a->line == b->line && a->column == b->column) {
    if (a->inlined_at == b->inlined_at) return true;
    if (a->inlined_at == ptx::kNone || b->inlined_at == ptx::kNone) return false;
    a = &program.locations[a->inlined_at];
    b = &program.locations[b->inlined_at];
  }
  return false;
}

}  // namespace

void BlockBarriers::complete_if_all_wait(Slot& slot) {
  if (slot.live_lanes == 0 || slot.waiting_lanes != slot.live_lanes) return;
  if (release_together(slot)) [[likely]]
    return;
  report_divergence(slot, report_passed_by(slot, waiters_of(slot, 0)));
  slot.waiting_lanes = 0;
  release(slot);
}

// Handles the common case: all warps are at one barrier instruction with all their lanes together,
// and no thread has exited.  False: nothing was done, because this is not that case.
bool BlockBarriers::release_together(Slot& slot) {
  if (slot.exit_pc != ptx::kNone || slot.warps.front().fragments.empty()) return false;
  const std::uint32_t pc = slot.warps.front().fragments.front().pc;
  if (launch_.program().code[pc].modifiers.red) return false;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    const Fragments& fragments = slot.warps[index].fragments;
    if (fragments.size() != 1 || fragments.front().pc != pc) return false;
  }
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    slot.warps[index].fragments.front().resume();
  }
  slot.ready_warps = launch_.all_warps();
  slot.waiting_lanes = 0;
  complete_together(slot);
  return true;
}

void BlockBarriers::complete_together(Slot& slot) {
  ++slot.phase;
  report_release(slot);
}

std::vector<BlockBarriers::Waiter> BlockBarriers::waiters_of(Slot& slot,
                                                             std::uint32_t number) const {
  std::vector<Waiter> waiters;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    for (Fragment& fragment : slot.warps[index].fragments) {
      if (fragment.state == Fragment::State::at_barrier && fragment.barrier == number) {
        waiters.emplace_back(&slot.warps[index], &fragment);
      }
    }
  }
  return waiters;
}

void BlockBarriers::release(Slot& slot) {
  ++slot.phase;
  std::vector<Waiter> reducing;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    for (Fragment& fragment : slot.warps[index].fragments) {
      const bool reduces = launch_.program().code[fragment.pc].modifiers.red;
      if (reduces) reducing.emplace_back(&slot.warps[index], &fragment);
    }
  }
  if (!reducing.empty()) reduce(reducing);
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    Warp& warp = slot.warps[index];
    for (Fragment& fragment : warp.fragments) {
      fragment.resume();
    }
    if (!warp.fragments.empty()) slot.ready_warps |= 1u << index;
  }
  report_release(slot);
}

void BlockBarriers::report_release(const Slot& slot) {
  launch_.note_last();
  if (launch_.observers().list->of_blocks().empty()) return;
  release_.program = &launch_.program();
  release_.place = {slot.block, 0, slot.index, slot.phase};
  release_.shared = slot.shared;
  launch_.notify_of_block(release_);
}

void BlockBarriers::reduce(const std::vector<Waiter>& waiters) {
  std::uint32_t count = 0, threads = 0;
  UndefinedLanes undefined;
  for (const auto& [warp, fragment] : waiters) {
    const Instr& instr = launch_.program().code[fragment->pc];
    if (!instr.modifiers.red) continue;
    const std::uint32_t predicate = read_predicate(banks_of(launch_.program(), *warp, *fragment),
                                                   instr[BarrierOperand::predicate]);
    count += static_cast<std::uint32_t>(std::popcount(predicate & fragment->mask));
    threads += static_cast<std::uint32_t>(std::popcount(fragment->mask));
    const UndefinedLanes value =
        warp->undefined.get(frame_of(*fragment), instr[BarrierOperand::predicate]);
    if ((value.mask & fragment->mask) != 0) undefined = {~0u, value.origin};
  }
  for (const auto& [warp, fragment] : waiters) {
    const Instr& instr = launch_.program().code[fragment->pc];
    const Ref& to = instr[BarrierOperand::result];
    if (!instr.modifiers.red || to.bank == Bank::none) continue;
    std::byte* const row = row_of(banks_of(launch_.program(), *warp, *fragment), to);
    if (instr.modifiers.popc) {
      launch_.rows().broadcast(row, to.bank == Bank::wide, count, fragment->mask);
    } else {
      const bool is_and = instr.modifiers.bool_op == ptx::BoolOp::and_;
      const bool result = is_and ? count == threads : count != 0;
      std::uint32_t bits = 0;
      std::memcpy(&bits, row, sizeof bits);
      bits = (bits & ~fragment->mask) | (result ? fragment->mask : 0u);
      std::memcpy(row, &bits, sizeof bits);
    }
    warp->undefined.set(frame_of(*fragment), to, undefined, fragment->mask, launch_.program());
  }
}

// Returns whether lanes of one warp wait at an aligned barrier apart: all lanes of a warp must
// execute the same instruction, in the same call and the same iteration of a loop.
bool BlockBarriers::wait_apart(const Slot& slot, const Warp& warp, const Fragment& one,
                               const Fragment& other) const {
  if (!launch_.program().code[one.pc].modifiers.aligned) return false;
  if (one.callers != other.callers) return true;
  PassedBarriers* const passed = launch_.observers().passed_barriers;
  return passed != nullptr && passed->differ(slot, warp, one.pc, one.mask, other.mask);
}

// Returns why two threads that wait at different instructions do not wait at one barrier; nothing:
// they do.
std::optional<Reason> BlockBarriers::difference(const Fragment& one, const Fragment& other) const {
  if (other.barrier != one.barrier) return Reason::different_barriers;
  if (other.pc == one.pc) return std::nullopt;
  const ptx::Modifiers& m = launch_.program().code[one.pc].modifiers;
  const ptx::Modifiers& n = launch_.program().code[other.pc].modifiers;
  if (m.red != n.red) return Reason::different_uses;
  const bool differ = (m.aligned || n.aligned) && !are_copies(launch_.program(), one.pc, other.pc);
  return differ ? std::optional(Reason::different_barriers) : std::nullopt;
}

// Finds two threads that do not wait at one barrier.  False: there are none.
bool BlockBarriers::find_difference(const Slot& slot, BarrierDivergence& divergence) const {
  const Warp* first_warp = nullptr;
  const Fragment* first = nullptr;
  bool all_uniform = slot.exit_pc == ptx::kNone;
  const auto set = [&](Reason reason, const Warp& warp, const Fragment& one, const Warp& other_warp,
                       const Fragment& other) {
    divergence.reason = reason;
    divergence.place = launch_.place_of(slot, warp);
    divergence.pc = one.pc;
    divergence.lane = static_cast<unsigned>(std::countr_zero(one.mask));
    divergence.other_pc = other.pc;
    divergence.other_warp = other_warp.index;
    divergence.other_lane = static_cast<unsigned>(std::countr_zero(other.mask));
  };
  bool found = false;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    const Warp& warp = slot.warps[index];
    for (const Fragment& fragment : warp.fragments) {
      const Fragment& beside = warp.fragments.front();
      all_uniform = all_uniform && fragment.is_at_place_of(beside);
      if (first == nullptr) {
        first_warp = &warp;
        first = &fragment;
        continue;
      }
      if (found) continue;
      std::optional<Reason> reason = difference(*first, fragment);
      if (reason) {
        set(*reason, *first_warp, *first, warp, fragment);
      } else if (&fragment != &beside && fragment.pc == beside.pc &&
                 wait_apart(slot, warp, beside, fragment)) {
        reason = Reason::different_iterations;
        set(*reason, warp, beside, warp, fragment);
      }
      found = reason.has_value();
    }
  }
  const bool is_by_role = found && all_uniform && divergence.reason == Reason::different_barriers &&
                          divergence.other_pc != divergence.pc && is_one_number(slot);
  if (is_by_role) divergence.reason = Reason::by_role;
  return found;
}

bool BlockBarriers::is_one_number(const Slot& slot) const {
  std::optional<std::uint32_t> number;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    for (const Fragment& fragment : slot.warps[index].fragments) {
      if (number.value_or(fragment.barrier) != fragment.barrier) return false;
      number = fragment.barrier;
    }
  }
  return true;
}

bool BlockBarriers::report_divergence(const Slot& slot, bool is_passed_by) {
  BarrierDivergence divergence;
  if (find_difference(slot, divergence)) {
    if (divergence.reason == Reason::by_role) note_roles(slot);
  } else if (slot.exit_pc == ptx::kNone || is_passed_by || slot.live_lanes == 0) {
    return is_passed_by;
  } else if (!find_left_role(slot, divergence)) {
    const Warp* const warp =
        std::find_if(slot.warps.data(), slot.warps.data() + launch_.warps_per_block(),
                     [](const Warp& one) { return !one.fragments.empty(); });
    divergence.reason = Reason::exited;
    divergence.place = launch_.place_of(slot, *warp);
    divergence.pc = warp->fragments.front().pc;
    divergence.lane = static_cast<unsigned>(std::countr_zero(warp->fragments.front().mask));
    divergence.other_pc = slot.exit_pc;
    divergence.other_warp = slot.exit_warp;
    divergence.other_lane = slot.exit_lane;
  }
  divergence.program = &launch_.program();
  launch_.notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
  return true;
}

// Whole warps have met at different barriers.
void BlockBarriers::note_roles(const Slot& slot) {
  Roles roles{slot.serial, {}};
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    roles.pcs.push_back(slot.warps[index].fragments.front().pc);
  }
  if (roles_.size() <= slot.index) roles_.resize(slot.index + std::size_t{1});
  roles_[slot.index] = std::move(roles);
}

// Looks for a warp that waits where another one was when whole warps met at different barriers, and
// has exited since: then they have not met as it seemed.
bool BlockBarriers::find_left_role(const Slot& slot, BarrierDivergence& divergence) const {
  if (roles_.size() <= slot.index || roles_[slot.index].serial != slot.serial) return false;
  const std::vector<std::uint32_t>& pcs = roles_[slot.index].pcs;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    for (const Fragment& fragment : slot.warps[index].fragments) {
      if (fragment.pc == pcs[index]) continue;
      for (std::uint32_t other = 0; other < launch_.warps_per_block(); ++other) {
        if (slot.warps[other].live != 0 || pcs[other] != fragment.pc) continue;
        divergence.reason = Reason::different_barriers;
        divergence.place = launch_.place_of(slot, slot.warps[index]);
        divergence.pc = pcs[index];
        divergence.lane = static_cast<unsigned>(std::countr_zero(fragment.mask));
        divergence.other_pc = fragment.pc;
        divergence.other_warp = other;
        return true;
      }
    }
  }
  return false;
}

bool BlockBarriers::report_passed_by(const Slot& slot, const std::vector<Waiter>& waiters,
                                     const std::vector<WarpLanes>* arrived) const {
  if (launch_.observers().passed_barriers == nullptr || slot.exit_pc == ptx::kNone) return false;
  std::vector<PassedBarriers::Waiter> waiting;
  for (const auto& [warp, fragment] : waiters) {
    waiting.push_back({&slot, warp, fragment->pc, fragment->mask});
  }
  return launch_.observers().passed_barriers->report(PassedBarriers::Kind::block, waiting, arrived);
}

}  // namespace warpcheck::vgpu
