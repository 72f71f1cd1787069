// What the access path asks about atomics.  Internal to vgpu/machine.
#pragma once

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Whether an atomic is several, each of which is atomic for itself: those of a vector and of a
// packed type (PTX ISA 9.0, 8.2.2, 8.2.3).
inline bool has_elements(const ptx::Modifiers& m) {
  return m.vector != 1 || m.type == ptx::Type::f16x2 || m.type == ptx::Type::bf16x2;
}

}  // namespace warpcheck::vgpu
