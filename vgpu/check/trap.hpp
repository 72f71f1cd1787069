// Kernels that stop themselves: trap (PTX ISA 9.7.20.4).
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class TrapChecker final : public Checker {
 public:
  using Checker::Checker;
  void on_trap(const Trap& trap) override;
};

}  // namespace warpcheck::vgpu
