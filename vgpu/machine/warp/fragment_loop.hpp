// The loop that executes the instructions of one fragment until it meets another fragment, splits,
// waits, ends, or has used up its quantum.
//
// The loop only dispatches; each component executes its own instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/device_calls.hpp"
#include "vgpu/machine/memory/copies.hpp"
#include "vgpu/machine/memory/device_heap.hpp"
#include "vgpu/machine/native/native_code.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/barrier_objects.hpp"
#include "vgpu/machine/texture/textures.hpp"
#include "vgpu/machine/warp/exits.hpp"
#include "vgpu/machine/warp/native_frames.hpp"
#include "vgpu/machine/warp/native_runs.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/machine/warp/scalars.hpp"
#include "vgpu/machine/warp/turns.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"

namespace warpcheck::vgpu {

class FragmentLoop {
 public:
  struct Dependencies {
    Turns& turns;
    Scalars& scalars;
    Accesses& accesses;
    BarrierObjects& barrier_objects;
    Copies& copies;
    Textures& textures;
    DeviceHeap& heap;
    DeviceCalls& device_calls;
    WarpMeetings& meetings;
    Exits& exits;
    NativeFrames& native_frames;
    NativeRuns& native_runs;
  };
  FragmentLoop(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch), dependencies_(dependencies) {}

  Step run(Slot& slot, Warp& warp, Fragments::Choice next);
  // Runs fragments of the warp in machine code, as long as they only diverge and reconverge.
  // False: nothing was done.
  bool run_in_native(Slot& slot, Warp& warp, Fragments::Choice next);
  // Returns the functions that machine code calls.
  static NativeCalls native_calls();

 private:
  // One call of run().
  struct Turn {
    RunningFragment run;
    std::size_t index = 0;    // of the fragment in its warp
    std::uint64_t lanes = 0;  // of the fragment
    std::uint64_t lane_steps = 0;
    const NativeCode* native = nullptr;  // null: there is none for these lanes
    NativeFrame* frame = nullptr;        // of machine code; null: there is none
    bool has_departed = false;           // the instruction at run.pc has ended the run
  };
  // watched: observers watch steps
  template <bool watched>
  Step run_until(Turn& turn, std::uint32_t limit);
  [[gnu::noinline]] std::optional<Step> execute_watched(Turn& turn, const Instr& instr,
                                                        std::uint32_t active);
  // An instruction that cannot end the fragment's run: in the loop, and for machine code.
  [[gnu::always_inline]] bool execute_plain(RunningFragment& run, const Instr& instr,
                                            std::uint32_t active);
  bool execute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  [[gnu::always_inline]] std::optional<Step> execute_next(Turn& turn, const Instr& instr,
                                                          std::uint32_t active);
  Step postpone(Turn& turn, std::uint32_t active, Decision::Point kind);
  std::optional<Step> access_otherwise(Turn& turn, const Instr& instr, std::uint32_t active);
  static void park(const Turn& turn) { turn.run.warp.fragments[turn.index].pc = turn.run.pc; }
  std::uint32_t active_lanes(const RunningFragment& run, const Instr& instr);
  void compute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Asks an observer once a launch which steps it needs.
  void choose_steps();
  [[nodiscard]] bool is_reported(std::uint32_t pc) const;
  template <bool watched>
  std::uint32_t compute_in_line(RunningFragment& run, const Instr* code, std::uint32_t limit);
  bool jump(RunningFragment& run, const Instr& instr, std::uint32_t taken);
  void fence(const RunningFragment& run, const Instr& instr, std::uint32_t lanes) const;
  void report_fence(const RunningFragment& run, std::uint32_t lanes,
                    const std::array<MapPlace, kWarpLanes>* maps) const;

  // fragment_loop_native.cpp
  static NativeStep execute_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                               std::uint32_t after);
  static NativeStep access_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                              std::uint32_t after);
  static NativeStep report_of(NativeFrame* frame, std::uint32_t pc, Pattern pattern);
  static NativeStep perform_atomic_of(NativeFrame* frame, std::uint32_t pc);
  static void edge_of(NativeFrame* frame, std::uint32_t from, std::uint32_t to);

  RunningLaunch& launch_;
  Dependencies dependencies_;
  const std::uint8_t* steps_ = nullptr;  // by pc, whether the step is reported; null: all are
  std::uint64_t asked_in_ = 0;           // the number of the launch of steps_; 0: of none
};

}  // namespace warpcheck::vgpu
