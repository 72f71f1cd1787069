// What a program means for the search over all executions: whether all its executions can be tried,
// its awaits, and which atomic operations commute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/executions/await_loops.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class CoveredProgram {
 public:
  explicit CoveredProgram(const Program& program);

  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  // If not empty: the program has an instruction whose executions cannot all be tried; the text
  // names the instruction and its place.
  [[nodiscard]] const std::string& gap() const { return gap_; }
  [[nodiscard]] const AwaitLoops& awaits() const { return awaits_; }
  // Returns whether the atomic operation at `pc` only changes memory, and so commutes with others
  // of its kind.
  //   is_weak: a thread may learn from the write that an atomic operation has read, whatever its
  //   value is
  [[nodiscard]] bool commutes(std::uint32_t pc, bool is_weak) const;

 private:
  const Program& program_;
  std::string kernel_;
  std::string gap_;
  AwaitLoops awaits_;
  std::vector<bool> unused_old_values_;  // by pc
};

}  // namespace warpcheck::vgpu
