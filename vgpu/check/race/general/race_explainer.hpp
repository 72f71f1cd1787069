// Why nothing orders the two accesses of a race: what they lack, and in words.
#pragma once

#include "vgpu/check/order/barrier_object_order.hpp"
#include "vgpu/check/race/general/checked_row.hpp"
#include "vgpu/check/race/general/missed_reads.hpp"
#include "vgpu/check/race/race_finding.hpp"

namespace warpcheck::vgpu {

class RaceExplainer {
 public:
  RaceExplainer(const ThreadOrder& order, const BarrierObjectOrder& barrier_objects,
                const MissedReads& missed)
      : order_(order), barrier_objects_(barrier_objects), missed_(missed) {}

  [[nodiscard]] RaceExplanation explain(const CheckedRow& row, const LaneAccess& mine,
                                        const EarlierAccess& earlier) const;

 private:
  [[nodiscard]] RaceExplanation explain_copy(const Access& access, unsigned lane,
                                             const EarlierAccess& earlier) const;
  [[nodiscard]] RaceExplanation explain_threads(const Access& access, const LaneAccess& mine,
                                                const EarlierAccess& earlier) const;
  [[nodiscard]] RaceExplanation what_was_missed(const CheckedRow& row, const LaneAccess& mine,
                                                const EarlierAccess& earlier) const;

  const ThreadOrder& order_;
  const BarrierObjectOrder& barrier_objects_;
  const MissedReads& missed_;
};

}  // namespace warpcheck::vgpu
