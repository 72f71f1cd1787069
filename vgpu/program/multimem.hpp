// Operations on all memories of a multicast object: multimem.ld_reduce, multimem.st, multimem.red.
// How the decoder describes one to the machine, in Instr::packed.  Source: PTX ISA 9.0, 9.7.9.14.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

enum class MultimemOp : std::uint8_t { load, store, reduce };

// The instruction's modifiers have its order, its scope, the number of registers, and the type with
// which one register is accessed.
struct Multimem {
  MultimemOp op = MultimemOp::load;
  ptx::AtomOp combines = ptx::AtomOp::none;
  // Of load: a register has one or more elements of this type; that of e4m3 is e4m3x2.
  ptx::Type element = ptx::Type::none;
  ptx::Type sum = ptx::Type::none;   // .acc::f32, .acc::f16; none: that of the elements
  std::uint32_t register_bytes = 4;  // in memory
};

constexpr std::int64_t pack(const Multimem& multimem) {
  return static_cast<std::int64_t>(multimem.op) |
         static_cast<std::int64_t>(multimem.combines) << 8 |
         static_cast<std::int64_t>(multimem.element) << 16 |
         static_cast<std::int64_t>(multimem.sum) << 24 |
         static_cast<std::int64_t>(multimem.register_bytes) << 32;
}
constexpr Multimem multimem_of(const Instr& instr) {
  const auto field = [&](unsigned shift) { return instr.packed >> shift & 0xff; };
  return {static_cast<MultimemOp>(field(0)), static_cast<ptx::AtomOp>(field(8)),
          static_cast<ptx::Type>(field(16)), static_cast<ptx::Type>(field(24)),
          static_cast<std::uint32_t>(field(32))};
}

inline bool is_multimem(const Instr& instr) { return instr.opcode == ptx::Opcode::multimem_; }
// Returns whether it writes registers.
inline bool is_multimem_load(const Instr& instr) {
  return is_multimem(instr) && multimem_of(instr).op == MultimemOp::load;
}

}  // namespace warpcheck::vgpu
