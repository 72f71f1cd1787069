// Atomic read-modify-write operations (PTX ISA 9.0, 9.7.13.5 atom, 9.7.13.7 red), executed lane
// after lane.
//
// An atomic on a vector or on a packed type is a separate atomic operation for each element (8.2.2,
// 8.2.3).
#pragma once

#include <cstdint>

#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class Atomics {
 public:
  Atomics(RunningLaunch& launch, CurrentAccess& current, StrongWrites& strong_writes)
      : launch_(launch), current_(current), strong_writes_(strong_writes) {}

  // Executes the atomic that has been announced.
  //   strided: its lanes are adjacent in memory
  void perform(RunningFragment& run, const Instr& instr, std::uint32_t mask, bool strided);
  // Executes an atomic of lanes whose cells nobody else can access, at `offsets` in `cells`.
  //   undefined bits: the caller's
  static void calculate(const RunningFragment& run, const Instr& instr, std::byte* cells,
                        const std::uint32_t* offsets, std::uint32_t mask);
  // Announces and executes an atomic that has elements.
  void perform_elements(RunningFragment& run, const Instr& instr, const Target& target,
                        std::uint32_t mask);

 private:
  [[nodiscard]] UndefinedRegisters::Swap guesses_of(const RunningFragment& run,
                                                    const Instr& instr) const;

  RunningLaunch& launch_;
  CurrentAccess& current_;
  StrongWrites& strong_writes_;
};

// Returns whether an atomic consists of several operations, each of which is atomic by itself.
inline bool has_elements(const ptx::Modifiers& m) {
  return m.vector != 1 || m.type == ptx::Type::f16x2 || m.type == ptx::Type::bf16x2;
}

// Returns whether local memory has this atomic.  The ISA gives atomics .global and .shared only; by
// generic addresses the hardware executes those of up to 64 bits in local memory, too, but not
// those of 128 bits, of packed types and of vectors (seen on sm_90).
inline bool exists_in_local_memory(const ptx::Modifiers& m) {
  return m.type != ptx::Type::b128 && !has_elements(m);
}

// For a compare-and-swap: returns the lanes that will find another value.
[[nodiscard]] std::uint32_t lanes_that_compare_unequal(const RunningFragment& run,
                                                       const Instr& instr, const Access& access,
                                                       std::uint32_t mask);

}  // namespace warpcheck::vgpu
