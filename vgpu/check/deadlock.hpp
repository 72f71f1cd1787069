// Launches that do not end: the step limit was passed.
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class DeadlockChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] bool watches_accesses() const override { return false; }
  void on_step_limit(const StepLimit& limit) override;
};

}  // namespace warpcheck::vgpu
