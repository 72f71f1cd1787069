// Executes straight-line PTX for one thread with symbols.
#pragma once

#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"
#include "vgpu/symbolic/flow_graph.hpp"
#include "vgpu/symbolic/launch_symbols.hpp"
#include "vgpu/symbolic/questions.hpp"
#include "vgpu/symbolic/thread_state.hpp"

namespace warpcheck::vgpu::symbolic {

// What a thread did to memory, and with its warp.
struct Events {
  std::vector<Access> accesses;
  std::vector<WarpStep> warp_steps;
  std::vector<FailedAssertion> failed_assertions;
};

inline unsigned bits_of(ptx::Type type) {
  return type == ptx::Type::pred ? 1 : 8 * ptx::bytes_of(type);
}
// Whether registers of the type have integers of at most 64 bits.
inline bool holds_integers(ptx::Type type) {
  return type != ptx::Type::pred && !ptx::is_float(type) && !ptx::is_packed(type) &&
         ptx::bytes_of(type) > 0 && ptx::bytes_of(type) <= 8;
}

class Instructions {
 public:
  Instructions(Symbols& symbols, Questions& questions, LaunchSymbols& launch,
               const ptx::Function& kernel)
      : symbols_(symbols), questions_(questions), launch_(launch), kernel_(kernel) {}

  // Executes an instruction that is no branch and no barrier of the block.  Values that are not
  // known get symbols whose names begin with `prefix`.  Throws NotFollowed.
  void execute(std::uint32_t instruction, ThreadState& state, const std::string& prefix,
               Events* events);

  // The integer in [0, 2^bits), or [-2^(bits-1), 2^(bits-1)), that is congruent to the term.
  [[nodiscard]] z3::expr in_range(const z3::expr& term, unsigned bits, bool is_signed,
                                  const Path& path);

 private:
  struct Step {
    const ptx::Instruction& instruction;
    std::uint32_t number;
    ThreadState& state;
    const std::string& prefix;
    Events* events;
    std::uint32_t unknowns = 0;
  };

  void execute_unguarded(Step& step);
  Value compute(Step& step);
  Value integer_operation(Step& step, ptx::Type type);
  Value sum_of(Step& step, const Value& a, const Value& b, bool subtracts);
  Value multiplied(Step& step, ptx::Type type);
  Value divided(Step& step, ptx::Type type);
  Value logic(Step& step, ptx::Type type);
  Value shifted(Step& step, ptx::Type type);
  Value converted(Step& step);
  Value field(Step& step, ptx::Type type);
  void compare(Step& step);
  z3::expr compared(Step& step, const Value& a, const Value& b);
  Value load_parameter(Step& step, const ptx::Operand& address);
  void memory(Step& step);
  Value loaded_value(Step& step, const Value& base, std::int64_t offset);
  std::optional<Value> constant_at(Step& step, const Value& base, std::int64_t offset);
  std::optional<Integer> step_of(Step& step);
  void add_accesses(Step& step, const Value& base, std::int64_t offset, const Value& stored,
                    const std::optional<z3::expr>& given);
  void warp_operation(Step& step);
  bool is_mask_of_active(Step& step, const Value& mask);
  bool gives_one_value(Step& step);

  Value read(Step& step, std::size_t operand);
  Value read(Step& step, const ptx::Operand& operand);
  z3::expr integer(Step& step, std::size_t operand, ptx::Type type);
  z3::expr integer_in_range(Step& step, std::size_t operand, ptx::Type type);
  z3::expr condition(Step& step, const ptx::Operand& operand);
  void write(Step& step, const ptx::Operand& operand, const Value& value);
  z3::expr unknown(Step& step, unsigned bits, bool is_signed = false);
  // A value of the type of which nothing is known.
  Value unknown_value(Step& step, ptx::Type type);
  [[nodiscard]] bool is_known(const z3::expr& goal, const Path& path);

  Symbols& symbols_;
  Questions& questions_;
  LaunchSymbols& launch_;
  const ptx::Function& kernel_;
};

}  // namespace warpcheck::vgpu::symbolic
