// Reports races that the general race checker finds, and judges how severe they are
// (race_weight.hpp).
#pragma once

#include <vector>

#include "vgpu/check/order/barrier_object_order.hpp"
#include "vgpu/check/order/cluster_order.hpp"
#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/race/general/checked_row.hpp"
#include "vgpu/check/race/general/race_explainer.hpp"
#include "vgpu/check/race/race_weight.hpp"
#include "vgpu/check/race/same_value_stores.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

class RaceReports {
 public:
  // What reports read.
  struct Parts {
    ThreadOrder& order;
    CollectiveOrder& collectives;
    const ClusterOrder& cluster_order;
    const BarrierObjectOrder& barrier_objects;
    const MissedReads& missed;
    const std::vector<CheckedLaunch>& launches;  // of the trial
  };
  RaceReports(Reporter& reporter, const Parts& parts)
      : reporter_(reporter),
        order_(parts.order),
        collectives_(parts.collectives),
        cluster_order_(parts.cluster_order),
        barrier_objects_(parts.barrier_objects),
        launches_(parts.launches),
        explainer_(parts.order, parts.barrier_objects, parts.missed) {}

  void forget_answers() { seen_release_ = {}; }
  void begin_launch() { same_value_stores_.clear(); }
  // Reports a race.  Returns whether the rest of the row needs no check; false: only this lane's
  // access is known to be harmless.
  bool report(const CheckedRow& row, const LaneAccess& mine, const EarlierAccess& earlier);
  [[nodiscard]] AccessSide side_of(const EarlierAccess& earlier) const;

 private:
  // The latest answer of has_seen_release() for a whole block.
  struct SeenRelease {
    SegmentId earlier = 0, now = 0;
    bool seen = false;
  };

  [[nodiscard]] Weight weight_of(const CheckedRow& row, const LaneAccess& mine,
                                 const EarlierAccess& earlier);
  [[nodiscard]] bool is_own_value(const CheckedRow& row, const LaneAccess& mine,
                                  const EarlierAccess& earlier);
  // Returns numbers of threads, for SameValueStores.
  [[nodiscard]] SameValueStores::Thread thread_of_earlier(const EarlierAccess& earlier) const;
  [[nodiscard]] SameValueStores::Thread thread_of_mine(const CheckedRow& row,
                                                       const LaneAccess& mine) const;
  [[nodiscard]] bool is_passed_on(const Access& access, unsigned lane,
                                  const EarlierAccess& earlier);
  [[nodiscard]] bool cannot_go_wrong(const CheckedRow& row, const LaneAccess& mine,
                                     const EarlierAccess& earlier, AccessKind earlier_kind);
  [[nodiscard]] bool is_fenced_init(const CheckedRow& row, const LaneAccess& mine,
                                    const EarlierAccess& earlier) const;
  [[nodiscard]] bool is_known_use(const CheckedRow& row, const LaneAccess& mine,
                                  const EarlierAccess& earlier);
  [[nodiscard]] bool has_seen_release(const CheckedRow& row, unsigned lane,
                                      const EarlierAccess& earlier);

  Reporter& reporter_;
  ThreadOrder& order_;
  CollectiveOrder& collectives_;
  const ClusterOrder& cluster_order_;
  const BarrierObjectOrder& barrier_objects_;
  const std::vector<CheckedLaunch>& launches_;
  RaceExplainer explainer_;
  SwapGuesses guesses_;
  SameValueStores same_value_stores_;
  SeenRelease seen_release_;
};

}  // namespace warpcheck::vgpu
