// Runs machine code for a fragment; and for lanes that part and meet again, while all parts have
// machine code.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
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
    const std::uint32_t quantum_left = launch_.quantum_left;  // calls change it too
    begin_counts(frame, run);
    enter(frame, code, run, limit);
    end_counts(frame, run, lane_steps);
    return frame.quantum_left != quantum_left;
  }
  // The same for a warp whose lanes are together, which may part and meet again.  True: they are
  // separate fragments now.
  [[gnu::always_inline]] bool run_together(NativeFrame& frame, const NativeCode& code,
                                           RunningFragment& run, std::uint64_t& lane_steps) {
    begin_counts(frame, run);
    enter(frame, code, run, ptx::kNone);
    Parted parted = Parted::no;
    while (may_part(frame.code[run.pc])) {
      parted = run_apart(frame, run);
      if (parted != Parted::and_met || !can_enter(&code, run)) break;
      enter(frame, code, run, ptx::kNone);
    }
    end_counts(frame, run, lane_steps);
    return parted == Parted::for_good;
  }
  // Counts the steps of a turn.
  void finish(std::uint64_t lane_steps) {
    launch_.outcome.lane_steps += lane_steps;
    launch_.outcome.steps += launch_.quantum_left_before - launch_.quantum_left;
  }
  // Whether lanes that were together have parted at a branch.
  enum class Parted : std::uint8_t {
    no,        // nothing was done
    and_met,   // they have met again, at the fragment's pc
    for_good,  // they are separate fragments of the warp now
  };
  // Returns whether lanes that are together may part at the instruction and stay in one run.
  static bool may_part(const Instr& instr) {
    return instr.kind == InstrKind::branch || instr.kind == InstrKind::jump_table;
  }
  // Handles a branch at which machine code has stopped for lanes that are together.  What they
  // execute is counted in the frame.
  Parted run_apart(NativeFrame& frame, RunningFragment& run);
  // Runs the fragments of a warp whose lanes have parted.  False: nothing was done, because they
  // are in several calls, or the next one cannot continue in machine code.
  //   run: the fragment that is next
  bool run_fragments(NativeFrame& frame, RunningFragment& run, std::uint64_t& lane_steps);
  void count_some(std::uint64_t steps);
  void compile_for_some();

 private:
  struct Part {
    std::uint32_t lanes, pc;
    std::uint32_t listed;  // 1 + the index of its fragment in the warp's list; 0: not there yet
  };
  // What a branch makes of a part: those lanes that stay at the next instruction, and the others.
  struct Sides {
    Part stay, taken;
  };
  // What fragments of a warp have become, in the order in which the warp would list them.
  struct Parts {
    std::array<Part, kWarpLanes> part;
    std::uint32_t count = 0, running = 0;
    std::uint32_t fragments = 0;  // bit i: fragment i of the warp has become parts

    void take(std::uint32_t lanes, std::uint32_t pc, std::uint32_t fragment) {
      part[count++] = {lanes, pc, fragment + 1};
      fragments |= 1u << fragment;
    }
    bool take_ready(const Warp& warp);
    void join();
    std::uint32_t choose();
  };
  void begin_counts(NativeFrame& frame, const RunningFragment& run) const {
    frame.accesses_left = run.warp.ask_at - run.warp.accesses;
    frame.unguarded = frame.lane_steps = 0;
    frame.quantum_left = launch_.quantum_left;
    frame.quantum_before = launch_.quantum_left_before;
  }
  void end_counts(NativeFrame& frame, RunningFragment& run, std::uint64_t& lane_steps) {
    launch_.quantum_left = frame.quantum_left;
    run.warp.accesses = run.warp.ask_at - frame.accesses_left;
    count_unguarded(frame, run.mask);
    lane_steps += frame.lane_steps;
  }
  // Counts the instructions that all lanes of the fragment have executed.
  static void count_unguarded(NativeFrame& frame, std::uint32_t mask) {
    const std::uint64_t lanes = mask == ~0u ? kWarpLanes : lane_count(mask);
    frame.lane_steps += std::exchange(frame.unguarded, 0) * lanes;
  }
  static void enter(NativeFrame& frame, const NativeCode& code, RunningFragment& run,
                    std::uint32_t limit) {
    frame.limit = limit;
    frame.lanes = run.mask;
    run.pc = code.run(frame, run.pc);
    if (frame.thrown != nullptr) [[unlikely]]
      std::rethrow_exception(std::exchange(frame.thrown, nullptr));
  }
  [[nodiscard]] bool has_become_defined(RunningFragment& run) const;
  std::optional<Sides> split(NativeFrame& frame, const RunningFragment& run);
  void run_part(NativeFrame& frame, RunningFragment& run, Part& part, std::uint32_t limit);
  bool jump_by_table(NativeFrame& frame, const RunningFragment& run, Parts& parts);
  bool diverge(NativeFrame& frame, const RunningFragment& run, Parts& parts);
  Parted run_parts(NativeFrame& frame, RunningFragment& run, Parts& parts);
  static void park(Warp& warp, const Parts& parts);

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
