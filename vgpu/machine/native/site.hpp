// The parts from which the code of an access is generated.  Internal to vgpu/machine/native.
#pragma once

#include <bit>

#include "vgpu/machine/native/call_emitter.hpp"

namespace warpcheck::vgpu::native {

// The properties of an access that do not depend on its lanes.
struct Site {
  const Instr& instr;
  std::uint32_t pc;
  Counted rest;
  std::uint32_t bytes, count;  // of an element; elements of a vector
  bool wide_address;
  bool is_load;
  asmjit::Label slow, done;

  [[nodiscard]] std::uint32_t lane_bytes() const { return bytes * count; }
  [[nodiscard]] std::size_t log2() const {
    return static_cast<std::size_t>(std::countr_zero(lane_bytes()));
  }
  [[nodiscard]] const Ref& address() const { return instr[MemoryOperand::address]; }
  [[nodiscard]] const Ref& value(std::uint32_t element = 0) const {
    return instr[MemoryOperand::value + element];
  }
  [[nodiscard]] x86::Mem field(std::size_t offset) const { return of(pc, offset); }
  // The same field of the access at another pc.
  [[nodiscard]] static x86::Mem of(std::uint32_t its_pc, std::size_t offset) {
    return x86::Mem(x86::rdx, static_cast<std::int32_t>(its_pc * sizeof(AccessSite) + offset), 8);
  }
};

}  // namespace warpcheck::vgpu::native
