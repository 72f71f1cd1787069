// The basic blocks of a Program and which of them may follow each other, through calls and returns
// as well: the control flow that all analyses of a Program follow.
//
// A function that is called from several places, by recursion or through a register, may return to
// each of them: that is more than a thread does, and the same for every caller.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "vgpu/program/flow/number_lists.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns whether it is a barrier that threads execute only if their guard is true.
[[nodiscard]] bool is_guarded_barrier(const Instr& instr);

class BlockGraph {
 public:
  //   is_alone(instr): whether the instruction is a block of its own; null: none is
  explicit BlockGraph(const Program& program, bool (*is_alone)(const Instr& instr) = nullptr);

  // A basic block: the code in [begin, end).
  struct Block {
    std::uint32_t begin = 0, end = 0;
  };
  // In the order of the code, without gaps.
  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t block_of(std::uint32_t pc) const { return block_of_[pc]; }
  // Returns the blocks that may follow, each once.
  [[nodiscard]] std::span<const std::uint32_t> successors(std::uint32_t block) const {
    return successors_.of(block);
  }
  // Returns whether threads may leave the program at the end of the block.
  [[nodiscard]] bool ends(std::uint32_t block) const { return ends_[block]; }

 private:
  void find_blocks(const Program& program, bool (*is_alone)(const Instr& instr));
  //   returns: by function, where its calls continue
  void link(const Program& program, const Block& block,
            const std::vector<std::vector<std::uint32_t>>& returns);

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> block_of_;  // by pc
  NumberLists successors_;               // by block
  std::vector<bool> ends_;               // by block
};

// A forward analysis over all paths from a block on, until nothing changes (Kildall, POPL 1973).
//   after(block): returns what holds at its end, from what holds at its beginning
//   join(next, state): adds that to what holds at the beginning of a block that may follow; returns
//   whether it changes anything
template <typename After, typename Join>
void follow_paths(const BlockGraph& graph, std::uint32_t first, After after, Join join) {
  std::set<std::uint32_t> work{first};
  while (!work.empty()) {
    const std::uint32_t block = *work.begin();
    work.erase(work.begin());
    const auto state = after(block);
    for (const std::uint32_t next : graph.successors(block)) {
      if (join(next, state)) work.insert(next);
    }
  }
}

}  // namespace warpcheck::vgpu
