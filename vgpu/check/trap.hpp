// The checker for kernels that end their launch themselves: trap (PTX ISA 9.7.20.4), failed
// assertions, bad calls.
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class TrapChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  void on_trap(const Trap& trap) override;
};

}  // namespace warpcheck::vgpu
