// Executes cp.async (PTX ISA 9.0, 9.7.9.25.3), asynchronous copies from global to shared memory;
// and discard (9.7.9.19), which makes bytes undefined.
//
// A copy is executed when it is issued, which is one of the allowed times.  Its accesses are marked
// as asynchronous: in the memory model they come after what the lane did before, and before nothing
// until the lane waits for them.
#pragma once

#include <cstdint>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class Copies {
 public:
  Copies(RunningLaunch& launch, Targets& targets, CurrentAccess& current, Accesses& accesses)
      : launch_(launch), targets_(targets), current_(current), accesses_(accesses) {}

  // Executes cp.async or discard.
  void execute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Executes operations on groups of copies: commit_group, wait_group, wait_all.
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
