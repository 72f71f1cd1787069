// Speculated loads: loads that the compiler executes for all threads although the source executes
// them only for some.
//
// `if (t == 0 && flag[0])` and `x = t == 0 ? sum[0] : 0` are compiled to an unconditional load and
// an instruction that drops the loaded value if t is not 0, because an address that is known to be
// in a variable may be read at any time.  If another thread writes there, the PTX has a race that
// the source does not have and that changes nothing.  So such a load is executed only for those
// lanes for which its value can matter, as in the source.
//
// A value cannot matter to a lane if everything calculated from it ends in an operand that another
// operand overrules: in `or.pred` if the other is true, in `and.pred` if it is false, in `selp` if
// it selects the other.  Loads from computed addresses are not changed, because compilers do not
// speculate them.
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
  using Condition = std::vector<Literal>;  // ascending; all of them must be true

  SpeculatedLoads(const ptx::Module& module, const ptx::Function& function,
                  const ControlFlow& flow);

  // Returns the positions in the text of a block's instructions, in the order of execution: the
  // instructions that compute the conditions of speculated loads are moved before these loads.
  std::vector<std::uint32_t> order(std::uint32_t block);
  // Returns the condition under which the value of the load at `position` can matter; nullptr:
  // always.  Known only for blocks for which order() was called.
  [[nodiscard]] const Condition* condition_of(std::uint32_t position) const;

 private:
  // The occurrences of a register in the text, in order.
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
  // Returns the definition of a register that has exactly one; nothing: it has more, or none.
  [[nodiscard]] std::optional<std::uint32_t> definition_of(std::uint32_t reg) const;
  // Returns the condition under which the value that the instruction at `position` writes to `reg`
  // can matter.
  Condition matters(std::uint32_t reg, std::uint32_t position, int depth);
  Condition matters_to(const ptx::Instruction& use, std::uint32_t position, std::uint32_t reg,
                       int depth);
  // Returns how many instructions of the function read the register.
  [[nodiscard]] std::size_t count_reads(std::uint32_t reg) const;
  // Returns whether the register's value at the beginning of the block may be read.
  [[nodiscard]] bool is_live(std::uint32_t reg, std::uint32_t block) const;
  [[nodiscard]] std::uint32_t block_of(std::uint32_t position) const;
  [[nodiscard]] bool is_known_in(const Literal& literal, std::uint32_t load,
                                 const Block& block) const;
  // Adds the instructions that must be moved before the load to compute the register there; false:
  // that is not possible.
  bool collect(std::uint32_t reg, std::uint32_t use, std::uint32_t load, const Block& block,
               std::vector<std::uint32_t>& moved) const;
  // Returns whether an instruction from the load on, before `position`, uses the register.
  //   is_written: only writes count
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
  // For the load that is being examined: the registers that are written while its value may still
  // be used, with the places; and the number of examined instructions.
  std::set<std::pair<std::uint32_t, std::uint32_t>> written_;
  int looked_at_ = 0;
};

}  // namespace warpcheck::vgpu
