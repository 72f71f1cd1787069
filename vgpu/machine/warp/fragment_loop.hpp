// The loop that executes the instructions of one fragment until it meets another fragment, splits,
// waits, ends, or has used up its quantum.
//
// The loop only dispatches; each component executes its own instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/machine/device_calls.hpp"
#include "vgpu/machine/memory/accesses.hpp"
#include "vgpu/machine/memory/copies.hpp"
#include "vgpu/machine/memory/device_heap.hpp"
#include "vgpu/machine/native/native_code.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/barrier_objects.hpp"
#include "vgpu/machine/texture/textures.hpp"
#include "vgpu/machine/warp/departures.hpp"
#include "vgpu/machine/warp/scalars.hpp"
#include "vgpu/machine/warp/turns.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"

namespace warpcheck::vgpu {

class FragmentLoop {
 public:
  struct Parts {
    Turns& turns;
    Scalars& scalars;
    Accesses& accesses;
    BarrierObjects& barrier_objects;
    Copies& copies;
    Textures& textures;
    DeviceHeap& heap;
    DeviceCalls& device_calls;
    WarpMeetings& meetings;
    Departures& departures;
  };
  FragmentLoop(RunningLaunch& launch, const Parts& parts) : launch_(launch), parts_(parts) {}

  //   limit: the pc at which another fragment waits
  Step run(Slot& slot, Warp& warp, std::size_t index, std::uint32_t limit);
  // Runs the machine code of a warp whose lanes are all together, up to a whole-block barrier at
  // which they arrive, or to their exit.  Nearly all warps run this way.
  enum class Departure : std::uint8_t { none, arrived, exited };  // none: run() must continue
  [[gnu::always_inline]] Departure run_to_barrier(Slot& slot, Warp& warp);
  // Returns whether run_to_barrier() can be used for all warps of a block, one after the other.
  [[nodiscard]] bool can_run_rounds(const Slot& slot) const;
  // Runs the warps of a block: first `number`, then the others in ascending order, from barrier to
  // barrier.  In each round, the warp that arrived last at the barrier comes first.  Ends when a
  // warp stops otherwise (none), or when the launch has executed `until` instructions.
  //   number: becomes the number of the warp that ran last
  Departure run_rounds(Slot& slot, std::uint32_t& number, std::uint64_t until);
  // Returns the functions that machine code calls.
  static NativeCalls native_calls();
  void compile_for_some();

 private:
  // One call of run().
  struct Turn {
    RunningFragment run;
    std::size_t index = 0;    // of the fragment in its warp
    std::uint64_t lanes = 0;  // of the fragment
    std::uint64_t lane_steps = 0;
    const NativeCode* native = nullptr;  // null: there is none for these lanes
  };
  Step run_until(Turn& turn, std::uint32_t limit);
  [[gnu::always_inline]] std::optional<Step> execute_next(Turn& turn, const Instr& instr,
                                                          std::uint32_t active);
  Step postpone(Turn& turn, std::uint32_t active, Decision::Point kind);
  bool operate_together(Turn& turn, const Instr& instr, std::uint32_t active);
  std::optional<Step> access_otherwise(Turn& turn, const Instr& instr, std::uint32_t active);
  static void park(const Turn& turn) { turn.run.warp.fragments[turn.index].pc = turn.run.pc; }
  std::uint32_t guarded_lanes(const RunningFragment& run, const Instr& instr);
  void compute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  std::uint32_t compute_in_line(RunningFragment& run, const Instr* code, std::uint32_t limit);
  bool jump(RunningFragment& run, const Instr& instr, std::uint32_t taken);
  Step branch(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t taken);
  void fence(const RunningFragment& run, const Instr& instr, std::uint32_t lanes) const;

  static constexpr std::uint32_t kWarpsMax = 32;  // per block

