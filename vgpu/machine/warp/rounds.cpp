#include "vgpu/machine/warp/rounds.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace warpcheck::vgpu {

bool Rounds::can_run(const Slot& slot) const {
  const bool is_alone = launch_.native != nullptr && !launch_.observers.is_looked_at() &&
                        launch_.limits.enough == nullptr && launch_.warps_per_block != 1 &&
                        !launch_.program->has_named_barriers &&
                        slot.ready_warps == launch_.all_warps() &&
                        (slot.yielded_warps | slot.polling_warps) == 0;
  if (!is_alone || turns_.decides_releases()) return false;
  const Fragment& first = slot.warps.front().fragments.front();
  if (!launch_.native->begins_at(first.pc)) return false;
  return std::all_of(
      slot.warps.begin(), slot.warps.begin() + launch_.warps_per_block, [&](const Warp& warp) {
        const Fragment& fragment = warp.fragments.front();
        const NativeCode* const code = runs_.code_for(fragment.mask);
        return warp.fragments.size() == 1 && fragment.pc == first.pc &&
               fragment.mask == warp.lanes && code != nullptr && code->begins_at(first.pc) &&
               fragment.state == Fragment::State::ready && warp.quanta == 0 &&
               warp.quantum_left == 0 && !warp.undefined.any();
      });
}

Rounds::Departure Rounds::run(Slot& slot, std::uint32_t& number, std::uint64_t until) {
  round_.in_native.steps = &launch_.outcome.steps;
  round_.in_native.until = until;
  round_.begins_at = slot.warps[number].fragments.front().pc;
  round_.together = true;
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    Warp& warp = slot.warps[index];
    Fragment& fragment = warp.fragments.front();
    fragment.held = false;
    NativeFrames::OfWarp& of_warp = frames_.of_warp(slot, warp, fragment);
    of_warp.run->mask = fragment.mask;
    of_warp.frame.round = &round_.in_native;
    frames_.begin_noted(of_warp.frame, *of_warp.run);
    begin_counts(of_warp.frame, warp);
    round_.warps[index] = &of_warp;
  }
  while (true) {
    begin_round(number);
    if (const auto departure = run_round(slot, number)) return *departure;
    if (exits()) return exit_together(slot, number);
    if (!completes_barrier(slot)) return settle(slot, number, true);
    departures_.complete(slot);
    launch_.came_last = false;
    for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
      Warp& warp = slot.warps[index];
      ++(index == number ? warp.releases : warp.stops);
    }
    round_.begins_at = round_.warps[number]->frame.stopped_at + 1;
  }
}

// Prepares the round for all warps; `first` has only the rest of its quantum.
void Rounds::begin_round(std::uint32_t first) {
  round_.first = first;
  round_.in_native.entry = launch_.native->entry(round_.begins_at);
  NativeFrames::OfWarp* before = round_.warps[first];
  before->frame.quantum_left = before->frame.quantum_before = launch_.quantum_left;
  const auto follow = [&](NativeFrames::OfWarp* next) {
    const bool in_code = next != nullptr && before->run->mask == ~0u && next->run->mask == ~0u;
    before->follows = next;
    before->frame.next = in_code ? &next->frame : nullptr;
    before->frame.lanes = before->run->mask;
    before = next;
  };
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    if (index == first) continue;
    NativeFrame& frame = round_.warps[index]->frame;
    frame.quantum_left = frame.quantum_before = launch_.limits.quantum;
    follow(round_.warps[index]);
  }
  follow(nullptr);
}

// Returns nothing if all warps have arrived at a barrier or have exited; `number` was then the last
// of them.
std::optional<Rounds::Departure> Rounds::run_round(Slot& slot, std::uint32_t& number) {
  NativeFrame* frame = &round_.warps[number]->frame;
  while (true) {
    round_.in_native.running = frame;
    const std::uint32_t pc = runs_.code_for(frame->run->mask)->run(*frame, round_.begins_at);
    frame = round_.in_native.running;
    RunningFragment& run = *frame->run;
    number = run.warp.index;
    if (frame->thrown != nullptr) [[unlikely]]
      std::rethrow_exception(std::exchange(frame->thrown, nullptr));
    launch_.quantum_left = frame->quantum_left;
    launch_.quantum_left_before = frame->quantum_before;
    if (pc == ptx::kNone) return settle(slot, number, true);
    run.pc = pc;
    if (frame->code[pc].kind == InstrKind::branch && part_in_round(run, *frame))
      return settle(slot, number, false);
    const Instr& instr = frame->code[run.pc];
    frame->stopped_at = run.pc;
    const bool stops = ends_turn(instr) && launch_.quantum_left != 0;
    if (stops) {
      --launch_.quantum_left;
      ++frame->unguarded;
    }
    launch_.outcome.steps += launch_.quantum_left_before - launch_.quantum_left;
    round_.together = round_.together && !run.warp.undefined.any();
    if (!stops) return settle(slot, number, false);
    NativeFrames::OfWarp* const next = round_.warps[number]->follows;
    if (next == nullptr) return std::nullopt;
    if (launch_.outcome.steps >= round_.in_native.until) return settle(slot, number, true);
    frame = &next->frame;
  }
}

