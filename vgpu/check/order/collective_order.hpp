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

#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/access/load_log.hpp"
#include "vgpu/machine/events.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class CollectiveOrder {
 public:
  void reset(WarpModel model) { lockstep_ = model == WarpModel::lockstep; }
  //   threads: of a block
  void begin_launch(const Program& program, std::uint64_t threads);
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
  void on_load(const RowAccess& load) { log_of(load.place).loads->add(load); }
  // Tells machine code where to log those loads of a block that it does not report.
  //   record: of the block's slot
  void lend_logs(const WarpPlace& place, AccessRecord& record);
  // Calls visit(place) for the blocks whose logs are lent in the running launch.
  template <typename Visit>
  void for_each_lent(Visit visit) const {
    for (std::uint32_t slot = 0; slot < logs_.size(); ++slot) {
      if (logs_[slot].is_lent) visit(WarpPlace{.slot = slot, .phase = logs_[slot].phase});
    }
  }

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
  static constexpr std::uint32_t kLoads = LoadLog::kLoads, kMeetings = 32;
  struct MeetingOf {
    std::uint32_t time = 0, pc = 0, mask = 0, members = 0, knowledge = 0;
  };
  // The latest operations of one warp, in a ring buffer.
  struct Meetings {
    std::uint32_t count = 0;
    std::array<MeetingOf, kMeetings> meeting{};
  };
  // Those of the warps of a block; machine code keeps pointers to the loads.
  struct OfSlot {
    std::vector<LoadLog> loads;
    std::vector<Meetings> meetings;
    bool is_lent = false;
    std::uint32_t phase = 0;  // of the block, if they are lent
  };
  struct Log {
    LoadLog* loads;
    Meetings* meetings;
  };
  // A load at a pc, with one element of its vector.
  struct Loaded {
    std::uint32_t pc = 0, element = 0, time = 0;
  };

  OfSlot& slot_at(std::uint32_t slot);
  [[nodiscard]] Log log_of(const WarpPlace& place);
  [[nodiscard]] static bool reads(const LoadLog& log, std::uint32_t index, unsigned lane,
                                  std::uint32_t allocation, std::uint32_t offset,
                                  std::uint32_t& begin);
  [[nodiscard]] bool is_before(const Meetings& meetings, const Loaded& load, unsigned load_lane,
                               const Access& store, unsigned lane, std::uint32_t offset);
  // Dependences from the program's text, cached for the launch.
  [[nodiscard]] bool feeds(std::uint32_t load_pc, std::uint32_t element, std::uint32_t meeting_pc);
  [[nodiscard]] bool leads_to(std::uint32_t meeting_pc, std::uint32_t store_pc,
                              std::uint32_t element);
  [[nodiscard]] bool decides(std::uint32_t meeting_pc, std::uint32_t access_pc);
  const RegisterFlow& flow();

  bool lockstep_ = false, is_on_ = false;
  const Program* program_ = nullptr;
  std::uint32_t warps_ = 0;  // of a block
  std::unique_ptr<RegisterFlow> flow_;
  std::map<std::array<std::uint32_t, 3>, bool> feeds_, leads_to_, decides_;
  std::vector<OfSlot> logs_;  // by slot
};

}  // namespace warpcheck::vgpu
