#include "vgpu/machine/warp/native_runs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {

// Joins parts at the same place, as Warps::pick() does.
void NativeRuns::Parts::join() {
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    for (std::uint32_t j = count - 1; j > i; --j) {
      if (part[j].pc != part[i].pc) continue;
      part[i].lanes |= part[j].lanes;
      std::copy(part.begin() + j + 1, part.begin() + count, part.begin() + j);
      --count;
    }
  }
}

// Chooses the part at the lowest pc, which runs next, and returns the next lowest pc.
std::uint32_t NativeRuns::Parts::choose() {
  std::uint32_t lowest = part[0].pc, next = ptx::kNone;
  running = 0;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (part[i].pc < lowest) {
      next = std::exchange(lowest, part[i].pc);
      running = i;
    } else {
      next = std::min(next, part[i].pc);
    }
  }
  return next;
}

// Returns how the branch at run.pc, at which machine code has stopped, splits the running lanes;
// nothing: it does not, or the parts have no machine code.  The branch is then executed.
[[gnu::always_inline]] inline std::optional<NativeRuns::Sides> NativeRuns::split(
    NativeFrame& frame, const RunningFragment& run) {
  const Instr& instr = launch_.program->code[run.pc];
  const bool divides = instr.kind == InstrKind::branch && instr.guard.bank != Bank::none &&
                       launch_.native_some != nullptr && frame.quantum_left != 0 &&
                       !run.warp.undefined.any();
  if (!divides) return std::nullopt;
  const std::uint32_t value = read_predicate(run.banks, instr.guard);
  const std::uint32_t taken = run.mask & (instr.guard_negated ? ~value : value);
  const std::uint32_t stay = run.mask & ~taken, next = run.pc + 1;
  if (taken == 0 || stay == 0 || instr.target == next) return std::nullopt;
  --frame.quantum_left;
  frame.lane_steps += lane_count(taken);
  launch_.edge(run.pc, instr.target);
  launch_.edge(run.pc, next);
  return Sides{.stay = {stay, next}, .taken = {taken, instr.target}};
}

// Runs machine code for a part, up to the pc at which another part waits.
[[gnu::always_inline]] inline void NativeRuns::run_part(NativeFrame& frame, RunningFragment& run,
                                                        Part& part, std::uint32_t limit) {
  run.mask = part.lanes;
  run.pc = part.pc;
  const NativeCode* const code = code_for(run.mask);
  if (!can_enter(code, run)) return;
  enter(frame, *code, run, limit);
  count_unguarded(frame, run.mask);
  part.pc = run.pc;
}

NativeRuns::Parted NativeRuns::run_apart(NativeFrame& frame, RunningFragment& run) {
  const std::uint32_t together = run.mask;
  count_unguarded(frame, together);
  std::optional<Sides> sides = split(frame, run);
  if (!sides) return Parted::no;
  auto& [stay, taken] = *sides;
  while (stay.pc != taken.pc) {  // most often an `if`, behind which both meet
    Part& behind = stay.pc < taken.pc ? stay : taken;
    const std::uint32_t limit = std::max(stay.pc, taken.pc);
    run_part(frame, run, behind, limit);
    if (run.pc < limit) return run_parts(frame, run, *sides);
  }
  run.mask = together;
  frame.limit = ptx::kNone;
  return Parted::and_met;
}

// Runs parts until they have met, or one of them has stopped elsewhere than at a branch.
NativeRuns::Parted NativeRuns::run_parts(NativeFrame& frame, RunningFragment& run,
                                         const Sides& sides) {
  Parts parts;
  parts.part[0] = sides.stay;
  parts.part[1] = sides.taken;
  parts.count = 2;
  std::uint32_t limit = ptx::kNone;
  while (true) {
    parts.join();
    limit = parts.choose();
    Part& part = parts.part[parts.running];
    if (parts.count == 1) {
      run.mask = part.lanes;
      run.pc = part.pc;
      frame.limit = ptx::kNone;
      return Parted::and_met;
    }
    run_part(frame, run, part, limit);
    if (run.pc >= limit) continue;
    const std::optional<Sides> split_again = split(frame, run);
    if (!split_again) break;
    part = split_again->stay;
    parts.part[parts.count++] = split_again->taken;
  }
  park(run.warp, parts);
  return Parted::for_good;
}

// Splits the warp's only fragment, whose lanes have diverged, into the parts.
void NativeRuns::park(Warp& warp, const Parts& parts) {
  warp.fragments.resize(parts.count, warp.fragments.front());
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    warp.fragments[i].pc = parts.part[i].pc;
    warp.fragments[i].mask = parts.part[i].lanes;
  }
}

// Counts steps of partial fragments that were interpreted although the launch has machine code for
// full ones.
void NativeRuns::count_some(std::uint64_t steps) {
  NativeTier& tier = *launch_.program->native;
  tier.count(Lanes::some, steps);
  if (tier.steps_left(Lanes::some) == 0) compile_for_some();
}

bool NativeRuns::has_become_defined(RunningFragment& run) const {
  if (launch_.native == nullptr || launch_.observers.is_looked_at()) return false;
  run.warp.undefined.forget_dead(~run.warp.live, run.mask, [&](Bank bank, std::uint32_t row) {
    return !launch_.native->is_live(run.pc, bank, row);
  });
  return !run.warp.undefined.any();
}

void NativeRuns::compile_for_some() {
  launch_.native_some =
      launch_.program->native->make(*launch_.program, Lanes::some, FragmentLoop::native_calls());
}

}  // namespace warpcheck::vgpu
