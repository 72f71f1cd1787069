// Why nothing orders the two accesses of a race: what they lack, and in words.
#pragma once

#include "vgpu/check/race/general/general_state.hpp"
#include "vgpu/check/race/race_finding.hpp"

namespace warpcheck::vgpu {

class RaceExplainer {
 public:
  explicit RaceExplainer(const GeneralState& state) : state_(state) {}

  [[nodiscard]] RaceExplanation explain(const CheckedRow& row, const LaneAccess& mine,
                                        const EarlierAccess& earlier) const;

 private:
  [[nodiscard]] bool is_before_own_copy(const CheckedRow& row, const AccessClass& before,
                                        const EarlierAccess& earlier) const;
  [[nodiscard]] RaceExplanation explain_copy(const Access& access, unsigned lane,
                                             const EarlierAccess& earlier) const;
  [[nodiscard]] RaceExplanation explain_threads(const Access& access, const LaneAccess& mine,
                                                const EarlierAccess& earlier) const;
  [[nodiscard]] RaceExplanation what_was_missed(const CheckedRow& row, const LaneAccess& mine,
                                                const EarlierAccess& earlier) const;

  const GeneralState& state_;
};

}  // namespace warpcheck::vgpu
