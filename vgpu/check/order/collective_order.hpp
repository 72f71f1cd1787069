// Stores that come after a load of another lane of their warp because they depend on it.
//
// Lanes that shift an array in place load a[i - 1], pass the values on by shfl, and store a[i].
// Nothing orders those accesses: shfl, vote, match and redux order no memory (PTX ISA 9.7.9).  But
// no execution can go wrong where
//   - both lanes took part in one such operation, after the load and before the store;
//   - the value that the loading lane gave to it, or its mask, depends on the load;
//   - and what the storing lane stores, or where, or whether, depends on its result.
// The load must then have its value before the store can begin.  The dependences are read from the
// program (dependence.hpp), on all paths; who took part when is what was seen.  A load that comes
// after a store is another matter: nothing makes it wait.
//
// In the same way a lane may tell the others of its warp that it has acquired something: what they
// load or store if the operation's result says so comes after that.  Cooperative groups synchronise
// tiles of several warps so, for targets below sm_80.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class CollectiveOrder {
 public:
  void reset(WarpModel model) { lockstep_ = model == WarpModel::lockstep; }
  void begin_launch(const Program& program);
  void begin_block(const WarpPlace& place);
  // Whether the program has what may order accesses, so that the calls below are wanted.
  [[nodiscard]] bool is_on() const { return is_on_; }

  //   knowledge: another number when a lane of the warp has acquired or released something since
  void on_collective(const Collective& event, std::uint32_t knowledge);
  // A load from shared or global memory.
  void on_load(const Access& load);

  // Whether a load at `load_pc` by another lane of the warp that is about to store comes before
  // that store.
  //   offset: of a byte that both access
  [[nodiscard]] bool orders(const Access& store, unsigned lane, std::uint32_t offset,
                            std::uint32_t load_pc, unsigned load_lane);
  // The same of all loads of that byte by other lanes of the warp, in the present phase of the
  // block, that are remembered.
  [[nodiscard]] bool orders_all(const Access& store, unsigned lane, std::uint32_t offset);

  // Whether the lane that is about to load or store does so because of an operation in which the
  // lane `by` took part, when that knew what it knows now.
  [[nodiscard]] bool lets_go_on(const Access& access, unsigned lane, unsigned by,
                                std::uint32_t knowledge);

 private:
  static constexpr std::uint32_t kLoads = 64, kMeetings = 32;
  struct Load {
    std::uint32_t time = 0, pc = 0, mask = 0, phase = 0;
    std::uint32_t allocation = 0, first = 0;  // offset of lane 0, nominal
    std::uint16_t bytes = 0, stride = 0;
    bool scattered = false;
  };
  struct MeetingOf {
    std::uint32_t time = 0, pc = 0, mask = 0, members = 0, knowledge = 0;
  };
  // Of one warp: the latest of each, in rings.
  struct Log {
    std::uint32_t time = 0, loads = 0, meetings = 0;
    std::array<Load, kLoads> load{};
    std::array<MeetingOf, kMeetings> meeting{};
    std::array<std::array<std::uint32_t, kWarpLanes>, kLoads> offsets{};  // of scattered loads
  };
  // A load at a pc, whose element of a vector is of interest.
  struct Loaded {
    std::uint32_t pc = 0, element = 0, time = 0;
  };

  Log& log_of(const WarpPlace& place);
  [[nodiscard]] static bool reads(const Log& log, std::uint32_t index, unsigned lane,
                                  std::uint32_t allocation, std::uint32_t offset,
                                  std::uint32_t& begin);
  [[nodiscard]] bool is_before(const Log& log, const Loaded& load, unsigned load_lane,
                               const Access& store, unsigned lane, std::uint32_t offset);
  // What the program's text says, remembered for the launch.
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
