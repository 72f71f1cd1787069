// Barrier divergence: threads of one block that cannot have meant the same barrier
// (PTX ISA 9.7.13.1: bar.sync without a thread count is for all threads of the block).
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class BarrierChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] bool watches_accesses() const override { return false; }
  void on_barrier_divergence(const BarrierDivergence& divergence) override;
};

}  // namespace warpcheck::vgpu
