// Data races by happens-before, in shared and global memory.
//
// PTX ISA 8.7.1: two overlapping memory operations conflict when at least one of them is a write;
// two conflicting operations are in a data race when they are not related in causality order and
// not morally strong.  Morally strong (8.7) are two strong operations whose scopes include each
// other's thread and which overlap completely: atomics, and loads and stores that are volatile
// (8.4: relaxed at system scope), relaxed, acquire or release.  A vector access is as many scalar
// ones (8.2.2).
//
// Causality order is what whole-block barriers and the order of kernels give (epoch.hpp); with
// WarpModel::lockstep the lanes of a warp are ordered, too.  Strong operations order nothing
// else: release and acquire patterns are not followed.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/race_rows.hpp"
#include "vgpu/check/race_shadow.hpp"

namespace warpcheck::vgpu {

class RaceChecker final : public Checker {
 public:
  // Throughout the trial, the loops are those of `functions`.
  RaceChecker(Reporter& reporter, const RaceRowFunctions& functions);

  void reset(WarpModel model) override;
  // Throws Refusal where a launch is too large for an epoch.
  void on_sync(const Sync& sync) override;
  // Host accesses need no check: the host waits for every kernel before it touches memory.
  void on_access(Access& access) override;
  // Freeing conflicts with every access, as a write of all the bytes would.
  void on_heap_free(const HeapFree& event) override;
  void on_free(const Allocation& allocation) override;

 private:
  // The phases of the blocks that follow each other in one slot are numbered on, so that the
  // slot's shared memory, which knows no other block, needs no clearing between them.
  struct Slot {
    std::uint32_t base = 0;             // phase 0 of the present block
    std::uint32_t last = 0;             // the present phase, counted from the slot's beginning
    std::uint32_t shared = ptx::kNone;  // id of its shared memory
    std::uint64_t period = 0;           // of that memory
  };
  // One earlier access that races with a lane's.
  struct Earlier {
    unsigned access_class;
    Epoch epoch;
    std::uint32_t pc;
    friend bool operator==(const Earlier&, const Earlier&) = default;
  };

  Shadow& shadow_of(const Access& access);
  [[nodiscard]] Epoch epoch_of(const Access& access) const;
  void begin_launch(const Sync& sync);
  void begin_phase(const Sync& sync, std::uint32_t in_slot);
  void check_lane_by_lane(const Access& access, unsigned access_class, RaceRow& row,
                          Shadow& shadow);
  void report_lane(const Access& access, unsigned access_class, const RaceRow& row, Shadow& shadow,
                   unsigned lane);
  void report(const Access& access, unsigned access_class, unsigned lane, bool same_bytes,
              const Earlier& earlier);

  const RaceRowFunctions* functions_;
  std::uint64_t kin_ = kKinThread;
  std::uint32_t launch_ = 0;    // as in an epoch
  std::uint64_t launches_ = 0;  // not wrapped around
  bool single_block_ = false;   // the launch has one block
  std::uint64_t periods_ = 0;   // begun so far
  std::uint64_t global_period_ = 0;
  std::vector<Slot> slots_;
  std::vector<Shadow> shadows_;  // by Allocation::id
};

}  // namespace warpcheck::vgpu
