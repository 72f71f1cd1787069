// Finds awaits: loops in which a thread only waits until memory changes.
//
// A round of an await that does not leave the loop changes nothing: no memory, and no register that
// the next round or the code after the loop reads before writing it.  So an execution in which a
// thread polls in vain is equivalent to one in which the thread waits until its poll succeeds.
// (Kokologiannakis, Ren, Vafeiadis: "Dynamic partial order reductions for spinloops", FMCAD 2021.)
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/flow/register_flow.hpp"

namespace warpcheck::vgpu {

class AwaitLoops {
 public:
  explicit AwaitLoops(const Program& program);

  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Returns the number of the innermost await around an instruction; kNone: there is none.
  [[nodiscard]] std::uint32_t loop_of(std::uint32_t pc) const {
    return pc < loop_of_.size() ? loop_of_[pc] : kNone;
  }

 private:
  using Blocks = std::vector<bool>;
  [[nodiscard]] Blocks body_of(std::uint32_t head, std::uint32_t tail) const;
  [[nodiscard]] bool only_reads(const Blocks& body) const;
  [[nodiscard]] bool carries_nothing(const Blocks& body, std::uint32_t head) const;
  [[nodiscard]] std::vector<bool> carried(const Blocks& body, std::uint32_t head) const;
  [[nodiscard]] bool is_read_outside(const Blocks& body, std::uint32_t reg) const;
  [[nodiscard]] bool is_indifferent(const Blocks& body, std::vector<bool> carried) const;
  [[nodiscard]] bool is_left_for_good(const Blocks& body, std::uint32_t head) const;

  RegisterFlow flow_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> loop_of_;  // by pc
};

// Returns whether an access by the instruction is always reported as an event, whatever its
// predicates and addresses are.
[[nodiscard]] bool always_shows(const Instr& instr);

}  // namespace warpcheck::vgpu
