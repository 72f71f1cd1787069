// Launches that do not end: threads that nothing can let go on, and the step limit.  A finding says
// who waits where, and for what.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class DeadlockChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] bool watches_accesses() const override { return false; }
  void on_deadlock(const Deadlock& deadlock) override;
  void on_step_limit(const StepLimit& limit) override;

 private:
  // Threads at one instruction, in any block, that wait for the same.
  struct Group {
    Waiting first;
    std::uint32_t threads = 0;
  };
  static std::vector<Group> group(std::span<const Waiting> waiting);
  // Adds a side for each group; returns what the groups do, as text about those sides.
  std::string describe(const Program& program, const std::vector<Group>& groups,
                       Finding& finding) const;
};

}  // namespace warpcheck::vgpu
