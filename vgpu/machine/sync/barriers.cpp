// Barriers of a whole block (PTX ISA 9.0, 9.7.13.1), and what all barriers have in common.
//
// Programs that know only barrier 0 for all threads, which is nearly every program, need no more
// than a count of the threads that wait; the others are in named_barriers.cpp.
#include <bit>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {
namespace {

// Whether two instructions come from one place of the source: the compiler has unrolled a loop.
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

void Core::arrive(RunningFragment& run, std::size_t index, const Instr& instr,
                  std::uint32_t lanes) {
  if (program_->has_named_barriers) return arrive_at_named(run, index, instr, lanes);
  Fragment& fragment = run.warp.fragments[index];
  fragment.state = Fragment::State::at_barrier;
  fragment.barrier = 0;
  run.slot.waiting_lanes += static_cast<std::uint32_t>(std::popcount(lanes));
  complete_if_all_wait(run.slot);
}

// Nobody waits for threads that have exited.
void Core::recheck_barriers(Slot& slot) {
  if (program_->has_named_barriers) {
    recount_named(slot);
  } else {
    complete_if_all_wait(slot);
  }
}

// A whole-block barrier completes when every thread that has not exited waits.  Threads that
// wait at different barriers cannot have meant the same: that is reported, and the barrier
// completes all the same, so that the trial goes on.
void Core::complete_if_all_wait(Slot& slot) {
  if (slot.live_lanes == 0 || slot.waiting_lanes != slot.live_lanes) return;
  report_divergence(slot);
  slot.waiting_lanes = 0;
  release_block(slot);
}

std::vector<Core::Waiter> Core::waiters_of(Slot& slot, std::uint32_t number) {
  std::vector<Waiter> waiters;
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    for (Fragment& fragment : slot.warps[index].fragments) {
      if (fragment.state == Fragment::State::at_barrier && fragment.barrier == number) {
        waiters.emplace_back(&slot.warps[index], &fragment);
      }
    }
  }
  return waiters;
}

// All threads of the block wait, and go on.
void Core::release_block(Slot& slot) {
  came_last_ = true;
  ++slot.phase;
  std::vector<Waiter> reducing;
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    for (Fragment& fragment : slot.warps[index].fragments) {
      const bool reduces = program_->code[fragment.pc].modifiers.red;
      if (reduces) reducing.emplace_back(&slot.warps[index], &fragment);
    }
  }
  if (!reducing.empty()) reduce(reducing);
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    Warp& warp = slot.warps[index];
    for (Fragment& fragment : warp.fragments) {
      fragment.state = Fragment::State::ready;
      ++fragment.pc;
    }
    if (!warp.fragments.empty()) slot.ready_warps |= 1u << index;
  }
  Sync sync;
  sync.kind = Sync::Kind::barrier_complete;
  sync.program = program_;
  sync.place = {slot.block, 0, slot.index, slot.phase};
  sync.shared = slot.shared;
  notify([&](Observer& observer) { observer.on_sync(sync); });
}

// .red: the predicates of the threads that wait, counted or joined; each gets the result.
void Core::reduce(const std::vector<Waiter>& waiters) {
  std::uint32_t count = 0, threads = 0;
  UndefinedLanes undefined;
  for (const auto& [warp, fragment] : waiters) {
    const Instr& instr = program_->code[fragment->pc];
    if (!instr.modifiers.red) continue;
    const std::uint32_t predicate =
        read_predicate(banks_of(*warp, *fragment), instr[BarrierOperand::predicate]);
    count += static_cast<std::uint32_t>(std::popcount(predicate & fragment->mask));
    threads += static_cast<std::uint32_t>(std::popcount(fragment->mask));
    const UndefinedLanes value =
        warp->undefined.get(frame_of(*fragment), instr[BarrierOperand::predicate]);
    if ((value.mask & fragment->mask) != 0) undefined = {~0u, value.origin};
  }
  for (const auto& [warp, fragment] : waiters) {
    const Instr& instr = program_->code[fragment->pc];
    const Ref& to = instr[BarrierOperand::result];
    if (!instr.modifiers.red || to.bank == Bank::none) continue;
    std::byte* const row = row_of(banks_of(*warp, *fragment), to);
    if (instr.modifiers.popc) {
      rows_.broadcast(row, to.bank == Bank::wide, count, fragment->mask);
    } else {
      const bool is_and = instr.modifiers.bool_op == ptx::BoolOp::and_;
      const bool result = is_and ? count == threads : count != 0;
      std::uint32_t bits = 0;
      std::memcpy(&bits, row, sizeof bits);
      bits = (bits & ~fragment->mask) | (result ? fragment->mask : 0u);
      std::memcpy(row, &bits, sizeof bits);
    }
    warp->undefined.set(frame_of(*fragment), to, undefined, fragment->mask, *program_);
  }
}

// All threads of the block wait.  An aligned barrier is one instruction for all of them; others of
// one number are one barrier wherever they stand.  False: there is nothing to report.
bool Core::report_divergence(const Slot& slot) {
  using Reason = BarrierDivergence::Reason;
  const Warp* first_warp = nullptr;
  const Fragment* first = nullptr;
  BarrierDivergence divergence;
  bool found = false;
  const auto differ = [&](const Fragment& other) {
    if (other.pc == first->pc) return other.barrier != first->barrier;
    const ptx::Modifiers& m = program_->code[first->pc].modifiers;
    const ptx::Modifiers& n = program_->code[other.pc].modifiers;
    if (other.barrier == first->barrier && m.red != n.red) {
      divergence.reason = Reason::different_uses;
      return true;
    }
    if (other.barrier != first->barrier) return true;
    return (m.aligned || n.aligned) && !are_copies(*program_, first->pc, other.pc);
  };
  for (std::uint32_t index = 0; index < warps_per_block_ && !found; ++index) {
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
  if (!found) {
    if (slot.exit_pc == ptx::kNone) return false;
    divergence.reason = Reason::exited;
    divergence.other_pc = slot.exit_pc;
    divergence.other_warp = slot.exit_warp;
    divergence.other_lane = slot.exit_lane;
  }
  divergence.program = program_;
  divergence.place = place_of(slot, *first_warp);
  divergence.pc = first->pc;
  divergence.lane = static_cast<unsigned>(std::countr_zero(first->mask));
  notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
  return true;
}

}  // namespace warpcheck::vgpu
