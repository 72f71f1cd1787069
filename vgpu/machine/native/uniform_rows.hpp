// Uniform rows: rows that have the same value in all lanes, in code that all lanes of a warp
// execute together.  One vector stands for such a row, so it is computed once per warp
// (scalarisation: Coutinho et al., Divergence Analysis and Optimizations, PACT 2011).
//
// The analysis goes forward over all paths.  A result is uniform if its instruction has no guard
// and all its sources are uniform: constants, parameters, numbers of the block; also a load from an
// address that is the same for all lanes.  Two kinds of facts differ in what else may happen to a
// warp:
//
//   fixed    The value is computed only from values that cannot change while the block runs, by one
//            instruction.  A lane that has executed it has that value, in whichever order, round
//            and company it did.
//   uniform  All lanes together have computed it.  Lanes that have been apart may have executed
//            different instructions, or the same one in different rounds of a loop.  So code that
//            relies on it checks these rows where it is entered (unproven()).
//
// Within machine code for all lanes, lanes cannot part.  Where lanes meet that a branch may have
// parted, rows that were written in between are not expected to be uniform, so that such a check
// rarely fails.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/native/live_rows.hpp"
#include "vgpu/program/flow/register_flow.hpp"

namespace warpcheck::vgpu {

class UniformRows {
 public:
  explicit UniformRows(const LiveRows& live);

  // Moves to the instruction at `pc`; to the one after the current one.
  void move_to(std::uint32_t pc);
  void move_on();
  // Returns whether an operand of the current instruction is uniform before it.
  [[nodiscard]] bool is_uniform(const Ref& ref) const;
  // Returns whether all results of the current instruction are uniform.
  [[nodiscard]] bool makes_uniform() const;
  // Returns the rows that are read later and are uniform, but not fixed, before the instruction at
  // `pc`.
  [[nodiscard]] std::vector<Ref> unproven(std::uint32_t pc);

 private:
  // By register: kVarying, kUniform, or the number of the instruction that computes a fixed value,
  // plus kFixed.  Empty: the place has not been reached.
  using Facts = std::vector<std::uint32_t>;
  static constexpr std::uint32_t kVarying = 0, kUniform = 1, kFixed = 2;

  void solve();
  void follow_paths();
  bool join(std::uint32_t block, const Facts& from);
  [[nodiscard]] Facts before(std::uint32_t block, std::uint32_t pc) const;
  void execute(Facts& facts, std::uint32_t pc) const;
  [[nodiscard]] std::uint32_t fact_of_results(const Facts& facts, std::uint32_t pc) const;
  bool find_joins();
  void part_at(std::uint32_t block);
  void list_rows();

  const LiveRows& live_;
  const RegisterFlow& flow_;
  bool is_known_ = false;
  std::vector<Facts> at_begin_;  // by block
  std::vector<bool> parts_;      // by block: lanes may part at its end
  // By block: registers that lanes have written apart that meet there.
  std::vector<std::vector<std::uint32_t>> apart_;
  std::vector<std::vector<Ref>> rows_;  // by function
  Facts now_;
  std::uint32_t pc_ = 0;
};

}  // namespace warpcheck::vgpu
