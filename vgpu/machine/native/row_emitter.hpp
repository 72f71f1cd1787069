// Rows of operands and results, in vector registers or in memory.  Internal to vgpu/machine/native.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/machine/native/register_emitter.hpp"

namespace warpcheck::vgpu::native {

class RowEmitter : public RegisterEmitter {
 public:
  explicit RowEmitter(EmitterState& state)
      : RegisterEmitter(state),
        rows_(state.rows),
        uniform_(state.uniform),
        guarded_(state.guarded) {}

  // Between begin_block() and end_block(), each instruction of the block is begun and ended.
  void begin_block(std::uint32_t begin, std::uint32_t end) {
    if (rows_) rows_->begin_block(end);
    if (uniform_) uniform_->move_to(begin);
  }
  // Code that is emitted later, apart from its instruction, finds all rows in memory, and knows
  // nothing of them.
  void end_block() {
    if (rows_) rows_->begin_block(0);
    if (uniform_) uniform_->forget();
  }
  void begin_instruction(std::uint32_t pc) {
    if (rows_) rows_->begin_instruction(pc);
  }
  void end_instruction() {
    if (rows_) rows_->end_instruction();
    if (uniform_) uniform_->move_on();
  }
  // Returns whether an operand of the current instruction is the same for all lanes.
  [[nodiscard]] bool is_uniform(const Ref& ref) const {
    return uniform_ && uniform_->is_uniform(ref);
  }
  // Returns whether an operand of the current instruction ascends from lane to lane by `step`.
  [[nodiscard]] bool ascends(const Ref& ref, std::uint32_t step) const {
    return uniform_ && uniform_->step_of(ref) == step;
  }
  [[nodiscard]] std::vector<UniformRows::Unproven> unproven(std::uint32_t pc) {
    return uniform_ ? uniform_->unproven(pc) : std::vector<UniformRows::Unproven>{};
  }
  void check_unproven(const UniformRows::Unproven& unproven, asmjit::Label otherwise);
  // Calls emit(), which emits the computation of the current instruction's results; once for all
  // lanes if the results are the same for all.
  template <class Emit>
  bool emit_results(Emit emit) {
    once_ = uniform_ && uniform_->makes_uniform();
    const bool is_emitted = emit();
    once_ = false;
    return is_emitted;
  }
  // Called where code paths with different actions join: afterwards all rows are in memory, and
  // results of the instruction go to memory too.
  void put_rows_away();
  //   returns: the argument for end_one()
  std::uint32_t put_rows_away_for_one(std::uint32_t pc) {
    put_rows_away();
    return rows_ ? std::exchange(rows_->state.end, pc + 1) : 0;
  }
  void end_one(std::uint32_t end) {
    if (rows_) rows_->state.end = end;
  }

 protected:
  [[nodiscard]] asmjit::Operand part(const Ref& ref, std::uint32_t byte) const;
  [[nodiscard]] asmjit::Operand half_part(const Ref& ref, std::uint32_t byte, unsigned scratch);
  [[nodiscard]] asmjit::Operand first_lane(const Ref& ref, bool wide) const;
  [[nodiscard]] x86::Vec source(const Ref& ref, std::uint32_t byte, unsigned scratch);
  [[nodiscard]] x86::Vec result(const Ref& ref, std::uint32_t byte, unsigned scratch);
  void check_row(const Ref& ref, bool wide, std::uint32_t step, asmjit::Label otherwise);
  bool keep_constant(const Ref& ref, const Ref& constant);
  // Stores a part of a result row for the lanes that run.
  void store_row(const Ref& ref, std::uint32_t byte, bool wide, const x86::Vec& from);
  // Stores the lower half of a vector to a row of words.
  void store_half_row(const Ref& ref, std::uint32_t byte, const x86::Vec& from);
  void store_predicate(const Ref& ref, const x86::Gp& bits);
  void store_cached(const CachedRow& cached);
  void store_rows();
  void load_sources();
  void load_results();
  void give_up_rows();
  // Like later(), for code that begins or ends in the middle of this instruction's code.
  void later_with_rows(std::function<void()> emit);

  std::optional<RowCache>& rows_;  // EmitterState
  std::optional<UniformRows>& uniform_;
  bool& guarded_;

 private:
  RowPlan plan(const Ref& ref);
  void store_guarded(const Ref& ref, std::uint32_t byte, bool wide, const x86::Vec& from);
  void store_parts(const Ref& ref, const x86::Vec& from);
  void load_cached(const CachedRow& cached);
};

}  // namespace warpcheck::vgpu::native
