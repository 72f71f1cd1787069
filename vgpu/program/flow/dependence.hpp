// Computes which registers depend on the value of an instruction, on every path that a thread can
// have taken.
//
// A register *covers* an execution of the instruction if its value cannot be known before that
// execution has given its own value.  Data operands, addresses and predicates count; branches do
// not.  This is a forward analysis over all paths (Kildall, POPL 1973) with two facts per register
// and place:
//   older:  it covers all executions except the latest
//   latest: it covers the latest execution
// So a sum over a loop's loads covers all of them.  Executions count from the beginning of the
// thread, or from the latest execution of another instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/program/flow/register_flow.hpp"

namespace warpcheck::vgpu {

class Dependence {
 public:
  // Analyses dependence on the value that the load at `pc` puts into an element, or on any result
  // of the instruction.
  //   from: executions before the latest one of this instruction do not count; kNone: all count
  Dependence(const RegisterFlow& flow, std::uint32_t pc, std::optional<MemoryOperand> element = {},
             std::uint32_t from = ptx::kNone);

  // Returns whether, before the instruction at `pc`, one of the registers covers all executions
  // that count, or (covers_latest) the latest one.
  [[nodiscard]] bool covers_all(std::uint32_t pc,
                                const std::vector<std::uint32_t>& registers) const;
  [[nodiscard]] bool covers_latest(std::uint32_t pc,
                                   const std::vector<std::uint32_t>& registers) const;

 private:
  using Bits = std::vector<std::uint64_t>;
  struct State {
    Bits older, latest;
    bool is_reached = false;
    bool none = true;  // no execution has counted so far
  };

  [[nodiscard]] State start() const;
  static bool join(State& into, const State& from);
  void execute(State& state, std::uint32_t pc) const;
  void execute_source(State& state, std::uint32_t pc) const;
  [[nodiscard]] State before(std::uint32_t pc) const;

  const RegisterFlow& flow_;
  std::uint32_t source_, from_;
  std::optional<MemoryOperand> element_;
  std::vector<State> at_begin_;  // by basic block
};

}  // namespace warpcheck::vgpu
