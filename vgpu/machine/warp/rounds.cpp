#include "vgpu/machine/warp/rounds.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

bool Rounds::can_run(const Slot& slot) {
  const bool is_alone = launch_.native() != nullptr && !launch_.observers().is_looked_at() &&
                        launch_.limits().enough == nullptr && launch_.warps_per_block() != 1 &&
                        !launch_.program().has_named_barriers &&
                        slot.ready_warps == launch_.all_warps() &&
                        (slot.yielded_warps | slot.polling_warps) == 0;
  if (!is_alone || turns_.decides_releases()) return false;
  if (linked_.at_entry(slot)) return true;
  linked_.unlink();
  const Fragment& first = slot.warps.front().fragments.front();
  if (!launch_.native()->begins_at(first.pc)) return false;
  return std::all_of(slot.warps.begin(), slot.warps.begin() + launch_.warps_per_block(),
                     [&](const Warp& warp) {
                       const Fragment& fragment = warp.fragments.front();
                       const NativeCode* const code = runs_.code_for(fragment.mask);
                       return warp.fragments.size() == 1 && fragment.pc == first.pc &&
                              fragment.mask == warp.lanes && code != nullptr &&
                              code->begins_at(first.pc) && fragment.is_ready() &&
                              warp.quanta == 0 && warp.quantum_left == 0 && !warp.undefined.any();
                     });
}

Rounds::RoundEnd Rounds::run(Slot& slot, std::uint32_t& number, std::uint64_t until) {
  round_.in_native.steps = launch_.step_counter();
  round_.in_native.until = until;
  round_.in_native.quantum = launch_.limits().quantum;
  round_.in_native.begins_at = slot.warps[number].fragments.front().pc;
  round_.completed = 0;
  round_.together = true;
  if (!linked_.are_of(slot)) linked_.link(slot, round_.in_native);
  linked_.begin_accesses(slot);
  while (true) {
    round_.in_native.entry = launch_.native()->entry(round_.in_native.begins_at);
    round_.in_native.stopped_at = ptx::kNone;
    linked_.begin_with(number);
    if (const auto end = run_round(slot, number)) return *end;
    if (exits()) return exit_together(slot, number);
    if (!completes_barrier(slot)) return write_back(slot, number, true);
    exits_.complete(slot);
    launch_.forget_last();
    ++round_.completed;
    ++slot.warps[number].releases;
    --slot.warps[number].stops;  // all others have stopped in this round
    round_.in_native.begins_at = round_.in_native.stopped_at + 1;
  }
}

// Returns nothing if all warps have arrived at a barrier or have exited; `number` was then the last
// of them.  The first one has only the rest of its quantum.
std::optional<Rounds::RoundEnd> Rounds::run_round(Slot& slot, std::uint32_t& number) {
  NativeFrame* frame = &linked_[number].frame;
  frame->quantum_left = frame->quantum_before = launch_.quantum().left();
  while (true) {
    const bool are_apart = runs_.run_turns(frame, round_.in_native.begins_at);
    RunningFragment& run = *frame->run;
    number = run.warp.index;
    launch_.quantum().set(frame->quantum_left, frame->quantum_before);
    if (run.pc == ptx::kNone) return write_back(slot, number, true);
    frame->stopped_at = run.pc;
    const bool stops = !are_apart && ends_turn(launch_.program(), frame->code[run.pc]) &&
                       launch_.quantum().left() != 0;
    if (stops) {
      launch_.quantum().use();
      ++frame->unguarded;
      launch_.run_once(run.pc, run.mask);
    }
    launch_.count_run(0);
    std::uint32_t& stopped_at = round_.in_native.stopped_at;
    if (stopped_at == ptx::kNone) stopped_at = run.pc;
    round_.together = round_.together && stopped_at == run.pc && !run.warp.undefined.any();
    if (!stops) return write_back(slot, number, false);
    const std::uint32_t next = linked_.after(number);
    if (next == linked_.size()) return std::nullopt;
    if (launch_.steps() >= round_.in_native.until) return write_back(slot, number, true);
    frame = &linked_[next].frame;
    frame->quantum_left = frame->quantum_before = launch_.limits().quantum;
  }
}

// Returns whether the round has ended with all warps at a barrier from which they continue
// together.
bool Rounds::completes_barrier(const Slot& slot) const {
  const std::uint32_t pc = round_.in_native.stopped_at;
  const Instr& instr = launch_.program().code[pc];
  return round_.together && instr.kind == InstrKind::barrier && !instr.modifiers.red &&
         slot.exit_pc == ptx::kNone && launch_.native()->begins_at(pc + 1);
}

// Returns whether the round has ended with all warps at exits, and no thread waits for them.
bool Rounds::exits() const {
  const std::vector<Instr>& code = launch_.program().code;
  if (code[round_.in_native.stopped_at].kind != InstrKind::exit) return false;
  return !launch_.program().uses_clusters &&
         (round_.together || linked_.all_of([&](const NativeFrame& frame) {
           return code[frame.stopped_at].kind == InstrKind::exit;
         }));
}

Rounds::RoundEnd Rounds::exit_together(Slot& slot, std::uint32_t last) {
  slot.warps[last].stops += round_.completed;  // the others stop no more
  NativeFrame& first = linked_[linked_.first()].frame;
  first.run->pc = first.stopped_at;
  exits_.exit_together(*first.run);
  slot.ready_warps = 1u << last;
  return RoundEnd::exited;
}

// Updates the state of the block with everything that the round has done so far.
//   last: the warp that ran last
Rounds::RoundEnd Rounds::write_back(Slot& slot, std::uint32_t last, bool last_stops) {
  launch_.forget_last();
  RoundEnd end = RoundEnd::none;
  bool has_run = true;
  const auto write_back_warp = [&](std::uint32_t index) {
    Warp& warp = slot.warps[index];
    NativeFrame& frame = linked_[index].frame;
    RunningFragment& run = *frame.run;
    warp.accesses = warp.ask_at - frame.accesses_left;
    warp.stops += round_.completed;
    const bool ran = has_run;
    has_run = has_run && index != last;
    if (warp.fragments.size() != 1) return;  // it has diverged
    warp.fragments.front().pc = run.pc = ran ? frame.stopped_at : round_.in_native.begins_at;
    if (!ran || (index == last && !last_stops)) return;
    end = depart(run);
    if (index == last) return;
    if (!warp.is_ready()) slot.ready_warps &= ~(1u << index);
    ++warp.stops;
  };
  for (std::uint32_t index = linked_.first(); index < linked_.size();
       index = linked_.after(index)) {
    write_back_warp(index);
  }
  linked_.unlink();
  return last_stops ? end : RoundEnd::none;
}

}  // namespace warpcheck::vgpu
