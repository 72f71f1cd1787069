// Reports races that are found by epochs, and judges how severe they are (race_weight.hpp).
#pragma once

#include <cstdint>

#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/race/race_shadow.hpp"
#include "vgpu/check/race/race_weight.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/check/race/same_value_stores.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

class EpochReports {
 public:
  EpochReports(Reporter& reporter, CollectiveOrder& collectives)
      : reporter_(reporter), collectives_(collectives) {}

  // The access of one lane.
  struct Later : MeetingLane {
    unsigned access_class;
  };
  //   ordered_threads: of the warp model
  void begin_launch(std::uint64_t ordered_threads) {
    ordered_threads_ = ordered_threads;
    same_value_stores_.clear();
  }
  // All lanes of a row, which comes after all earlier accesses to its place, store one value there.
  void begin_same_value(const Access& row, Epoch warp) {
    same_value_stores_.begin(row, thread_number(warp));
  }
  // Reports every earlier access in this lane's cells that races with it.
  void report_lane(const Later& later, const RaceRow& row, Shadow& shadow);

 private:
  // An earlier access that is unordered with a lane's access.
  struct Earlier {
    unsigned access_class;
    Epoch epoch;
    std::uint32_t pc;
    bool is_last = false;    // the latest access of its class to the cell
    bool is_writer = false;  // its thread has made the latest write of the later access's class
  };

  // Returns a number of the epoch's thread, for SameValueStores; a warp in lockstep is one.
  [[nodiscard]] SameValueStores::Thread thread_number(Epoch epoch) const {
    return epoch / kBlockUnit * kThreadsMax + thread_of(epoch) / ordered_threads_;
  }
  [[nodiscard]] static bool may_be_handed(const Later& later, const Earlier& earlier, Epoch me);
  [[nodiscard]] static bool is_overwritten(const Later& later, const Earlier& earlier, Epoch me);
  //   offset: of the cell's first byte
  Weight weight_of(const Later& later, const Earlier& earlier, Epoch me, std::uint32_t offset,
                   bool races);
  void report(const Later& later, const Earlier& earlier, Weight weight);

  Reporter& reporter_;
  CollectiveOrder& collectives_;
  SwapGuesses guesses_;
  std::uint64_t ordered_threads_ = kOrderedInThread;
  SameValueStores same_value_stores_;
};

}  // namespace warpcheck::vgpu
