// Reports races that are found by epochs, and judges how severe they are (race_weight.hpp).
#pragma once

#include <cstdint>

#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/race/race_shadow.hpp"
#include "vgpu/check/race/race_weight.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

class EpochReports {
 public:
  EpochReports(Reporter& reporter, CollectiveOrder& collectives)
      : reporter_(reporter), collectives_(collectives) {}

  // The access of one lane.
  struct Later {
    const Access& access;
    unsigned access_class;
    unsigned lane;
  };
  // Reports every earlier access in this lane's cells that races with it.
  void report_lane(const Later& later, const RaceRow& row, Shadow& shadow);

 private:
  // An earlier access that is unordered with a lane's access.
  struct Earlier {
    unsigned access_class;
    Epoch epoch;
    std::uint32_t pc;
    friend bool operator==(const Earlier&, const Earlier&) = default;
  };

  static bool is_handed(const Later& later, const Earlier& earlier, Epoch me);
  //   offset: of the cell's first byte
  Weight weight_of(const Later& later, const Earlier& earlier, Epoch me, std::uint32_t offset,
                   bool races);
  void report(const Later& later, const Earlier& earlier, Weight weight);

  Reporter& reporter_;
  CollectiveOrder& collectives_;
  SwapGuesses guesses_;
};

}  // namespace warpcheck::vgpu
