// Static analysis of a thread's code: which instructions depend on a branch, and which registers
// are live.
#pragma once

#include <vector>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

class ControlFlow {
 public:
  // `wanted`: by register, whether its value at the end is needed.
  ControlFlow(const Thread& thread, std::vector<bool> wanted);

  // Whether the outcome of the branch decides that the instruction is executed.  It does not if all
  // paths from the branch to the end contain the instruction, unless the branch is part of a loop,
  // which need not end.
  [[nodiscard]] bool depends(unsigned instruction, unsigned branch) const;

  // By register: whether its value before the instruction can still be used.
  [[nodiscard]] const std::vector<bool>& live_before(unsigned instruction) const {
    return live_[instruction];
  }
  // By register: whether the instruction, or one that can follow it, sets it.
  [[nodiscard]] std::vector<bool> set_from(unsigned instruction) const;

  // Whether some later instruction branches back to this one.
  [[nodiscard]] bool begins_loop(unsigned instruction) const;

 private:
  [[nodiscard]] std::vector<unsigned> after(unsigned instruction) const;
  // By instruction, the end included: whether there is a path to it from after `from`.
  [[nodiscard]] std::vector<bool> reached(unsigned from, unsigned avoided) const;
  void find_live(std::vector<bool> wanted);

  const Thread& thread_;
  std::vector<std::vector<bool>> live_;
};

}  // namespace warpcheck::model
