// The memory that the lanes of one access touch.
#pragma once

#include <cstdint>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

// The target of lanes whose bytes are in the same allocation.
struct Target {
  Allocation* allocation = nullptr;  // null: no memory is there
  ptx::Space space = ptx::Space::generic;
  std::uint64_t base = 0;   // subtracted from the addresses
  std::uint32_t limit = 0;  // end of the bytes that may be touched
  std::uint32_t begin = 0;
};

inline AccessKind access_kind_of(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load: return AccessKind::read;
    case InstrKind::store: return AccessKind::write;
    default: return AccessKind::atomic;
  }
}

}  // namespace warpcheck::vgpu
