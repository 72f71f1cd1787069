// The basic blocks of a function's text, the edges between them, and the jumps whose targets are
// not known yet.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/emit/context.hpp"

namespace warpcheck::vgpu {

class ControlFlow {
 public:
  explicit ControlFlow(const FunctionContext& context);

  // The successors of each basic block, in the order of the text; the last block is the empty end
  // of the text.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& successors() const {
    return successors_;
  }
  [[nodiscard]] bool is_end(std::uint32_t block) const { return block + 1 == starts_.size(); }
  // Positions in the text.
  [[nodiscard]] std::uint32_t begin_of(std::uint32_t block) const { return starts_[block]; }
  [[nodiscard]] std::uint32_t end_of(std::uint32_t block) const { return starts_[block + 1]; }
  [[nodiscard]] bool falls_through(std::uint32_t block) const;
  // target_of(): the block at the label of a branch. targets_of(): the blocks in the list of a
  // brx.idx.
  [[nodiscard]] std::uint32_t target_of(const ptx::Instruction& in) const;
  [[nodiscard]] std::vector<std::uint32_t> targets_of(const ptx::Instruction& in) const;

  void place(std::uint32_t block, std::uint32_t pc) { pcs_[block] = pc; }
  // The jump at `pc`, and the entries of a jump table, hold block numbers until resolve().
  void add_jump(std::uint32_t pc, std::uint32_t block) { jumps_.push_back({pc, block}); }
  void add_table(std::uint32_t table) { tables_.push_back(table); }
  // Drops jumps from `pc` on.
  void drop_jumps(std::uint32_t pc);
  void resolve(Program& program) const;

 private:
  void find_starts();
  void find_successors();

  FunctionContext context_;
  std::vector<std::uint32_t> starts_, pcs_;  // by block
  std::vector<std::uint32_t> block_of_;      // by position in the text
  std::vector<std::vector<std::uint32_t>> successors_;
  struct Jump {
    std::uint32_t pc, block;
  };
  std::vector<Jump> jumps_;
  std::vector<std::uint32_t> tables_;  // indices into Program::jump_tables
};

}  // namespace warpcheck::vgpu
