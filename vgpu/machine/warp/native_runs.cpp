#include "vgpu/machine/warp/native_runs.hpp"

#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/branches.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {

// Executes the branch at run.pc, at which machine code has stopped, if it divides the lanes of the
// fragment or jumps by a table.  False: nothing was done.
[[gnu::always_inline]] inline bool NativeRuns::diverges(NativeFrame& frame,
                                                        const RunningFragment& run,
                                                        std::size_t index) {
  const Instr& instr = frame.code[run.pc];
  if (!may_diverge(instr) || frame.quantum_left == 0 || run.warp.undefined.any()) return false;
  const bool is_guarded = instr.guard.bank != Bank::none;
  if (instr.kind == InstrKind::jump_table) {
    if (is_guarded || !is_within_table(launch_.program(), run, instr)) return false;
    --frame.quantum_left;
    frame.lane_steps += lane_count(run.mask);
    launch_.run_once(run.pc, run.mask);
    jump_by_table(launch_, run, index, instr);
    return true;
  }
  if (!is_guarded || launch_.native_some() == nullptr) return false;
  const std::uint32_t taken = guarded_lanes(run.banks, instr, run.mask);
  if (taken == 0 || taken == run.mask || instr.target == run.pc + 1) return false;
  --frame.quantum_left;
  frame.lane_steps += lane_count(taken);
  launch_.run_once(run.pc, run.mask);
  diverge(launch_, run, index, instr, taken);
  return true;
}

// Continues at a branch at which machine code has stopped for lanes that are together.
NativeRuns::Divergence NativeRuns::run_diverging(NativeFrame& frame, RunningFragment& run) {
  count_unguarded(frame, run.mask);
  if (!diverges(frame, run, 0)) return Divergence::none;
  const bool have_met = run_until_reconverged(frame, run, run.warp.fragments.choose());
  return have_met ? Divergence::reconverged : Divergence::apart;
}

bool NativeRuns::run_fragments(NativeFrame& frame, RunningFragment& run, Fragments::Choice next,
                               std::uint64_t& lane_steps) {
  if (!run.warp.fragments.several_share_frame()) return false;
  const std::uint32_t quantum_left = launch_.quantum().left();
  begin_counts(frame, run);
  run_until_reconverged(frame, run, next);
  end_counts(frame, run, lane_steps);
  return frame.quantum_left != quantum_left;
}

// Runs fragments that share a frame until they have reconverged.  False: one of them has stopped
// elsewhere than at a branch.
bool NativeRuns::run_until_reconverged(NativeFrame& frame, RunningFragment& run,
                                       Fragments::Choice next) {
  Fragments& fragments = run.warp.fragments;
  while (true) {
    Fragment& fragment = fragments[next.index];
    run.mask = fragment.mask;
    run.pc = fragment.pc;
    frame.limit = next.limit;
    if (next.limit == ptx::kNone) return true;
    const NativeCode* const code = code_for(run.mask);
    if (can_enter(code, run)) {
      launch_.begin_run(run.pc, run.mask);
      enter(frame, *code, run);
      launch_.end_run(run.pc, run.mask);
      count_unguarded(frame, run.mask);
      fragment.pc = run.pc;
    }
    if (run.pc < next.limit && !diverges(frame, run, next.index)) return false;
    next = fragments.choose();
  }
}

// Counts the runs of the turns that machine code has taken by itself.
//   first, last: the frames with whose turns it has begun and ended
//   begin: where the first one has begun
//   pc: where the last one has stopped; kNone: behind the instruction that ended its turn
void NativeRuns::tally_turns(const NativeFrame& first, std::uint32_t begin, const NativeFrame& last,
                             std::uint32_t pc) const {
  launch_.begin_run(begin, first.lanes);
  for (const NativeFrame* frame = &first; frame != &last; frame = frame->next) {
    launch_.end_run(frame->stopped_at + 1, frame->run->mask);
    launch_.begin_run(frame->round->begins_at, frame->next->run->mask);
  }
  launch_.end_run(pc == ptx::kNone ? last.stopped_at + 1 : pc, last.run->mask);
}

// Counts steps of partial fragments that were interpreted although the launch has machine code for
// full ones.
void NativeRuns::count_some(std::uint64_t steps) {
  NativeTier& tier = *launch_.program().native;
  tier.count(Lanes::some, steps);
  if (tier.steps_left(Lanes::some) == 0) compile_for_some();
}

bool NativeRuns::has_become_defined(RunningFragment& run) const {
  if (launch_.native() == nullptr || launch_.observers().is_looked_at()) return false;
  run.warp.undefined.forget_dead(~run.warp.live, run.mask, [&](Bank bank, std::uint32_t row) {
    return !launch_.native()->is_live(run.pc, bank, row);
  });
  return !run.warp.undefined.any();
}

void NativeRuns::compile_for_some() {
  launch_.use_native_some(
      launch_.program().native->make(launch_.program(), Lanes::some, FragmentLoop::native_calls()));
}

}  // namespace warpcheck::vgpu
