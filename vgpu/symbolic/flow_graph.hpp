// The basic blocks of a kernel's text, its loops, and which registers are needed where.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu::symbolic {

// What is not followed: a proof ends there.
class NotFollowed : public std::runtime_error {
 public:
  NotFollowed(const ptx::SourceLocation& at, const std::string& reason)
      : std::runtime_error(reason), at_(at) {}
  [[nodiscard]] const ptx::SourceLocation& at() const { return at_; }

 private:
  ptx::SourceLocation at_;
};

inline constexpr std::uint32_t kEnd = ptx::kNone;  // as a block: the end of the thread

struct Edge {
  std::uint32_t to = kEnd;
  std::uint32_t guard = ptx::kNone;  // predicate register; none: always
  bool negated = false;
  // Of a jump by a table: the register that has to be this number.
  std::uint32_t selector = ptx::kNone, number = 0;
};

// Instructions [begin, end); a branch that ends it is its edges.
struct BasicBlock {
  std::uint32_t begin = 0, end = 0;
  std::vector<Edge> edges;
  std::uint32_t place = ptx::kNone;  // in an order with loops contiguous and before their exits
  std::uint32_t loop = ptx::kNone;   // the innermost one
};

struct Loop {
  std::uint32_t header = 0;
  std::vector<std::uint32_t> blocks;  // of inner loops as well
  std::uint32_t parent = ptx::kNone;
  std::uint32_t depth = 0;
  bool has_barrier = false;
  bool always_has_barrier = false;     // in each iteration
  std::vector<std::uint32_t> written;  // registers
};

// Whom barriers make wait for each other.
enum class Together : std::uint8_t {
  block,  // bar.sync
  warp,   // that, and bar.warp.sync of all lanes
};

class FlowGraph {
 public:
  // Throws NotFollowed for a cycle with several entries.
  explicit FlowGraph(const ptx::Function& kernel, Together together = Together::block);

  [[nodiscard]] const std::vector<BasicBlock>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<Loop>& loops() const { return loops_; }
  [[nodiscard]] bool is_in(std::uint32_t block, std::uint32_t loop) const;
  [[nodiscard]] std::uint32_t block_of(std::uint32_t instruction) const;
  // The loop whose header it is, or none.
  [[nodiscard]] std::uint32_t loop_at(std::uint32_t header) const { return loop_at_[header]; }
  // The loops around a block, outermost first.
  [[nodiscard]] std::vector<std::uint32_t> loops_around(std::uint32_t block) const;
  // Whether it is one of the barriers that end an interval.
  [[nodiscard]] bool is_barrier(const ptx::Instruction& instruction) const;
  // Whether the register is read, at the block's begin or later, before it is written, and
  // something else than a float follows from its value.
  [[nodiscard]] bool is_needed(std::uint32_t block, std::uint32_t reg) const {
    return needed_[block][reg];
  }

 private:
  void find_blocks();
  void add_table(BasicBlock& block, const ptx::Instruction& jump, std::uint32_t next);
  void find_places();
  void find_loops();
  void find_needed();
  void add_needs_of(const ptx::Instruction& instruction, std::vector<bool>& needed) const;
  // Whether an iteration may meet no barrier, as far as the branches say.
  [[nodiscard]] bool has_free_iteration(std::uint32_t loop) const;

  const ptx::Function& kernel_;
  Together together_;
  std::vector<BasicBlock> blocks_;
  std::vector<Loop> loops_;
  std::vector<std::uint32_t> loop_at_;
  std::vector<std::vector<bool>> needed_, in_loop_;
};

// Whether all threads of the block wait there.
[[nodiscard]] bool is_block_barrier(const ptx::Instruction& instruction);

// Whether all lanes of a warp wait there.
[[nodiscard]] bool is_warp_barrier(const ptx::Instruction& instruction);
// Whether a false assertion calls it.
[[nodiscard]] bool is_failed_assertion(const ptx::Instruction& instruction);

// Calls visit(register, is_written) for each register that an instruction names.
void for_each_register(const ptx::Instruction& instruction,
                       const std::function<void(std::uint32_t, bool)>& visit);

}  // namespace warpcheck::vgpu::symbolic
