// Runs machine code for a fragment; and for lanes that part and meet again, while there are no more
// than two parts and both have machine code.
#pragma once

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
    return mask == ~0u ? launch_.native : launch_.native_some;
  }
  // Runs machine code in a frame that has begun.  False: nothing was executed.
  [[gnu::always_inline]] bool run(NativeFrame& frame, const NativeCode& code, RunningFragment& run,
                                  std::uint32_t limit, std::uint64_t& lane_steps) {
    frame.accesses_left = run.warp.ask_at - run.warp.accesses;
    frame.unguarded = frame.lane_steps = 0;
    frame.quantum_left = launch_.quantum_left;
    frame.quantum_before = launch_.quantum_left_before;
    frame.limit = limit;
    std::uint64_t lanes = kWarpLanes;
    if (run.mask != ~0u) {
      lanes = lane_count(run.mask);
      frame.lanes = run.mask;
    }
    const std::uint32_t quantum_left = launch_.quantum_left;  // calls change it too
    run.pc = code.run(frame, run.pc);
    if (frame.thrown != nullptr) [[unlikely]]
      std::rethrow_exception(std::exchange(frame.thrown, nullptr));
    launch_.quantum_left = frame.quantum_left;
    run.warp.accesses = run.warp.ask_at - frame.accesses_left;
    lane_steps += frame.lane_steps + frame.unguarded * lanes;
    return frame.quantum_left != quantum_left;
  }
  // Counts the steps of a turn.
  void finish(std::uint64_t lane_steps) {
    launch_.outcome.lane_steps += lane_steps;
    launch_.outcome.steps += launch_.quantum_left_before - launch_.quantum_left;
  }
  // Handles a branch at which machine code stopped for lanes that are together.  True: they are
  // separate fragments now.
  bool part(Warp& warp, NativeFrame& frame, RunningFragment& run, std::uint64_t& lane_steps);
  void count_some(std::uint64_t steps);
  void compile_for_some();

 private:
  // Two fragments of a warp that were one fragment, and that will be joined where they meet.
  struct Diverged {
    std::uint32_t lanes = 0;        // lanes that wait; 0: there is only one fragment
    std::uint32_t at = ptx::kNone;  // the pc at which they wait
    bool is_first = false;          // the waiting one is first in the warp's list
  };
  void run_apart(NativeFrame& frame, RunningFragment& run, Diverged& other,
                 std::uint64_t& lane_steps);
  bool diverge(RunningFragment& run, Diverged& other, std::uint64_t& lane_steps);
  static void park(Warp& warp, const RunningFragment& run, const Diverged& other);

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
