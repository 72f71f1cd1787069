#include "vgpu/machine/sync/block_barriers.hpp"

#include <bit>

namespace warpcheck::vgpu {
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
  report_divergence(slot);
  slot.waiting_lanes = 0;
  release(slot);
}

// Handles the common case: all warps are at one barrier instruction with all their lanes together,
// and no thread has exited.  False: nothing was done, because this is not that case.
bool BlockBarriers::release_together(Slot& slot) {
  if (slot.exit_pc != ptx::kNone || slot.warps.front().fragments.empty()) return false;
  const std::uint32_t pc = slot.warps.front().fragments.front().pc;
  if (launch_.program->code[pc].modifiers.red) return false;
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    const std::vector<Fragment>& fragments = slot.warps[index].fragments;
    if (fragments.size() != 1 || fragments.front().pc != pc) return false;
  }
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    Fragment& fragment = slot.warps[index].fragments.front();
    fragment.state = Fragment::State::ready;
    fragment.pc = pc + 1;
  }
  slot.ready_warps = launch_.all_warps();
  slot.waiting_lanes = 0;
  complete_together(slot);
  return true;
}

void BlockBarriers::complete_together(Slot& slot) {
  ++slot.phase;
  tell_release(slot);
}

std::vector<BlockBarriers::Waiter> BlockBarriers::waiters_of(Slot& slot,
                                                             std::uint32_t number) const {
  std::vector<Waiter> waiters;
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
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
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    for (Fragment& fragment : slot.warps[index].fragments) {
      const bool reduces = launch_.program->code[fragment.pc].modifiers.red;
      if (reduces) reducing.emplace_back(&slot.warps[index], &fragment);
    }
  }
  if (!reducing.empty()) reduce(reducing);
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    Warp& warp = slot.warps[index];
    for (Fragment& fragment : warp.fragments) {
      fragment.state = Fragment::State::ready;
      ++fragment.pc;
    }
    if (!warp.fragments.empty()) slot.ready_warps |= 1u << index;
  }
  tell_release(slot);
}

void BlockBarriers::tell_release(const Slot& slot) {
  launch_.came_last = true;
  if (launch_.observers.list->of_blocks().empty()) return;
  release_.program = launch_.program;
  release_.place = {slot.block, 0, slot.index, slot.phase};
  release_.shared = slot.shared;
  launch_.notify_of_block(release_);
}

void BlockBarriers::reduce(const std::vector<Waiter>& waiters) {
  std::uint32_t count = 0, threads = 0;
  UndefinedLanes undefined;
  for (const auto& [warp, fragment] : waiters) {
    const Instr& instr = launch_.program->code[fragment->pc];
    if (!instr.modifiers.red) continue;
    const std::uint32_t predicate = read_predicate(banks_of(*launch_.program, *warp, *fragment),
                                                   instr[BarrierOperand::predicate]);
    count += static_cast<std::uint32_t>(std::popcount(predicate & fragment->mask));
    threads += static_cast<std::uint32_t>(std::popcount(fragment->mask));
    const UndefinedLanes value =
        warp->undefined.get(frame_of(*fragment), instr[BarrierOperand::predicate]);
    if ((value.mask & fragment->mask) != 0) undefined = {~0u, value.origin};
  }
  for (const auto& [warp, fragment] : waiters) {
    const Instr& instr = launch_.program->code[fragment->pc];
    const Ref& to = instr[BarrierOperand::result];
    if (!instr.modifiers.red || to.bank == Bank::none) continue;
    std::byte* const row = row_of(banks_of(*launch_.program, *warp, *fragment), to);
    if (instr.modifiers.popc) {
      launch_.rows.broadcast(row, to.bank == Bank::wide, count, fragment->mask);
    } else {
      const bool is_and = instr.modifiers.bool_op == ptx::BoolOp::and_;
      const bool result = is_and ? count == threads : count != 0;
      std::uint32_t bits = 0;
      std::memcpy(&bits, row, sizeof bits);
      bits = (bits & ~fragment->mask) | (result ? fragment->mask : 0u);
      std::memcpy(row, &bits, sizeof bits);
    }
    warp->undefined.set(frame_of(*fragment), to, undefined, fragment->mask, *launch_.program);
  }
}

bool BlockBarriers::report_divergence(const Slot& slot) {
  using Reason = BarrierDivergence::Reason;
  const Warp* first_warp = nullptr;
  const Fragment* first = nullptr;
  BarrierDivergence divergence;
  bool found = false;
  const auto differ = [&](const Fragment& other) {
    if (other.pc == first->pc) return other.barrier != first->barrier;
    const ptx::Modifiers& m = launch_.program->code[first->pc].modifiers;
    const ptx::Modifiers& n = launch_.program->code[other.pc].modifiers;
    if (other.barrier == first->barrier && m.red != n.red) {
      divergence.reason = Reason::different_uses;
      return true;
    }
    if (other.barrier != first->barrier) return true;
    return (m.aligned || n.aligned) && !are_copies(*launch_.program, first->pc, other.pc);
  };
  for (std::uint32_t index = 0; index < launch_.warps_per_block && !found; ++index) {
    const Warp& warp = slot.warps[index];
    for (const Fragment& fragment : warp.fragments) {
      if (first == nullptr) {
        first_warp = &warp;
        first = &fragment;
      } else if (differ(fragment)) {
        divergence.other_pc = fragment.pc;
        divergence.other_warp = index;
        divergence.other_lane = static_cast<unsigned>(std::countr_zero(fragment.mask));
        found = true;
        break;
      }
    }
  }
  if (first == nullptr) return false;
  if (!found) {
    if (slot.exit_pc == ptx::kNone) return false;
    divergence.reason = Reason::exited;
    divergence.other_pc = slot.exit_pc;
    divergence.other_warp = slot.exit_warp;
    divergence.other_lane = slot.exit_lane;
  }
  divergence.program = launch_.program;
  divergence.place = launch_.place_of(slot, *first_warp);
  divergence.pc = first->pc;
  divergence.lane = static_cast<unsigned>(std::countr_zero(first->mask));
  launch_.notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
  return true;
}

}  // namespace warpcheck::vgpu
