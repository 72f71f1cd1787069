// cp.async (PTX ISA 9.0, 9.7.9.25.3): copies from global to shared memory that nobody waits for;
// and discard (9.7.9.19), which leaves bytes undefined.
//
// A copy is made when it is begun, which is one of the times at which it may be made.  Its accesses
// are marked as asynchronous: to the memory model they come after what the lane did before, and
// before nothing until the lane waits for them.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/accesses.hpp"
#include "vgpu/machine/memory/current_access.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class Copies {
 public:
  Copies(RunningLaunch& launch, Targets& targets, CurrentAccess& current, Accesses& accesses)
      : launch_(launch), targets_(targets), current_(current), accesses_(accesses) {}

  // cp.async, or discard.
  void execute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Groups of copies: commit_group, wait_group, wait_all.
  void commit_or_wait(const RunningFragment& run, const Instr& instr, std::uint32_t active) const;

 private:
  void fetch(RunningFragment& run, const Instr& instr, std::uint32_t bytes, std::uint32_t lanes);
  void put_byte(RunningFragment& run, const Ref& from, const Ref& to, std::uint32_t position,
                std::uint32_t lanes);
  void discard(RunningFragment& run, const Instr& instr, std::uint32_t active);

  RunningLaunch& launch_;
  Targets& targets_;
  CurrentAccess& current_;
  Accesses& accesses_;
};

}  // namespace warpcheck::vgpu
