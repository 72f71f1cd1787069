#include "vgpu/machine/warp/native_runs.hpp"

#include <utility>

#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {

// Handles a branch at run.pc that splits the lanes, at which machine code has stopped.  `other`
// describes what Warps::pick() would do with the two fragments.  False: nothing was done, because
// there would be three fragments, or one of them has no machine code.
[[gnu::always_inline]] inline bool NativeRuns::diverge(NativeFrame& frame, RunningFragment& run,
                                                       Diverged& other) {
  const Instr& instr = launch_.program->code[run.pc];
  const bool parts = instr.kind == InstrKind::branch && instr.guard.bank != Bank::none &&
                     launch_.native_some != nullptr && frame.quantum_left != 0 &&
                     !run.warp.undefined.any();
  if (!parts) return false;
  const std::uint32_t value = read_predicate(run.banks, instr.guard);
  const std::uint32_t taken = run.mask & (instr.guard_negated ? ~value : value);
  const std::uint32_t stay = run.mask & ~taken, next = run.pc + 1;
  const bool taken_meet = instr.target == other.at, others_meet = next == other.at;
  if (taken == 0 || stay == 0 || instr.target == next) return false;
  if (other.lanes != 0 && !taken_meet && !others_meet) return false;
  --frame.quantum_left;
  frame.lane_steps += lane_count(taken);
  launch_.edge(run.pc, instr.target);
  launch_.edge(run.pc, next);
  if (others_meet) {  // the waiting one is first; lanes that branch away come after it
    other = {other.lanes | stay, next, true};
    run.mask = taken;
    run.pc = instr.target;
    return true;
  }
  other = {other.lanes | taken, instr.target, other.is_first};
  run.mask = stay;
  run.pc = next;
  return true;
}

// The lanes at the lower pc run first, as in Warps::pick().
NativeRuns::Parted NativeRuns::run_apart(NativeFrame& frame, RunningFragment& run) {
  count_unguarded(frame, run.mask);
  Diverged other;
  if (!diverge(frame, run, other)) return Parted::no;
  do {
    if (run.pc > other.at) {
      std::swap(run.mask, other.lanes);
      std::swap(run.pc, other.at);
      other.is_first = !other.is_first;
    }
    const NativeCode* const code = code_for(run.mask);
    if (can_enter(code, run)) {
      enter(frame, *code, run, other.at);
      count_unguarded(frame, run.mask);
    }
    if (run.pc == other.at) {
      run.mask |= other.lanes;
      frame.limit = ptx::kNone;
      return Parted::and_met;
    }
  } while (run.pc > other.at || diverge(frame, run, other));
  park(run, other);
  return Parted::for_good;
}

// Splits the warp's only fragment, whose lanes have diverged, into two fragments.
void NativeRuns::park(const RunningFragment& run, const Diverged& other) {
  Warp& warp = run.warp;
  Fragment first = warp.fragments.front(), second = first;
  Fragment& running = other.is_first ? second : first;
  Fragment& waiting = other.is_first ? first : second;
  running.pc = run.pc;
  running.mask = run.mask;
  waiting.pc = other.at;
  waiting.mask = other.lanes;
  warp.fragments.assign({std::move(first), std::move(second)});
}

// Counts steps of partial fragments that were interpreted although the launch has machine code for
// full ones.
void NativeRuns::count_some(std::uint64_t steps) {
  NativeTier& tier = *launch_.program->native;
  tier.count(Lanes::some, steps);
  if (tier.steps_left(Lanes::some) == 0) compile_for_some();
}

void NativeRuns::compile_for_some() {
  launch_.native_some =
      launch_.program->native->make(*launch_.program, Lanes::some, FragmentLoop::native_calls());
}

}  // namespace warpcheck::vgpu
