// Reports races that the general race checker finds, and judges how severe they are
// (race_weight.hpp).
#pragma once

#include <set>

#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/race/general/general_state.hpp"
#include "vgpu/check/race/general/race_explainer.hpp"
#include "vgpu/check/race/general/shared_owners.hpp"
#include "vgpu/check/race/race_weight.hpp"
#include "vgpu/check/race/same_value_stores.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

class RaceReports {
 public:
  RaceReports(Reporter& reporter, CollectiveOrder& collectives, GeneralState& state)
      : reporter_(reporter), collectives_(collectives), state_(state), explainer_(state) {}

  void forget_answers() { seen_release_ = {}; }
  void begin_launch() {
    same_value_stores_.clear();
    copies_in_races_.clear();
  }
  // Reports a race.  Returns whether the rest of the row needs no check; false: only this lane's
  // access is known to be harmless.
  bool report(const CheckedRow& row, const LaneAccess& mine, const EarlierAccess& earlier);
  [[nodiscard]] AccessSide side_of(const EarlierAccess& earlier) const;
  // Reports an access to the shared memory of a block that may come after the block's end.  A copy
  // that is in a race there has its finding.
  //   end: the end of the block
  void report_late(const Sync& end, const SharedOwners::Use& use, unsigned lane);

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
  [[nodiscard]] static bool is_reuse(const CheckedRow& row, const EarlierAccess& earlier);
  [[nodiscard]] bool is_fenced_init(const CheckedRow& row, const LaneAccess& mine,
                                    const EarlierAccess& earlier) const;
  [[nodiscard]] bool is_known_use(const CheckedRow& row, const LaneAccess& mine,
                                  const EarlierAccess& earlier);
  [[nodiscard]] bool has_seen_release(const CheckedRow& row, unsigned lane,
                                      const EarlierAccess& earlier);

  Reporter& reporter_;
  CollectiveOrder& collectives_;
  GeneralState& state_;
  RaceExplainer explainer_;
  SwapGuesses guesses_;
  SameValueStores same_value_stores_;
  SeenRelease seen_release_;
  std::set<std::uint32_t> copies_in_races_;  // their instructions, in this launch
};

}  // namespace warpcheck::vgpu
