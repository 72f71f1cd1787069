#include "vgpu/machine/warp/native_runs.hpp"

#include <utility>

#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {

// Handles a branch at run.pc that splits the lanes, at which machine code has stopped.  `other`
// describes what Warps::pick() would do with the two fragments.  False: nothing was done, because
// there would be three fragments, or one of them has no machine code.
bool NativeRuns::diverge(RunningFragment& run, Diverged& other, std::uint64_t& lane_steps) {
  const Instr& instr = launch_.program->code[run.pc];
  const bool parts = instr.kind == InstrKind::branch && instr.guard.bank != Bank::none &&
                     launch_.native_some != nullptr && launch_.quantum_left != 0 &&
                     !run.warp.undefined.any();
  if (!parts) return false;
  const std::uint32_t value = read_predicate(run.banks, instr.guard);
  const std::uint32_t taken = run.mask & (instr.guard_negated ? ~value : value);
  const std::uint32_t stay = run.mask & ~taken, next = run.pc + 1;
  const bool taken_meet = instr.target == other.at, others_meet = next == other.at;
  if (taken == 0 || stay == 0 || instr.target == next) return false;
  if (other.lanes != 0 && !taken_meet && !others_meet) return false;
  --launch_.quantum_left;
  lane_steps += lane_count(taken);
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

// Runs lanes that were together and have stopped at a branch, for as long as they split and meet
// again, until the interpreter must continue.  The lanes at the lower pc run first, as in
// Warps::pick().
void NativeRuns::run_apart(NativeFrame& frame, RunningFragment& run, Diverged& other,
                           std::uint64_t& lane_steps) {
  while (run.pc >= other.at || diverge(run, other, lane_steps)) {
    if (run.pc == other.at) {
      run.mask |= std::exchange(other, {}).lanes;
    } else if (run.pc > other.at) {
      std::swap(run.mask, other.lanes);
      std::swap(run.pc, other.at);
      other.is_first = !other.is_first;
    }
    const NativeCode* const code = code_for(run.mask);
    if (code != nullptr && code->begins_at(run.pc) && !run.warp.undefined.any()) {
      this->run(frame, *code, run, other.at, lane_steps);
    }
  }
}

// Splits the warp's only fragment, whose lanes have diverged, into two fragments.
void NativeRuns::park(Warp& warp, const RunningFragment& run, const Diverged& other) {
  Fragment first = warp.fragments.front(), second = first;
  Fragment& running = other.is_first ? second : first;
  Fragment& waiting = other.is_first ? first : second;
  running.pc = run.pc;
  running.mask = run.mask;
  waiting.pc = other.at;
  waiting.mask = other.lanes;
  warp.fragments.assign({std::move(first), std::move(second)});
}

// Returns false if the warp's lanes are together.
bool NativeRuns::part(Warp& warp, NativeFrame& frame, RunningFragment& run,
                      std::uint64_t& lane_steps) {
  Diverged other;
  run_apart(frame, run, other, lane_steps);
  if (other.lanes == 0) return false;
  park(warp, run, other);
  return true;
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
