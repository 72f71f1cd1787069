// The machine's inside: one launch at a time.  Internal to vgpu/machine.
//
//   run.cpp      blocks and warps: dispatch, what runs next, barriers
//   warp.cpp     one warp: fragments, control flow
//   access.cpp   loads and stores: spaces, allocations, faults, events
//   atomics.cpp  read-modify-write
//   heap.cpp     malloc() and free()
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/rows.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class Core {
 public:
  explicit Core(DeviceMemory& memory) : memory_(memory), rows_(memory_row_functions()) {}
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Outcome run(const Launch& launch, WarpModel model, Strategy& strategy,
              std::span<Observer* const> observers, const Limits& limits, bool want_edges);

 private:
  // Why a warp no longer runs.
  enum class Stop : std::uint8_t { blocked, exited, quantum, preempted, halted };
  // What became of a fragment's run.
  enum class Step : std::uint8_t { again, quantum, preempted, halted };
  // A fragment while it runs: its fields in locals' reach.
  struct Running {
    Slot& slot;
    Warp& warp;
    LaneBanks banks;
    FrameRows frame;
    std::uint32_t pc = 0, mask = 0, local_base = 0;
  };

  // run.cpp
  void begin_launch(const Launch& launch);
  void dispatch(std::uint32_t block);
  void start_warp(Slot& slot, Warp& warp);
  Outcome::End loop();
  void end_block(Slot& slot);
  [[nodiscard]] bool slot_is_free() const { return resident_.size() < limits_.resident_blocks; }
  [[nodiscard]] Slot* slot_of(std::uint32_t block);
  void list_ready();
  [[nodiscard]] bool default_next(bool after_current, WarpId& next);
  bool choose_after_stop(Stop stop, const WarpId& stopped, std::uint64_t stop_index, WarpId& next);
  [[nodiscard]] bool can_run(const WarpId& id);
  void record(const SchedulePoint& point, const Choice& choice);
  void arrive(Slot& slot, std::uint32_t lanes);
  void complete_if_all_wait(Slot& slot);
  void report_divergence(Slot& slot);
  template <class Function>
  void notify(Function function) {
    for (Observer* observer : observers_) function(*observer);
  }

  // warp.cpp
  Stop run_warp(Slot& slot, Warp& warp);
  std::size_t pick(Warp& warp, std::uint32_t& limit);
  Step run_fragment(Slot& slot, Warp& warp, std::size_t index, std::uint32_t limit);
  Step branch(Running& run, std::size_t index, const Instr& instr, std::uint32_t taken);
  Step leave(Running& run, std::size_t index, const Instr& instr, std::uint32_t lanes);
  Step ask(Running& run, std::size_t index, std::uint32_t active);
  std::size_t split(Warp& warp, std::size_t index, std::uint32_t lanes);
  void bind(Running& run, const Fragment& fragment);
  std::uint32_t guarded_lanes(const Running& run, const Instr& instr);
  void compute(Running& run, const Instr& instr, std::uint32_t active);
  void move_scalar(Running& run, const Instr& instr, std::uint32_t active);
  bool jump(Running& run, const Instr& instr, std::uint32_t taken);
  void read_special(Running& run, const Instr& instr, std::uint32_t mask);
  // Warp instructions of the launch, the running one included.
  [[nodiscard]] std::uint64_t steps_so_far() const {
    return outcome_.steps + (fragment_steps_left_ - launch_steps_left_);
  }
  void edge(std::uint32_t from, std::uint32_t to) {
    if (want_edges_) notify([&](Observer& o) { o.on_edge(from, to, *program_); });
  }
  void use_of_undefined(const Running& run, UndefinedUse::Kind kind, const Ref& ref,
                        std::uint32_t lanes);
  [[nodiscard]] WarpPlace place_of(const Slot& slot, const Warp& warp) const {
    return {slot.block, warp.index, slot.index, slot.phase};
  }

  // access.cpp
  struct Target {  // what the lanes of one access group touch
    Allocation* allocation = nullptr;
    ptx::Space space = ptx::Space::generic;
    std::uint64_t base = 0;   // subtracted from the addresses
    std::uint32_t limit = 0;  // bytes that may be touched
  };
  void access(Running& run, const Instr& instr, std::uint32_t active);
  [[nodiscard]] Target target_of(const Running& run, const Instr& instr, std::uint64_t address);
  [[nodiscard]] std::uint32_t lanes_inside(const AddressRow& row, const Target& target,
                                           std::uint32_t bytes, std::uint32_t mask) const;
  void fault(const Running& run, const Instr& instr, const Target& target, std::uint64_t address,
             unsigned lane, std::uint32_t bytes);
  void perform(Running& run, const Instr& instr, const Target& target, const RowScan& scan,
               std::uint32_t mask);
  void perform_local(Running& run, const Instr& instr, const Target& target, std::uint32_t mask);
  void move_local_word(Running& run, const Instr& instr, const std::array<std::uint32_t, 32>& at,
                       const Ref& ref, std::uint32_t half, std::uint32_t mask);
  struct Elements {  // of a vector access, that one Access is about
    std::uint32_t first = 0, count = 1;
  };
  void announce(Running& run, const Instr& instr, const Target& target, Pattern pattern,
                std::uint32_t bytes, std::uint32_t mask, const Elements& elements);
  void take_undefined(const Running& run, const Instr& instr, const Elements& elements,
                      std::uint32_t mask);
  void zero_destinations(Running& run, const Instr& instr, std::uint32_t mask);

  // atomics.cpp
  void perform_atomic(Running& run, const Instr& instr, std::uint32_t mask);

  // heap.cpp
  void call_heap(Running& run, const Instr& instr, std::uint32_t active);
  std::uint64_t allocate_on_heap(const Running& run, unsigned lane, std::uint64_t bytes);
  void free_on_heap(const Running& run, unsigned lane, std::uint64_t address);
  [[nodiscard]] CodePlace code_place(const Running& run, unsigned lane) const;

  DeviceMemory& memory_;
  const MemoryRowFunctions& rows_;

  const Launch* launch_ = nullptr;
  const Program* program_ = nullptr;
  WarpModel model_ = WarpModel::independent;
  Strategy* strategy_ = nullptr;
  std::span<Observer* const> observers_;
  std::vector<Observer*> access_observers_;  // those that watch accesses
  Limits limits_;
  bool want_edges_ = false;
  Outcome outcome_;
  std::uint32_t block_count_ = 0, warps_per_block_ = 0, threads_ = 0;
  std::uint64_t run_ = 0;                  // launches so far
  std::uint32_t next_block_ = 0;           // the first not yet dispatched
  std::uint32_t launch_steps_left_ = 0;    // of the running warp's quantum
  std::uint32_t fragment_steps_left_ = 0;  // the same, when the running fragment began

  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> resident_;  // by ascending block
  std::vector<WarpId> ready_;    // scratch of list_ready()
  WarpId preempted_to_;          // after Stop::preempted
  Allocation* parameters_ = nullptr;
  std::vector<Allocation*> last_target_;  // by pc: where its last access went
  Access access_;                         // scratch: too large to build anew each time
};

}  // namespace warpcheck::vgpu
