// Atomic read-modify-write (PTX ISA 9.0, 9.7.13.5 atom, 9.7.13.7 red): lane after lane.
//
// Those of vectors and of packed types are as many as they have elements, each atomic by itself
// (8.2.2, 8.2.3).
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/current_access.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class Atomics {
 public:
  Atomics(RunningLaunch& launch, CurrentAccess& current, StrongWrites& strong_writes)
      : launch_(launch), current_(current), strong_writes_(strong_writes) {}

  // The atomic that has been announced.
  //   strided: its lanes lie side by side
  void perform(RunningFragment& run, const Instr& instr, std::uint32_t mask, bool strided);
  // One that has elements: announces and performs them.
  void perform_elements(RunningFragment& run, const Instr& instr, const Target& target,
                        std::uint32_t mask);

 private:
  RunningLaunch& launch_;
  CurrentAccess& current_;
  StrongWrites& strong_writes_;
};

// Whether an atomic is several, each of which is atomic for itself.
inline bool has_elements(const ptx::Modifiers& m) {
  return m.vector != 1 || m.type == ptx::Type::f16x2 || m.type == ptx::Type::bf16x2;
}

// Of a compare-and-swap: the lanes that will find another value.
[[nodiscard]] std::uint32_t lanes_that_compare_unequal(const RunningFragment& run,
                                                       const Instr& instr, const Access& access,
                                                       std::uint32_t mask);

}  // namespace warpcheck::vgpu
