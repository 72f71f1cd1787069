#include "vgpu/machine/warp/native_runs.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {

// Takes the fragments that can run.  False: they are in several calls, functions or frames.  A call
// through a register leads to several functions from one place.
bool NativeRuns::Parts::take_ready(const Warp& warp) {
  const std::vector<Fragment>& all = warp.fragments;
  const Fragment* first = nullptr;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].state != Fragment::State::ready || all[i].held) continue;
    if (first == nullptr) first = &all[i];
    if (all[i].function != first->function || all[i].callers != first->callers ||
        all[i].local_top != first->local_top) {
      return false;
    }
    take(all[i].mask, all[i].pc, i);
  }
  return true;
}

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
  launch_.cross(run.slot, run.warp, taken, run.pc, instr.target);
  launch_.cross(run.slot, run.warp, stay, run.pc, next);
  return Sides{.stay = {stay, next, 0}, .taken = {taken, instr.target, 0}};
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

// Executes a jump by a table, as Calls::jump_by_table() does.  False: nothing was done.
bool NativeRuns::jump_by_table(NativeFrame& frame, const RunningFragment& run, Parts& parts) {
  const Instr& instr = launch_.program->code[run.pc];
  if (instr.guard.bank != Bank::none || frame.quantum_left == 0 || run.warp.undefined.any()) {
    return false;
  }
  const std::vector<std::uint32_t>& table = launch_.program->jump_tables[instr.table];
  std::array<Part, kWarpLanes> groups;
  std::uint32_t count = 0;
  for (std::uint32_t rest = run.mask; rest != 0;) {
    const Ref& index = instr[TargetOperand::index];
    const std::uint64_t number =
        lane_value(run, index, static_cast<unsigned>(std::countr_zero(rest)));
    if (number >= table.size()) return false;
    std::uint32_t group = 0;
    for (std::uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (lane_value(run, index, lane) == number) group |= 1u << lane;
    }
    groups[count++] = {group, table[number], 0};
    rest &= ~group;
  }
  if (count != 1 && launch_.native_some == nullptr) return false;
  --frame.quantum_left;
  frame.lane_steps += lane_count(run.mask);
  for (std::uint32_t i = 0; i < count; ++i) {
    launch_.cross(run.slot, run.warp, groups[i].lanes, run.pc, groups[i].pc);
  }
  groups[0].listed = parts.part[parts.running].listed;
  parts.part[parts.running] = groups[0];
  std::copy(groups.begin() + 1, groups.begin() + count, parts.part.begin() + parts.count);
  parts.count += count - 1;
  return true;
}

// Executes the branch at run.pc that splits the running part.  False: nothing was done.
[[gnu::always_inline]] inline bool NativeRuns::diverge(NativeFrame& frame,
                                                       const RunningFragment& run, Parts& parts) {
  if (frame.code[run.pc].kind == InstrKind::jump_table) return jump_by_table(frame, run, parts);
  const std::optional<Sides> sides = split(frame, run);
  if (!sides) return false;
  Part& part = parts.part[parts.running];
  part.lanes = sides->stay.lanes;
  part.pc = sides->stay.pc;
  parts.part[parts.count++] = sides->taken;
  return true;
}

NativeRuns::Parted NativeRuns::run_apart(NativeFrame& frame, RunningFragment& run) {
  const std::uint32_t together = run.mask;
  count_unguarded(frame, together);
  if (frame.code[run.pc].kind == InstrKind::jump_table) {
    Parts parts;
    parts.take(together, run.pc, 0);
    if (!jump_by_table(frame, run, parts)) return Parted::no;
    const Parted parted = run_parts(frame, run, parts);
    if (parted == Parted::for_good) park(run.warp, parts);
    return parted;
  }
  std::optional<Sides> sides = split(frame, run);
  if (!sides) return Parted::no;
  auto& [stay, taken] = *sides;
  while (stay.pc != taken.pc) {  // most often an `if`, behind which both meet
    Part& behind = stay.pc < taken.pc ? stay : taken;
    const std::uint32_t limit = std::max(stay.pc, taken.pc);
    run_part(frame, run, behind, limit);
    if (run.pc >= limit) continue;
    Parts parts;
    parts.take(stay.lanes, stay.pc, 0);
    parts.part[parts.count++] = taken;
    parts.running = &behind == &stay ? 0 : 1;
    if (!diverge(frame, run, parts) || run_parts(frame, run, parts) == Parted::for_good) {
      park(run.warp, parts);
      return Parted::for_good;
    }
    return Parted::and_met;
  }
  run.mask = together;
  frame.limit = ptx::kNone;
  return Parted::and_met;
}

bool NativeRuns::run_fragments(NativeFrame& frame, RunningFragment& run,
                               std::uint64_t& lane_steps) {
  Parts parts;
  if (!parts.take_ready(run.warp) || parts.count < 2) return false;
  const std::uint32_t quantum_left = launch_.quantum_left;
  begin_counts(frame, run);
  if (run_parts(frame, run, parts) == Parted::and_met) {
    parts.part[0].lanes = run.mask;
    parts.part[0].pc = run.pc;
  }
  park(run.warp, parts);
  end_counts(frame, run, lane_steps);
  return frame.quantum_left != quantum_left;
}

// Runs parts until they have met, or one of them has stopped elsewhere than at a branch.
NativeRuns::Parted NativeRuns::run_parts(NativeFrame& frame, RunningFragment& run, Parts& parts) {
  std::uint32_t limit = ptx::kNone;
  do {
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
  } while (run.pc >= limit || diverge(frame, run, parts));
  return Parted::for_good;
}

// Makes the parts fragments of the warp, in place of those that they have been.
void NativeRuns::park(Warp& warp, const Parts& parts) {
  std::vector<Fragment>& fragments = warp.fragments;
  std::uint32_t gone = parts.fragments;
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    const Part& part = parts.part[i];
    std::size_t index = part.listed - std::size_t{1};
    if (part.listed == 0) {
      index = fragments.size();
      fragments.push_back(
          Fragment{fragments[static_cast<unsigned>(std::countr_zero(parts.fragments))]});
    } else {
      gone &= ~(1u << index);
    }
    fragments[index].pc = part.pc;
    fragments[index].mask = part.lanes;
  }
  for (std::uint32_t i = kWarpLanes; i-- > 0;) {
    if ((gone >> i & 1) != 0) fragments.erase(fragments.begin() + i);
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
