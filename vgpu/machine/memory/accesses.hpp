// Loads, stores and atomics: the lanes of one instruction, one allocation at a time.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/atomics.hpp"
#include "vgpu/machine/memory/current_access.hpp"
#include "vgpu/machine/memory/local_memory.hpp"
#include "vgpu/machine/memory/meant_objects.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class Accesses {
 public:
  struct Parts {
    Targets& targets;
    MeantObjects& meant_objects;
    CurrentAccess& current;
    Atomics& atomics;
    LocalMemory& local_memory;
    StrongWrites& strong_writes;
  };
  Accesses(RunningLaunch& launch, const Parts& parts)
      : launch_(launch),
        targets_(parts.targets),
        meant_objects_(parts.meant_objects),
        current_(parts.current),
        atomics_(parts.atomics),
        local_memory_(parts.local_memory),
        strong_writes_(parts.strong_writes) {}

  // Executes a load, store or atomic of the lanes of `active`.  Lanes that no allocation answers
  // fault and are dropped.
  void execute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // One whose lanes are all inside of `target`, at the offsets of the current access.
  void perform(RunningFragment& run, const Instr& instr, const Target& target, const RowScan& scan,
               std::uint32_t mask);
  // What lanes get whose access is dropped.
  void zero_destinations(RunningFragment& run, const Instr& instr, std::uint32_t mask);

 private:
  RunningLaunch& launch_;
  Targets& targets_;
  MeantObjects& meant_objects_;
  CurrentAccess& current_;
  Atomics& atomics_;
  LocalMemory& local_memory_;
  StrongWrites& strong_writes_;
};

}  // namespace warpcheck::vgpu
