// Compute instructions, parameters and special registers.  Internal to vgpu/machine/native.
#pragma once

#include <cstdint>

#include "vgpu/machine/native/narrow_emitter.hpp"

namespace warpcheck::vgpu::native {

class ComputeEmitter : public NarrowEmitter {
 public:
  explicit ComputeEmitter(EmitterState& state) : NarrowEmitter(state) {}

  // Emits a compute instruction, a load of a kernel parameter, or a move from a special register;
  // results as emit().
  bool emit_any(const Instr& instr, std::uint32_t pc);
  // Emits a compute instruction that all lanes of the fragment execute.  False: there is no code
  // for its form, and nothing was emitted.
  bool emit(const Instr& instr, std::uint32_t pc);
  // Emits a guarded compute instruction for the lanes in r8d; results as emit().
  bool emit_guarded(const Instr& instr, std::uint32_t pc);

 private:
  // The width of an instruction's operands: 4-byte values in word registers, or 8-byte values in
  // wide registers. neither: no code is generated for it.
  enum class Width : std::uint8_t { neither, word, wide };
  [[nodiscard]] static Width width_of(const Instr& instr, std::uint32_t sources);

  // emit_scalars.cpp
  bool parameter(const Instr& instr);
  bool special(const Instr& instr);
  // emit_compute.cpp
  bool binary(const Instr& instr, Pair of_avx2, Pair of_avx512);
  bool multiply(const Instr& instr);
  void multiply_part(const Instr& instr, std::uint32_t byte, const x86::Vec& to);
  bool shift(const Instr& instr);
  bool minimum(const Instr& instr);
  bool negate(const Instr& instr);
  bool move(const Instr& instr);
  bool convert(const Instr& instr);
  bool logic_of_predicates(const Instr& instr);
  bool lop3(const Instr& instr);
  // emit_compare.cpp
  struct Comparison;
  bool compare(const Instr& instr);
  void compare_by_masks(const Comparison& comparison);
  void compare_by_vectors(const Comparison& comparison);
  void gather_bits(std::uint32_t first_lane);
  asmjit::Operand compared(const Comparison& comparison, const Ref& ref, std::uint32_t byte,
                           unsigned scratch);
  x86::Vec compared_vector(const Comparison& comparison, const Ref& ref, std::uint32_t byte,
                           unsigned scratch);
  bool set_predicate(const Instr& instr);
  bool select(const Instr& instr);
  bool float_arithmetic(const Instr& instr, std::uint32_t pc);
  bool double_arithmetic(const Instr& instr, std::uint32_t pc);
  void make_nan_canonical();
  bool float_sign(const Instr& instr);
  bool float_extreme(const Instr& instr);
  bool truncate_float(const Instr& instr);
};

}  // namespace warpcheck::vgpu::native
