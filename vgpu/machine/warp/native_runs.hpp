// Runs machine code for a fragment; and for lanes that diverge and reconverge, as long as all of
// their fragments have machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "vgpu/machine/native/native_code.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class NativeRuns {
 public:
  explicit NativeRuns(RunningLaunch& launch) : launch_(launch) {}

  // Returns the machine code for these lanes; null: there is none.
  [[nodiscard]] const NativeCode* code_for(std::uint32_t mask) const {
    return mask == ~0u ? launch_.native() : launch_.native_some();
  }
  // Returns whether the fragment can continue in this machine code.
  [[nodiscard]] bool can_enter(const NativeCode* code, RunningFragment& run) const {
    return code != nullptr && code->begins_at(run.pc) && is_defined(run);
  }
  // Returns whether no value that the fragment has may be undefined and matter later.
  [[nodiscard]] bool is_defined(RunningFragment& run) const {
    return !run.warp.undefined.any() || has_become_defined(run);
  }
  // Runs machine code in a frame that has begun.  False: nothing was executed.
  [[gnu::always_inline]] bool run(NativeFrame& frame, const NativeCode& code, RunningFragment& run,
                                  std::uint32_t limit, std::uint64_t& lane_steps) {
    const std::uint32_t quantum_left = launch_.quantum().left();  // calls change it too
    begin_counts(frame, run);
    frame.limit = limit;
    enter(frame, code, run);
    end_counts(frame, run, lane_steps);
    return frame.quantum_left != quantum_left;
  }
  // The same for a warp whose lanes are together, which may diverge and reconverge.  True: they are
  // apart now.
  [[gnu::always_inline]] bool run_together(NativeFrame& frame, RunningFragment& run,
                                           std::uint64_t& lane_steps) {
    begin_counts(frame, run);
    frame.limit = ptx::kNone;
    NativeFrame* running = &frame;
    const bool are_apart = run_turns(running, run.pc);
    end_counts(frame, run, lane_steps);
    return are_apart;
  }
  // Runs machine code for a warp whose lanes are together, from a pc on; in a round also for the
  // warps after it.  The caller counts.  True: lanes of the warp that has stopped are apart now.
  //   frame: becomes that of the warp that has stopped.  The pc of its fragment becomes the place;
  //          ptx::kNone: the round ends after that warp's turn
  [[gnu::always_inline]] bool run_turns(NativeFrame*& frame, std::uint32_t pc);
  // Runs the fragments of a warp whose lanes are apart.  False: nothing was done, because they do
  // not share a frame, or the next one cannot continue in machine code.
  //   run: the fragment that is next
  bool run_fragments(NativeFrame& frame, RunningFragment& run, Fragments::Choice next,
                     std::uint64_t& lane_steps);
  void count_some(std::uint64_t steps);
  void compile_for_some();

 private:
  // What has become of lanes that were together.
  enum class Divergence : std::uint8_t { none, reconverged, apart };

  void begin_counts(NativeFrame& frame, const RunningFragment& run) const {
    frame.accesses_left = run.warp.ask_at - run.warp.accesses;
    frame.unguarded = frame.lane_steps = 0;
    frame.quantum_left = launch_.quantum().left();
    frame.quantum_before = launch_.quantum().before();
  }
  void end_counts(NativeFrame& frame, RunningFragment& run, std::uint64_t& lane_steps) {
    launch_.quantum().begin(frame.quantum_left);
    run.warp.accesses = run.warp.ask_at - frame.accesses_left;
    count_unguarded(frame, run.mask);
    lane_steps += frame.lane_steps;
  }
  // Counts the instructions that all lanes of the fragment have executed.
  static void count_unguarded(NativeFrame& frame, std::uint32_t mask) {
    const std::uint64_t lanes = mask == ~0u ? kWarpLanes : lane_count(mask);
    frame.lane_steps += std::exchange(frame.unguarded, 0) * lanes;
  }
  static void rethrow(NativeFrame& frame) {
    if (frame.thrown != nullptr) [[unlikely]]
      std::rethrow_exception(std::exchange(frame.thrown, nullptr));
  }
  static void enter(NativeFrame& frame, const NativeCode& code, RunningFragment& run) {
    frame.lanes = run.mask;
    run.pc = code.run(frame, run.pc);
    rethrow(frame);
  }
  static bool may_diverge(const Instr& instr) {
    return instr.kind == InstrKind::branch || instr.kind == InstrKind::jump_table;
  }
  void tally_turns(const NativeFrame& first, std::uint32_t begin, const NativeFrame& last,
                   std::uint32_t pc) const;
  [[nodiscard]] bool has_become_defined(RunningFragment& run) const;
  bool diverges(NativeFrame& frame, const RunningFragment& run, std::size_t index);
  Divergence run_diverging(NativeFrame& frame, RunningFragment& run);
  bool run_until_reconverged(NativeFrame& frame, RunningFragment& run, Fragments::Choice next);

  RunningLaunch& launch_;
};

inline bool NativeRuns::run_turns(NativeFrame*& frame, std::uint32_t pc) {
  while (true) {
    NativeRound* const round = frame->round;
    frame->lanes = frame->run->mask;
    if (round != nullptr) round->running = frame;
    const NativeFrame* const first = frame;
    const std::uint32_t begin = pc;
    pc = code_for(frame->lanes)->run(*frame, pc);
    if (round != nullptr) frame = round->running;
    rethrow(*frame);
    if (first->tally != nullptr) [[unlikely]]
      tally_turns(*first, begin, *frame, pc);
    RunningFragment& run = *frame->run;
    run.pc = pc;
    if (pc == ptx::kNone || !may_diverge(frame->code[pc])) return false;
    const Divergence divergence = run_diverging(*frame, run);
    const bool goes_on =
        divergence == Divergence::reconverged && can_enter(code_for(run.mask), run);
    if (!goes_on) return divergence == Divergence::apart;
    pc = run.pc;
  }
}

}  // namespace warpcheck::vgpu
