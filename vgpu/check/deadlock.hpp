// The checker for launches that do not end: deadlocks (no thread can continue) and launches that
// exceed the step limit.  A finding says what each group of threads does: where it waits and for
// what, what it polls and which thread wrote that place last, or that it has exited.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class DeadlockChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }
  void on_deadlock(const Deadlock& deadlock) override;
  void on_step_limit(const StepLimit& limit) override;

 private:
  // Threads of any block that wait at one instruction for the same thing.
  struct Group {
    Waiting first;
    std::uint32_t threads = 0, blocks = 0, last_block = 0;
    std::uint32_t places = 0;  // places that they read
  };
  static std::vector<Group> group(std::span<const Waiting> waiting, bool by_place);
  static std::vector<Group> group(std::span<const Waiting> waiting);
  // Adds a side for each group and for each known write.  Returns the text that says what the
  // groups do; it refers to those sides by number.
  std::string describe(const Program& program, std::span<const Waiting> waiting,
                       Finding& finding) const;
  void add_host(Finding& finding) const;
  std::string describe_writer(const Program& program, const LastWrite& write,
                              std::span<const Waiting> waiting, const std::vector<Group>& groups,
                              Finding& finding) const;
};

}  // namespace warpcheck::vgpu
