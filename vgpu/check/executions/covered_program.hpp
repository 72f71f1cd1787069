// What every execution of a kernel can be tried of, and what its instructions are to that.
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
  // Not empty: an instruction whose executions cannot all be tried, and where.
  [[nodiscard]] const std::string& gap() const { return gap_; }
  [[nodiscard]] const AwaitLoops& awaits() const { return awaits_; }
  // Whether the atomic operation at `pc` only changes memory, as others of its kind do in any
  // order.
  //   is_weak: threads may learn from what an atomic operation has read, whatever its value
  [[nodiscard]] bool commutes(std::uint32_t pc, bool is_weak) const;

 private:
  const Program& program_;
  std::string kernel_;
  std::string gap_;
  AwaitLoops awaits_;
  std::vector<bool> unused_old_values_;  // by pc
};

}  // namespace warpcheck::vgpu
