// The turns of warps that run machine code from barrier to barrier.
//
// Nearly all warps run this way.  If all warps of a block are at one place and no component needs
// control in between, they take their turns in rounds: a turn is the execution of machine code up
// to the next barrier, and machine code continues from warp to warp by itself, except before and
// after a last warp without all lanes.  The state of the block is updated once for all turns: when
// a warp stops otherwise, or when the launch must be examined.  Lanes of a warp that diverge and
// reconverge stay in the round.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/exits.hpp"
#include "vgpu/machine/warp/linked_frames.hpp"
#include "vgpu/machine/warp/native_frames.hpp"
#include "vgpu/machine/warp/native_runs.hpp"
#include "vgpu/machine/warp/turns.hpp"

namespace warpcheck::vgpu {

class Rounds {
 public:
  Rounds(RunningLaunch& launch, const Turns& turns, Exits& exits, NativeFrames& frames,
         NativeRuns& runs)
      : launch_(launch),
        turns_(turns),
        exits_(exits),
        frames_(frames),
        runs_(runs),
        linked_(launch, frames) {}

  void begin_launch() { linked_.begin_launch(); }
  void end_launch() { linked_.end_launch(); }
  // Runs the machine code of a warp whose lanes are all together, up to a whole-block barrier at
  // which they arrive, or to their exit.
  enum class RoundEnd : std::uint8_t { none, arrived, exited };  // none: the interpreter goes on
  [[gnu::always_inline]] RoundEnd run_to_barrier(Slot& slot, Warp& warp);
  // Returns whether run() can be used for a block, at once.
  [[nodiscard]] bool can_run(const Slot& slot);
  // Runs the warps of a block: first `number`, then the others in ascending order, from barrier to
  // barrier.  In each round, the warp that arrived last at the barrier comes first.  Ends when a
  // warp stops otherwise (none), or when the launch has executed `until` instructions.
  //   number: becomes the number of the warp that ran last
  RoundEnd run(Slot& slot, std::uint32_t& number, std::uint64_t until);

 private:
  // Executes an instruction that ends a turn.
  RoundEnd depart(RunningFragment& run) {
    const Instr& instr = launch_.program().code[run.pc];
    if (instr.kind == InstrKind::barrier) {
      exits_.arrive(run);
      return RoundEnd::arrived;
    }
    exits_.leave(run, 0, instr, run.mask);
    return RoundEnd::exited;
  }
  struct Round {
    NativeRound in_native;
    std::uint64_t completed = 0;  // rounds of this run that have ended with all warps at a barrier
    bool together = true;         // false: a warp has stopped elsewhere, or must be interpreted
  };
  std::optional<RoundEnd> run_round(Slot& slot, std::uint32_t& number);
  [[nodiscard]] bool completes_barrier(const Slot& slot) const;
  [[nodiscard]] bool exits() const;
  RoundEnd exit_together(Slot& slot, std::uint32_t last);
  RoundEnd write_back(Slot& slot, std::uint32_t last, bool last_stops);
  RunningLaunch& launch_;
  const Turns& turns_;
  Exits& exits_;
  NativeFrames& frames_;
  NativeRuns& runs_;
  LinkedFrames linked_;  // those of the last round
  Round round_;
};

inline Rounds::RoundEnd Rounds::run_to_barrier(Slot& slot, Warp& warp) {
  linked_.unlink();
  if (warp.fragments.size() != 1 || warp.fragments.choose().index != 0) return RoundEnd::none;
  Fragment& fragment = warp.fragments.front();  // moves if lanes diverge
  const NativeCode* const native = runs_.code_for(fragment.mask);
  const bool can_run = native != nullptr && native->begins_at(fragment.pc) &&
                       launch_.quantum().left() != 0 && !warp.undefined.any();
  if (!can_run) return RoundEnd::none;
  NativeFrames::OfWarp& of_warp = frames_.of_warp(slot, warp, fragment);
  RunningFragment& run = *of_warp.run;
  NativeFrame& frame = of_warp.frame;
  run.pc = fragment.pc;
  run.mask = fragment.mask;
  launch_.quantum().begin_run();
  std::uint64_t lane_steps = 0;
  frames_.begin_noted(frame, run);
  if (runs_.run_together(frame, run, lane_steps)) [[unlikely]] {
    launch_.count_run(lane_steps);
    return RoundEnd::none;
  }
  const Instr& instr = frame.code[run.pc];
  warp.fragments.front().pc = run.pc;
  RoundEnd end = RoundEnd::none;
  if (ends_turn(launch_.program(), instr) && launch_.quantum().left() != 0) {
    launch_.run_once(run.pc, run.mask);
    end = depart(run);
    launch_.quantum().use();
    lane_steps += run.mask == ~0u ? kWarpLanes : lane_count(run.mask);
  }
  launch_.count_run(lane_steps);
  return end;
}

}  // namespace warpcheck::vgpu
