// Locks that a program makes of atomics: found in its code when a race is explained.
//
// A lock is taken by a compare-and-swap or an exchange on whose result a branch depends, and given
// back by an atomic or a store to the same place.  Relaxed atomics, such as atomicCAS() and
// atomicExch(), order no other memory (PTX ISA 8.8), so accesses under such a lock race without a
// fence behind its taking and another before its giving back.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns what two accesses under one lock lack, as a part of a message; empty: they are not under
// one lock, or it has its fences.
std::string missing_lock_fences(const Program& program, std::uint32_t one, std::uint32_t other);

}  // namespace warpcheck::vgpu
