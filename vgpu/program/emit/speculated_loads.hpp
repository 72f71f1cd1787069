// Loads that the compiler makes for all threads although the source makes them for some.
//
// `if (t == 0 && flag[0])` and `x = t == 0 ? sum[0] : 0` are compiled to a load, and an instruction
// that throws its value away where t is not 0: an address that is known to lie in a variable may be
// read at any time.  Where another thread writes there, the PTX has a race that the source has not,
// and that changes nothing.  So such a load is executed by those lanes alone for which its value
// can matter, as the source says.
//
// A value cannot matter to a lane if everything that is calculated from it ends in an operand that
// another one overrules: in `or.pred` where the other is true, in `and.pred` where it is false, in
// `selp` that selects the other.  Loads by computed addresses stay as they are, as compilers do not
// move them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "vgpu/program/emit/control_flow.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

class SpeculatedLoads {
 public:
  // A predicate register, or its negation.
  struct Literal {
    std::uint32_t reg = ptx::kNone;
    bool negated = false;
    friend auto operator<=>(const Literal&, const Literal&) = default;
  };
  using Condition = std::vector<Literal>;  // ascending; all of them hold

  SpeculatedLoads(const ptx::Module& module, const ptx::Function& function,
                  const ControlFlow& flow);

  // The positions in the text of a block's instructions, in the order of execution: what the
  // conditions of its speculated loads are calculated by comes before these loads.
  std::vector<std::uint32_t> order(std::uint32_t block);
  // When the value of the load at `position` can matter; nullptr: always.  Known for the blocks
  // that order() was asked for.
  [[nodiscard]] const Condition* condition_of(std::uint32_t position) const;

 private:
  // Where a register stands in the text, in the order of the text.
  struct Occurrence {
    std::uint32_t position = 0;
    bool is_written = false;
  };
  struct Block {
    std::uint32_t begin, end;
    std::vector<std::uint32_t> order;  // positions
    [[nodiscard]] std::uint32_t rank(std::uint32_t position) const;
  };

  [[nodiscard]] bool is_candidate(const ptx::Instruction& in) const;
  [[nodiscard]] const ptx::Variable* variable_of(const ptx::VariableRef& ref) const;
  void list_occurrences();
  void add_occurrences(const ptx::Operand& operand, std::uint32_t position, bool is_first);
  // Of a register with one definition; nothing: it has more, or none.
  [[nodiscard]] std::optional<std::uint32_t> definition_of(std::uint32_t reg) const;
  // When the value that the instruction at `position` writes to `reg` can matter.
  Condition matters(std::uint32_t reg, std::uint32_t position, int depth);
  Condition matters_to(const ptx::Instruction& use, std::uint32_t position, std::uint32_t reg,
                       int depth);
  // How many instructions of the function read the register.
  [[nodiscard]] std::size_t count_reads(std::uint32_t reg) const;
  // Whether the register's value at the beginning of the block may be read.
  [[nodiscard]] bool is_live(std::uint32_t reg, std::uint32_t block) const;
  [[nodiscard]] std::uint32_t block_of(std::uint32_t position) const;
  [[nodiscard]] bool is_known_in(const Literal& literal, std::uint32_t load,
                                 const Block& block) const;
  // Adds what has to be moved above the load for the register to be known there; false: it cannot.
  bool collect(std::uint32_t reg, std::uint32_t use, std::uint32_t load, const Block& block,
               std::vector<std::uint32_t>& moved) const;
  // Whether an instruction from the load on, before `position`, names the register.
  //   is_written: only those count that write it
  [[nodiscard]] bool stands_between(std::uint32_t reg, bool is_written, std::uint32_t load,
                                    std::uint32_t position, const Block& block) const;
  void move_above(std::uint32_t load, const std::vector<std::uint32_t>& moved, Block& block) const;
  void restrict(std::uint32_t load, Block& block);

  const ptx::Module& module_;
  const ptx::Function& function_;
  const ControlFlow& flow_;
  bool has_candidates_ = false;
  std::vector<std::vector<Occurrence>> occurrences_;  // by register
  std::map<std::uint32_t, Condition> conditions_;     // by position
  // Of the load that is looked at: the registers that are written where its value may still be
  // used, and where; how many instructions were looked at.
  std::set<std::pair<std::uint32_t, std::uint32_t>> written_;
  int looked_at_ = 0;
};

}  // namespace warpcheck::vgpu
