// 16-bit integers, conversions of narrow types, and parts of registers.  Internal to
// vgpu/machine/native.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/native/call_emitter.hpp"

namespace warpcheck::vgpu::native {

class NarrowEmitter : public CallEmitter {
 protected:
  explicit NarrowEmitter(EmitterState& state) : CallEmitter(state), constants_(state.constants) {}

  [[nodiscard]] static bool is_narrow(ptx::Type type);
  [[nodiscard]] static bool are_words(const Instr& instr, std::uint32_t sources);
  void extend(const x86::Vec& to, const x86::Vec& from, unsigned bits, bool is_signed);
  x86::Vec extended(const Instr& instr, const Ref& ref, std::uint32_t byte, unsigned scratch);
  void store_narrow(const Ref& ref, std::uint32_t byte);
  bool narrow(const Instr& instr);
  bool convert_narrow(const Instr& instr);
  void store_words_of(const Ref& to, const Ref& from, bool high);
  bool move_parts(const Instr& instr);
  bool permute_bytes(const Instr& instr);

 private:
  bool narrow_binary(const Instr& instr, asmjit::InstId id, bool extends);
  bool narrow_multiply(const Instr& instr);
  bool narrow_shift(const Instr& instr);
  bool narrow_unary(const Instr& instr);
  bool pack_parts(const Instr& instr, bool wide);

  const std::byte* constants_;  // the program's rows of constants
};

}  // namespace warpcheck::vgpu::native
