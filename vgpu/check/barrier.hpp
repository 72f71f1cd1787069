// Barrier divergence: threads of one block that cannot have meant the same barrier, lanes of one
// warp that cannot have meant the same operation, and barriers that are used as none can be
// (PTX ISA 9.0, 9.7.9.6, 9.7.13.1, 9.7.13.15).
//
// Nobody waits for threads that have exited: that is legal from sm_70 on, and a note where code is
// to run on older devices, too (CheckerSet::portable).
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class BarrierChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  void configure(const CheckerSet& set) override;
  void on_barrier_divergence(const BarrierDivergence& divergence) override;

 private:
  bool notes_exits_ = false;
};

}  // namespace warpcheck::vgpu