  // fragment_loop_native.cpp
  [[nodiscard]] const NativeCode* code_for(std::uint32_t mask) const {
    return mask == ~0u ? launch_.native : launch_.native_some;
  }
  // Two fragments of a warp that were one fragment, and that will be joined where they meet.
  struct Diverged {
    std::uint32_t lanes = 0;        // lanes that wait; 0: there is only one fragment
    std::uint32_t at = ptx::kNone;  // the pc at which they wait
    bool is_first = false;          // the waiting one is first in the warp's list
  };
  static std::byte* shared_of(const Slot& slot) {
    return slot.shared != nullptr ? slot.shared->data : nullptr;
  }
  // The frame of machine code for a warp whose lanes are together.  Valid for the launch, as long
  // as the memory that it points to does not move.
  struct NativeWarp {
    [[nodiscard]] bool is_of(std::uint64_t its_launch, const Slot& slot, const Warp& warp,
                             const Fragment& fragment) const {
      return launch == its_launch && &run->warp == &warp && frame.shared == shared_of(slot) &&
             words == warp.words.data() && wides == warp.wides.data() &&
             predicates == warp.predicates.data() && word_base == fragment.word_base &&
             wide_base == fragment.wide_base && predicate_base == fragment.predicate_base &&
             run->local_base == fragment.local_base;
    }
    std::uint64_t launch = 0;  // RunningLaunch::number
    const std::byte *words = nullptr, *wides = nullptr, *predicates = nullptr;
    std::uint32_t word_base = 0, wide_base = 0, predicate_base = 0;  // those of the fragment
    std::optional<RunningFragment> run;
    NativeFrame frame;
    NativeWarp* follows = nullptr;  // the next warp in a round; null: the last
  };
  NativeWarp& native_warp(Slot& slot, Warp& warp, const Fragment& fragment) {
    const std::size_t at = std::size_t{slot.index} * kWarpsMax + warp.index;
    if (at < native_warps_.size() && native_warps_[at]->is_of(launch_.number, slot, warp, fragment))
        [[likely]]
      return *native_warps_[at];
    return begin_native_warp(slot, warp, fragment);
  }
  NativeWarp& begin_native_warp(Slot& slot, Warp& warp, const Fragment& fragment);
  // Handles a branch at which machine code stopped for lanes that are together: run_apart().  True:
  // they are separate fragments now.
  bool part(Warp& warp, NativeFrame& frame, RunningFragment& run, std::uint64_t& lane_steps);
  void begin_native_launch(NativeFrame& frame);
  void begin_native_block(NativeFrame& frame, RunningFragment& run);
  [[gnu::always_inline]] void begin_native(RunningFragment& run) {
    if (frame_is_of_ != launch_.number) [[unlikely]] {
      frame_is_of_ = launch_.number;
      begin_native_launch(frame_);
    }
    begin_native_block(frame_, run);
    begin_observed(frame_);
  }
  // Sets what depends on the observers, which may change while the block runs.
  [[gnu::always_inline]] void begin_observed(NativeFrame& frame) {
    frame.wants_edges = launch_.observers.want_edges ? 1 : 0;
    frame.is_watched = launch_.observers.of_accesses.empty() ? 0 : 1;
  }
  // Does the same for a warp whose lanes are together, and sets the observers' notes for rows.
  [[gnu::always_inline]] void begin_noted(NativeFrame& frame, const RunningFragment& run) {
    begin_observed(frame);
    const std::vector<Observer*>& watching = launch_.observers.of_accesses;
    const bool are_known =
        frame.noted_for == watching.data() && frame.noted_for_count == watching.size();
    if (!are_known) [[unlikely]]
      begin_notes(frame, run);
  }
  void begin_notes(NativeFrame& frame, const RunningFragment& run);
  // Returns whether a warp whose lanes are together ends its turn at the instruction.
  [[nodiscard]] bool ends_turn(const Instr& instr) const {
    return instr.guard.bank == Bank::none &&
           (instr.kind == InstrKind::exit ||
            (instr.kind == InstrKind::barrier && !launch_.program->has_named_barriers));
  }
  // Executes such an instruction.
  Departure depart(RunningFragment& run) {
    const Instr& instr = launch_.program->code[run.pc];
    if (instr.kind == InstrKind::barrier) {
      parts_.departures.arrive(run);
      return Departure::arrived;
    }
    parts_.departures.leave(run, 0, instr, run.mask);
    return Departure::exited;
  }
  // fragment_loop_rounds.cpp
  struct Round {
    NativeRound in_native;
    std::array<NativeWarp*, kWarpsMax> warps{};  // of the block
    std::uint32_t first = 0;                     // whose turn comes first
    std::uint32_t begins_at = 0;                 // the pc of all warps
    bool together = true;                        // false: a warp has ended the round
  };
  void begin_round(std::uint32_t first);
  std::optional<Departure> run_round(Slot& slot, std::uint32_t& number);
  bool part_in_round(RunningFragment& run, NativeFrame& frame);
  static void begin_counts(NativeFrame& frame, const Warp& warp);
  void settle_counts(NativeFrame& frame, Warp& warp);
  [[nodiscard]] bool completes_barrier(const Slot& slot) const;
  [[nodiscard]] bool exits() const;
  Departure exit_together(Slot& slot, std::uint32_t last);
  Departure settle(Slot& slot, std::uint32_t last, bool last_stops);
  // Runs machine code in a frame that has begun.  False: nothing was executed.
  [[gnu::always_inline]] bool run_native(NativeFrame& frame, const NativeCode& code,
                                         RunningFragment& run, std::uint32_t limit,
                                         std::uint64_t& lane_steps) {
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
  void finish_native(std::uint64_t lane_steps) {
    launch_.outcome.lane_steps += lane_steps;
    launch_.outcome.steps += launch_.quantum_left_before - launch_.quantum_left;
  }
  void run_apart(NativeFrame& frame, RunningFragment& run, Diverged& other,
                 std::uint64_t& lane_steps);
  bool diverge(RunningFragment& run, Diverged& other, std::uint64_t& lane_steps);
  static void park(Warp& warp, const RunningFragment& run, const Diverged& other);
  void count_some(std::uint64_t steps);
  NativeStep execute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  static NativeStep execute_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                               std::uint32_t after);
  static NativeStep access_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                              std::uint32_t after);
  static NativeStep tell_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t strided);
  static NativeStep tell_lanes_of(NativeFrame* frame, std::uint32_t pc, Pattern pattern);
  static NativeStep perform_atomic_of(NativeFrame* frame, std::uint32_t pc);
  static void edge_of(NativeFrame* frame, std::uint32_t from, std::uint32_t to);

  RunningLaunch& launch_;
  Parts parts_;

  NativeFrame frame_;                                      // used by run()
  std::uint64_t frame_is_of_ = 0;                          // the launch of its constant parts
  std::vector<std::unique_ptr<NativeWarp>> native_warps_;  // kWarpsMax per slot
  Round round_;
};

