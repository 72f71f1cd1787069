// Which registers each instruction of a Program reads and writes, beside the graph of its blocks:
// the basis of analyses of the flow of values.
//
// The registers of all frames have distinct numbers.  Every call site has its own copy of its
// callee, so a function's frame always begins at the same register; parameters and results are
// where the frames of caller and callee meet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/program/flow/block_graph.hpp"
#include "vgpu/program/flow/number_lists.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class RegisterFlow {
 public:
  explicit RegisterFlow(const Program& program);

  // False: there is recursion, calls through registers, or growing stacks; then only the graph may
  // be asked for.
  [[nodiscard]] bool is_known() const { return known_; }
  // The first instruction that makes the flow unknown.
  [[nodiscard]] std::uint32_t obstacle() const { return obstacle_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] std::uint32_t registers() const { return registers_; }
  // Includes the guard.
  [[nodiscard]] std::span<const std::uint32_t> reads(std::uint32_t pc) const {
    return reads_.of(pc);
  }
  [[nodiscard]] std::span<const std::uint32_t> writes(std::uint32_t pc) const {
    return writes_.of(pc);
  }
  // Returns whether the instruction writes registers that writes() does not list.
  [[nodiscard]] bool is_opaque(std::uint32_t pc) const { return opaque_[pc]; }
  // Returns the number of an operand of the instruction at `pc`; ptx::kNone: it is no register.
  [[nodiscard]] std::uint32_t register_of(std::uint32_t pc, const Ref& ref) const;

  // Returns the number of a row of the warp's stack, by its index in its bank; ptx::kNone: no
  // instruction uses it.
  [[nodiscard]] std::uint32_t register_at(Bank bank, std::uint32_t row) const;

  [[nodiscard]] const BlockGraph& graph() const { return graph_; }
  // function_of(): index into Program::functions. call_of(): the pc of a function's only call
  // (kNone: the kernel).
  [[nodiscard]] std::uint32_t function_of(std::uint32_t pc) const { return function_of_[pc]; }
  [[nodiscard]] std::uint32_t call_of(std::uint32_t function) const { return calls_[function]; }

 private:
  struct Frame {
    std::uint32_t word = 0, wide = 0, predicate = 0;
  };

  bool place_frames();
  void list_operands();
  void add(NumberLists& lists, std::uint32_t pc, const Ref& ref) const;

  const Program& program_;
  BlockGraph graph_;
  bool known_ = false;
  std::uint32_t obstacle_ = 0;
  std::uint32_t registers_ = 0;
  std::uint32_t words_ = 0, wides_ = 0;
  std::vector<Frame> frames_;               // by function
  std::vector<std::uint32_t> calls_;        // by function
  std::vector<std::uint32_t> function_of_;  // by pc
  std::vector<bool> opaque_;                // by pc
  NumberLists reads_, writes_;              // by pc
};

}  // namespace warpcheck::vgpu
