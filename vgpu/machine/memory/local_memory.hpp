// Accesses to local memory.
//
// Local memory is interleaved: the 4-byte words of the lanes are adjacent, so lanes with the same
// offset access one row.  Wider accesses are announced and moved word by word.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/memory/atomics.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class LocalMemory {
 public:
  LocalMemory(RunningLaunch& launch, CurrentAccess& current, Atomics& atomics)
      : launch_(launch), current_(current), atomics_(atomics) {}

  // Executes the access at the lanes' offsets in the current access.
  //   is_uniform: they are equal
  void perform(RunningFragment& run, const Instr& instr, const Target& target, bool is_uniform,
               std::uint32_t mask);

 private:
  using Places = std::array<std::uint32_t, kWarpLanes>;
  // Executes an atomic of 64 bits.
  void perform_wide_atomic(RunningFragment& run, const Instr& instr, const Target& target,
                           std::uint32_t mask);
  void report(RunningFragment& run, const Instr& instr, const RowAccess& row,
              const CurrentAccess::Elements& elements);
  void move(RunningFragment& run, const Instr& instr, const RowAccess& row,
            const CurrentAccess::Elements& elements);
  void give_undefined_word(RunningFragment& run, const Instr& instr, const Ref& ref,
                           std::uint32_t half, std::uint32_t mask);

  RunningLaunch& launch_;
  CurrentAccess& current_;
  Atomics& atomics_;
};

}  // namespace warpcheck::vgpu
