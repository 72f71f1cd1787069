// Where in a function all threads of a block come by: a barrier elsewhere may be right in a run,
// and wrong at a size at which threads leave a loop at different times, or some leave out a branch.
//
// What depends on a branch is what can run between it and its immediate postdominator: where its
// ways meet again (Ferrante, Ottenstein, Warren, "The program dependence graph and its use in
// optimization", 1987).  A way on which threads only end counts for nothing: a thread that has left
// the kernel counts at no barrier.  What a load brings is the same for all threads if its address
// is, as a difference would be a race.
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
  // A straight piece of the code: [begin, end).
  struct Block {
    std::uint32_t begin = 0, end = 0;
    std::vector<std::uint32_t> next{};  // blocks; the last one is where threads end
    std::uint32_t ends = ptx::kNone;    // the other way of its branch, on which threads only end
    std::uint32_t meets = ptx::kNone;   // its immediate postdominator
  };

  [[nodiscard]] std::uint32_t target_of(const ptx::Instruction& branch) const;
  [[nodiscard]] bool reads_varying(const ptx::Instruction& instruction) const;
  [[nodiscard]] bool reads_varying(const ptx::Operand& operand, bool is_loaded) const;
  bool mark_destinations(const ptx::Instruction& instruction);
  void find_blocks();
  void leave_out_ends();
  void find_meetings();
  void divide();

  const ptx::Function& function_;
  std::vector<bool> varies_;  // registers
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> block_of_;  // by instruction
  std::vector<bool> is_divided_;  // blocks that not all threads execute, or not equally often
};

}  // namespace warpcheck