// Calls part() for a warp of the round.
bool Rounds::part_in_round(RunningFragment& run, NativeFrame& frame) {
  NativeFrame* const next = std::exchange(frame.next, nullptr);
  settle_counts(frame, run.warp);
  std::uint64_t lane_steps = 0;
  const bool are_apart = runs_.part(run.warp, frame, run, lane_steps);
  launch_.outcome.lane_steps += lane_steps;
  begin_counts(frame, run.warp);
  frame.next = next;
  if (are_apart) launch_.outcome.steps += launch_.quantum_left_before - launch_.quantum_left;
  return are_apart;
}

void Rounds::begin_counts(NativeFrame& frame, const Warp& warp) {
  frame.accesses_left = warp.ask_at - warp.accesses;
  frame.unguarded = frame.lane_steps = 0;
  frame.limit = ptx::kNone;
}

void Rounds::settle_counts(NativeFrame& frame, Warp& warp) {
  warp.accesses = warp.ask_at - frame.accesses_left;
  launch_.outcome.lane_steps += frame.lane_steps + frame.unguarded * lane_count(warp.lanes);
}

// Returns whether the round has ended with all warps at a barrier from which they continue
// together.
bool Rounds::completes_barrier(const Slot& slot) const {
  const std::uint32_t pc = round_.warps.front()->frame.stopped_at;
  const Instr& instr = launch_.program->code[pc];
  const bool is_plain = round_.together && instr.kind == InstrKind::barrier &&
                        !instr.modifiers.red && slot.exit_pc == ptx::kNone &&
                        launch_.native->begins_at(pc + 1);
  return is_plain &&
         std::all_of(
             round_.warps.begin(), round_.warps.begin() + launch_.warps_per_block,
             [&](const NativeFrames::OfWarp* warp) { return warp->frame.stopped_at == pc; });
}

// Returns whether the round has ended with all warps at exits, and no thread waits for them.
bool Rounds::exits() const {
  const std::vector<Instr>& code = launch_.program->code;
  return !launch_.program->uses_clusters &&
         std::all_of(round_.warps.begin(), round_.warps.begin() + launch_.warps_per_block,
                     [&](const NativeFrames::OfWarp* warp) {
                       return code[warp->frame.stopped_at].kind == InstrKind::exit;
                     });
}

Rounds::Departure Rounds::exit_together(Slot& slot, std::uint32_t last) {
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    NativeFrame& frame = round_.warps[index]->frame;
    settle_counts(frame, slot.warps[index]);
    frame.next = nullptr;
    if (index != last) ++slot.warps[index].stops;
  }
  RunningFragment& run = *round_.warps[round_.first]->run;
  run.pc = round_.warps[round_.first]->frame.stopped_at;
  departures_.exit_together(run);
  slot.ready_warps = 1u << last;
  return Departure::exited;
}

// Updates the state of the block with everything that the round has done so far.
//   last: the warp that ran last
Rounds::Departure Rounds::settle(Slot& slot, std::uint32_t last, bool last_stops) {
  launch_.came_last = false;
  Departure departure = Departure::none;
  bool has_run = true;
  const auto settle_warp = [&](std::uint32_t index) {
    Warp& warp = slot.warps[index];
    NativeFrame& frame = round_.warps[index]->frame;
    RunningFragment& run = *frame.run;
    settle_counts(frame, warp);
    frame.next = nullptr;
    const bool ran = has_run;
    has_run = has_run && index != last;
    if (warp.fragments.size() != 1) return;  // it has diverged
    warp.fragments.front().pc = run.pc = ran ? frame.stopped_at : round_.begins_at;
    if (!ran || (index == last && !last_stops)) return;
    departure = depart(run);
    if (index == last) return;
    if (!warp.is_ready()) slot.ready_warps &= ~(1u << index);
    ++warp.stops;
  };
  settle_warp(round_.first);
  for (std::uint32_t index = 0; index < launch_.warps_per_block; ++index) {
    if (index != round_.first) settle_warp(index);
  }
  return last_stops ? departure : Departure::none;
}

}  // namespace warpcheck::vgpu
