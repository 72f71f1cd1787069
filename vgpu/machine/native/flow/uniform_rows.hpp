// Uniform rows, which have the same value in all lanes, and ascending rows, whose values increase
// by a constant step from lane to lane, in code that all lanes of a warp execute together.  One
// vector stands for a uniform row, so it is computed once per warp; an ascending row of addresses
// needs no comparison of its lanes (Coutinho et al., Divergence Analysis and Optimizations, PACT
// 2011; Collange et al., Dynamic Detection of Uniform and Affine Vectors, 2009).
//
// The analysis goes forward over all paths.  A result is uniform if its instruction has no guard
// and all its sources are uniform: constants, parameters, numbers of the block; also a load from an
// address that is the same for all lanes.  Sums with ascending rows, and their products with
// constants, ascend.  Facts are of two kinds, which differ in what else may happen to a warp:
//
//   fixed     The value is computed only from values that cannot change while the block runs, by
//             one instruction.  A lane that has executed it has that value, in whichever order,
//             round and company it did.
//   unproven  All lanes together have computed it.  Lanes that have been apart may have executed
//             different instructions, or the same one in different rounds of a loop.  So code that
//             relies on it checks these rows where it is entered (unproven()).
//
// Within machine code for all lanes, lanes cannot part.  Where lanes meet that a branch may have
// parted, rows that were written in between are not expected to be uniform, so that such a check
// rarely fails.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/machine/native/flow/live_rows.hpp"
#include "vgpu/program/flow/register_flow.hpp"

namespace warpcheck::vgpu {

class UniformRows {
 public:
  //   in_row: %tid.x ascends from lane to lane of each warp, %tid.y and %tid.z are the same
  UniformRows(const LiveRows& live, bool in_row);

  // Moves to the instruction at `pc`; to the one after the current one.
  void move_to(std::uint32_t pc);
  void move_on();
  // Moves to no instruction: nothing is known.
  void forget() { now_.clear(); }
  // Returns whether an operand of the current instruction is uniform before it.
  [[nodiscard]] bool is_uniform(const Ref& ref) const;
  // Returns whether all results of the current instruction are uniform.
  [[nodiscard]] bool makes_uniform() const;
  // Returns the step from lane to lane of an operand of the current instruction; 0: it is uniform;
  // absent: it does not ascend.
  [[nodiscard]] std::optional<std::uint32_t> step_of(const Ref& ref) const;
  // A result of the current instruction ascends only if this source, a word that it extends to 64
  // bits, does not exceed the range of its type within the warp.
  struct Widened {
    Ref source;
    std::uint32_t step = 0;
    bool is_signed = false;
  };
  [[nodiscard]] std::optional<Widened> widened() const;
  // The rows that are read later and are uniform or ascend, but are not fixed, before the
  // instruction at `pc`.
  struct Unproven {
    Ref row;
    std::uint32_t step = 0;
  };
  [[nodiscard]] std::vector<Unproven> unproven(std::uint32_t pc);

 private:
  // What is known of a row.
  struct Fact {
    std::uint8_t form = 0;                // 0: nothing; 1: uniform; n + 2: ascends by 1 << n
    std::uint32_t fixed_by = ptx::kNone;  // the instruction that computes a fixed value
    friend bool operator==(const Fact&, const Fact&) = default;
  };
  static constexpr std::uint8_t kUniform = 1, kAscending = 2, kFormsEnd = 7;
  using Facts = std::vector<Fact>;  // by register; empty: the place has not been reached

  void solve();
  void follow_paths();
  bool join(std::uint32_t block, const Facts& from);
  [[nodiscard]] Facts before(std::uint32_t block, std::uint32_t pc) const;
  void execute(Facts& facts, std::uint32_t pc) const;
  [[nodiscard]] Fact fact_of_results(const Facts& facts, std::uint32_t pc) const;
  [[nodiscard]] Fact fact_of_special(std::uint32_t pc) const;
  using Step = std::optional<std::uint64_t>;
  [[nodiscard]] Step step(const Facts& facts, std::uint32_t pc, const Ref& ref) const;
  [[nodiscard]] Step step_of_product(const Facts& facts, std::uint32_t pc) const;
  [[nodiscard]] Step step_of_result(const Facts& facts, std::uint32_t pc) const;
  [[nodiscard]] std::optional<Widened> widened(const Facts& facts, std::uint32_t pc) const;
  bool find_joins();
  void part_at(std::uint32_t block);
  void list_rows();

  const LiveRows& live_;
  const RegisterFlow& flow_;
  const bool in_row_;
  bool is_known_ = false;
  std::vector<Facts> at_begin_;  // by block
  std::vector<bool> diverges_;   // by block: lanes may part at its end
  // By block: registers that lanes have written apart that meet there.
  std::vector<std::vector<std::uint32_t>> apart_;
  std::vector<std::vector<Ref>> rows_;  // by function
  Facts now_;
  std::uint32_t pc_ = 0;
};

}  // namespace warpcheck::vgpu
