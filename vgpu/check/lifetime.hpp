// Use of device memory after it was freed.
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class LifetimeChecker final : public Checker {
 public:
  using Checker::Checker;
  void on_fault(const Fault& fault) override;
};

}  // namespace warpcheck::vgpu