inline FragmentLoop::Departure FragmentLoop::run_to_barrier(Slot& slot, Warp& warp) {
  if (warp.fragments.size() != 1) return Departure::none;
  Fragment& fragment = warp.fragments.front();
  const NativeCode* const native = code_for(fragment.mask);
  const bool can_run = native != nullptr && fragment.state == Fragment::State::ready &&
                       native->begins_at(fragment.pc) && launch_.quantum_left != 0 &&
                       !warp.undefined.any();
  if (!can_run) return Departure::none;
  fragment.held = false;
  NativeWarp& of_warp = native_warp(slot, warp, fragment);
  RunningFragment& run = *of_warp.run;
  NativeFrame& frame = of_warp.frame;
  run.pc = fragment.pc;
  run.mask = fragment.mask;
  launch_.quantum_left_before = launch_.quantum_left;
  std::uint64_t lane_steps = 0;
  begin_noted(frame, run);
  run_native(frame, *native, run, ptx::kNone, lane_steps);
  if (frame.code[run.pc].kind == InstrKind::branch && part(warp, frame, run, lane_steps))
      [[unlikely]] {
    finish_native(lane_steps);
    return Departure::none;
  }
  const Instr& instr = frame.code[run.pc];
  fragment.pc = run.pc;
  Departure departure = Departure::none;
  if (ends_turn(instr) && launch_.quantum_left != 0) {
    departure = depart(run);
    --launch_.quantum_left;
    lane_steps += run.mask == ~0u ? kWarpLanes : lane_count(run.mask);
  }
  finish_native(lane_steps);
  return departure;
}

}  // namespace warpcheck::vgpu
