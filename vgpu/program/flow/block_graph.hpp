// The basic blocks of a Program and which of them may follow each other, through calls and returns
// as well.
//
// A function that is called from several places, by recursion or through a register, may return to
// each of them: that is more than a thread does, and the same for every caller.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns whether it is a barrier that threads execute only if their guard is true.
[[nodiscard]] bool is_guarded_barrier(const Instr& instr);

class BlockGraph {
 public:
  explicit BlockGraph(const Program& program);

  // A basic block: the code in [begin, end).  A barrier with a guard is alone in its block.
  struct Block {
    std::uint32_t begin = 0, end = 0;
    // Threads may leave the program at its end.
    bool ends = false;
    std::vector<std::uint32_t> successors;  // each once
  };
  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t block_of(std::uint32_t pc) const { return block_of_[pc]; }

 private:
  void list_returns();
  void link(Block& block) const;
  // Calls visit(function) for the functions that a call may lead to.
  void for_each_callee(const Instr& call, auto&& visit) const;

  const Program& program_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> block_of_;              // by pc
  std::vector<std::vector<std::uint32_t>> returns_;  // by function: where its calls continue
};

}  // namespace warpcheck::vgpu
