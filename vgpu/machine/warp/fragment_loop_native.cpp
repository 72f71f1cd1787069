// Runs the machine code of the program for a fragment, and implements the functions that machine
// code calls.
#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {

// Sets the parts of a frame that depend on the launch only.
void FragmentLoop::begin_native_launch(NativeFrame& frame) {
  frame.code = launch_.program->code.data();
  frame.sites = parts_.accesses.sites();
  frame.parameters = launch_.request->parameters.data();
  frame.block = &launch_.request->block;
  frame.grid = &launch_.request->grid;
  frame.loop = this;
}

// Sets the parts of a frame that stay the same while a fragment runs.
void FragmentLoop::begin_native_block(NativeFrame& frame, RunningFragment& run) {
  frame.banks = run.banks;
  frame.shared_memory = run.slot.shared;
  frame.shared = shared_of(run.slot);
  frame.position = &run.slot.position;
  frame.threads = parts_.scalars.threads() + run.warp.index * Scalars::kThreadWords;
  frame.run = &run;
  frame.warp = run.warp.index;
}

void FragmentLoop::begin_notes(NativeFrame& frame, const RunningFragment& run) {
  const std::vector<Observer*>& watching = launch_.observers.of_accesses;
  frame.noted_for = watching.data();
  frame.noted_for_count = watching.size();
  RowNotes notes;
  const bool lend_all = std::ranges::all_of(
      watching, [&](Observer* observer) { return observer->lends_notes(run.slot.index, notes); });
  frame.all_settled.settled = frame.shared_memory;
  frame.notes = lend_all ? notes.rows : nullptr;
  frame.states = notes.states != nullptr ? notes.states : &frame.all_settled;
  frame.stored = notes.stored * 0x0101'0101u;
}

FragmentLoop::NativeWarp& FragmentLoop::begin_native_warp(Slot& slot, Warp& warp,
                                                          const Fragment& fragment) {
  const std::size_t at = std::size_t{slot.index} * kWarpsMax + warp.index;
  while (native_warps_.size() <= at) native_warps_.push_back(std::make_unique<NativeWarp>());
  NativeWarp& of_warp = *native_warps_[at];
  of_warp.launch = launch_.number;
  of_warp.words = warp.words.data();
  of_warp.wides = warp.wides.data();
  of_warp.predicates = warp.predicates.data();
  of_warp.word_base = fragment.word_base;
  of_warp.wide_base = fragment.wide_base;
  of_warp.predicate_base = fragment.predicate_base;
  of_warp.run.emplace(slot, warp, *launch_.program, fragment);
  begin_native_launch(of_warp.frame);
  begin_native_block(of_warp.frame, *of_warp.run);
  of_warp.frame.noted_for = nullptr;
  return of_warp;
}

// Handles a branch at run.pc that splits the lanes, at which machine code has stopped.  `other`
// describes what Warps::pick() would do with the two fragments.  False: nothing was done, because
// there would be three fragments, or one of them has no machine code.
bool FragmentLoop::diverge(RunningFragment& run, Diverged& other, std::uint64_t& lane_steps) {
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
void FragmentLoop::run_apart(NativeFrame& frame, RunningFragment& run, Diverged& other,
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
      run_native(frame, *code, run, other.at, lane_steps);
    }
  }
}

// Splits the warp's only fragment, whose lanes have diverged, into two fragments.
void FragmentLoop::park(Warp& warp, const RunningFragment& run, const Diverged& other) {
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
bool FragmentLoop::part(Warp& warp, NativeFrame& frame, RunningFragment& run,
                        std::uint64_t& lane_steps) {
  Diverged other;
  run_apart(frame, run, other, lane_steps);
  if (other.lanes == 0) return false;
  park(warp, run, other);
  return true;
}

// Counts steps of partial fragments that were interpreted although the launch has machine code for
// full ones.
void FragmentLoop::count_some(std::uint64_t steps) {
  NativeTier& tier = *launch_.program->native;
  tier.count(Lanes::some, steps);
  if (tier.steps_left(Lanes::some) == 0) compile_for_some();
}

void FragmentLoop::compile_for_some() {
  launch_.native_some =
      launch_.program->native->make(*launch_.program, Lanes::some, native_calls());
}

// Executes an instruction that cannot end the fragment's run, as the interpreter loop does.
NativeStep FragmentLoop::execute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::warp: compute(run, instr, active); break;
    case InstrKind::special: parts_.scalars.read_special(run, instr, active); break;
    case InstrKind::local_address:
    case InstrKind::param: parts_.scalars.move(run, instr, active); break;
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic: parts_.accesses.execute_next(run, instr, active); break;
    case InstrKind::warp_sync:
      if (!parts_.meetings.all_members_are(run, instr, active)) return NativeStep::leave_before;
      parts_.meetings.operate(run, instr, active);
      break;
    case InstrKind::copy_group: parts_.copies.commit_or_wait(run, instr, active); break;
    case InstrKind::fence: fence(run, instr, active); break;
    default: break;
  }
  return run.warp.undefined.any() ? NativeStep::leave_after : NativeStep::go_on;
}

NativeStep FragmentLoop::execute_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                                    std::uint32_t after) try {
  FragmentLoop& loop = *frame->loop;
  RunningFragment& run = *frame->run;
  run.pc = pc;
  loop.launch_.quantum_left = frame->quantum_left + after;
  loop.launch_.quantum_left_before = frame->quantum_before;
  const NativeStep step = loop.execute(run, frame->code[pc], active);
  if (step == NativeStep::leave_before) {
    frame->lane_steps -= static_cast<std::uint64_t>(std::popcount(active));
  }
  return step;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::access_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                                   std::uint32_t after) try {
  RunningFragment& run = *frame->run;
  run.pc = pc;
  switch (frame->loop->parts_.accesses.execute_again(run, frame->code[pc], active)) {
    case Accesses::Again::made: return NativeStep::go_on;
    case Accesses::Again::made_undefined: return NativeStep::leave_after;
    case Accesses::Again::elsewhere: break;
  }
  return execute_of(frame, pc, active, after);
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::tell_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t strided) try {
  Accesses& accesses = frame->loop->parts_.accesses;
  const bool is_defined = accesses.tell(*frame->run, pc, frame->offset, strided != 0);
  return is_defined ? NativeStep::go_on : NativeStep::leave_after;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::tell_lanes_of(NativeFrame* frame, std::uint32_t pc, Pattern pattern) try {
  Accesses& accesses = frame->loop->parts_.accesses;
  const bool is_defined =
      accesses.tell_lanes(*frame->run, pc, frame->offset, pattern, frame->offsets);
  return is_defined ? NativeStep::go_on : NativeStep::leave_after;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::perform_atomic_of(NativeFrame* frame, std::uint32_t pc) try {
  RunningFragment& run = *frame->run;
  frame->loop->parts_.accesses.perform_atomic(run, pc, frame->offsets);
  return run.warp.undefined.any() ? NativeStep::leave_after : NativeStep::go_on;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

void FragmentLoop::edge_of(NativeFrame* frame, std::uint32_t from, std::uint32_t to) {
  frame->loop->launch_.edge(from, to);
}

NativeCalls FragmentLoop::native_calls() {
  return {execute_of, access_of, tell_of, tell_lanes_of, perform_atomic_of, edge_of};
}

}  // namespace warpcheck::vgpu
