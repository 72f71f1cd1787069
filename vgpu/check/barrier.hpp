// The checker for barrier divergence.  It reports four kinds of misuse: threads of one block wait
// at barriers that cannot be the same one; a thread bypasses a barrier at which others wait, and
// runs on; lanes of one warp execute warp operations that cannot be the same one; a barrier is used
// in a way that no barrier allows (PTX ISA 9.0, 9.7.9.6, 9.7.13.1, 9.7.13.15).
//
// From sm_70 on, a barrier does not wait for threads that have exited, so it is legal to leave the
// kernel before a barrier, and to do nothing more.  Where the code must also run on older devices
// (CheckerSet::portable), the checker reports it as a note.  Whole warps may meet at different
// barriers by the letter of PTX, not by that of the programming guide: that is a note, too.
#pragma once

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class BarrierChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }
  void configure(const CheckerSet& set) override;
  void on_barrier_divergence(const BarrierDivergence& divergence) override;

 private:
  bool notes_exits_ = false;
};

}  // namespace warpcheck::vgpu
