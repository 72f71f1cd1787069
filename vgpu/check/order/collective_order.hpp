// Order between a load of one lane and a later store of another lane of the same warp that depends
// on the load through a warp operation.
//
// Lanes that shift an array in place load a[i - 1], pass the values on by shfl, and store a[i].
// The memory model does not order those accesses: shfl, vote, match and redux order no memory (PTX
// ISA 9.7.9).  But no execution can go wrong if
//   - both lanes took part in one such operation, after the load and before the store;
//   - the value or the mask that the loading lane gave to the operation depends on the load;
//   - and the stored value, its address, or the decision to store depends on the operation's
//   result.
// The load must then have its value before the store can begin.  The dependences are computed from
// the program over all paths (dependence.hpp); which lanes took part, and when, is what this run
// has shown.  A load after a store is not ordered by this: nothing makes the load wait.
//
// In the same way, a lane can tell the other lanes of its warp that it has acquired something.  If
// the operation's result decides that they load or store, those accesses come after the acquire.
// Cooperative groups synchronise tiles of several warps in this way for targets below sm_80.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "vgpu/machine/events.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class CollectiveOrder {
 public:
  void reset(WarpModel model) { lockstep_ = model == WarpModel::lockstep; }
  void begin_launch(const Program& program);
  void begin_block(const WarpPlace& place);
  // The launch is suspended, and goes on with what is returned.
  CollectiveOrder suspend() {
    CollectiveOrder suspended = std::move(*this);
    *this = {};
    lockstep_ = suspended.lockstep_;
    return suspended;
  }
  // Returns whether the program has operations that may order accesses; otherwise the calls below
  // are not needed.
  [[nodiscard]] bool is_on() const { return is_on_; }

  //   knowledge: a number that changes when a lane of the warp acquires or releases something
  void on_collective(const Collective& event, std::uint32_t knowledge);
  // Records a load from shared or global memory.
  void on_load(const RowAccess& load);

  // Returns whether a load at `load_pc` by another lane comes before the store that `lane` is about
  // to execute.
  //   offset: a byte that both access
  [[nodiscard]] bool orders(const Access& store, unsigned lane, std::uint32_t offset,
                            std::uint32_t load_pc, unsigned load_lane);
  // Returns whether all remembered loads of that byte by other lanes of the warp, in the current
  // phase of the block, come before the store; those of a load of the whole warp (ldmatrix) do.
  [[nodiscard]] bool orders_all(const Access& store, unsigned lane, std::uint32_t offset);

  // Returns whether `lane` is about to load or store because of an operation in which the lane `by`
  // took part, when `by` knew what it knows now.
  [[nodiscard]] bool lets_go_on(const Access& access, unsigned lane, unsigned by,
                                std::uint32_t knowledge);

 private:
  static constexpr std::uint32_t kLoads = 64, kMeetings = 32;
  struct Load {
    std::uint32_t time = 0, pc = 0, mask = 0, phase = 0;
    std::uint32_t allocation = 0, first = 0;  // the offset that lane 0 would have
    std::uint16_t bytes = 0, stride = 0;
    bool scattered = false;
  };
  struct MeetingOf {
    std::uint32_t time = 0, pc = 0, mask = 0, members = 0, knowledge = 0;
  };
  // The latest loads and operations of one warp, in ring buffers.
  struct Log {
    std::uint32_t time = 0, loads = 0, meetings = 0;
    std::array<Load, kLoads> load{};
    std::array<MeetingOf, kMeetings> meeting{};
    std::array<std::array<std::uint32_t, kWarpLanes>, kLoads> offsets{};  // of scattered loads
  };
  // A load at a pc, with one element of its vector.
  struct Loaded {
    std::uint32_t pc = 0, element = 0, time = 0;
  };

  Log& log_of(const WarpPlace& place);
  [[nodiscard]] static bool reads(const Log& log, std::uint32_t index, unsigned lane,
                                  std::uint32_t allocation, std::uint32_t offset,
                                  std::uint32_t& begin);
  [[nodiscard]] bool is_before(const Log& log, const Loaded& load, unsigned load_lane,
                               const Access& store, unsigned lane, std::uint32_t offset);
  // Dependences from the program's text, cached for the launch.
  [[nodiscard]] bool feeds(std::uint32_t load_pc, std::uint32_t element, std::uint32_t meeting_pc);
  [[nodiscard]] bool leads_to(std::uint32_t meeting_pc, std::uint32_t store_pc,
                              std::uint32_t element);
  [[nodiscard]] bool decides(std::uint32_t meeting_pc, std::uint32_t access_pc);
  const RegisterFlow& flow();

  bool lockstep_ = false, is_on_ = false;
  const Program* program_ = nullptr;
  std::unique_ptr<RegisterFlow> flow_;
  std::map<std::array<std::uint32_t, 3>, bool> feeds_, leads_to_, decides_;
  std::vector<std::vector<std::unique_ptr<Log>>> logs_;  // by slot and warp
};

}  // namespace warpcheck::vgpu
