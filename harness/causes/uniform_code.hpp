// Where in a function all threads of a block come by: a barrier elsewhere may be right in a run,
// and wrong at a size at which threads leave a loop at different times, or some leave out a branch.
//
// Loops and branches are taken as the intervals of the text that their jumps span, which is how
// compilers lay them out.  What a load brings is the same for all threads if its address is, as a
// difference would be a race.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck {

class UniformCode {
 public:
  explicit UniformCode(const ptx::Function& function);

  // gap: the index of the instruction behind the place
  [[nodiscard]] bool all_come_by(std::uint32_t gap) const;

 private:
  // Instructions that not all threads execute, or not equally often: [begin, end).
  struct Region {
    std::uint32_t begin = 0, end = 0;
  };

  [[nodiscard]] std::uint32_t target_of(const ptx::Instruction& branch) const;
  [[nodiscard]] bool reads_varying(const ptx::Instruction& instruction) const;
  [[nodiscard]] bool reads_varying(const ptx::Operand& operand, bool is_loaded) const;
  [[nodiscard]] bool is_in_region(std::uint32_t index) const;
  bool mark_destinations(const ptx::Instruction& instruction);
  void find_regions();
  void add_branch(std::uint32_t at, std::uint32_t target);

  const ptx::Function& function_;
  std::vector<bool> varies_;  // registers
  std::vector<Region> regions_;
};

}  // namespace warpcheck
