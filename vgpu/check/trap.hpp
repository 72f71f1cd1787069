// The checker for kernels that end their launch themselves: trap (PTX ISA 9.7.20.4), failed
// assertions, bad calls.
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class TrapChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }
  void on_trap(const Trap& trap) override;
};

}  // namespace warpcheck::vgpu
