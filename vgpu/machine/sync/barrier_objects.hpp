// Executes mbarrier operations (PTX ISA 9.0, 9.7.13.15) and cp.async.mbarrier.arrive (9.7.9.25.3).
//
// The state of an mbarrier is in its 8 bytes of shared memory (barrier_token.hpp); the machine also
// counts its phases.  In the memory model, these bytes are accessed like an atomic variable; init
// and inval write them.  BarrierObject events report what an operation orders.
#pragma once

#include <cstdint>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/program/barrier_token.hpp"

namespace warpcheck::vgpu {

class BarrierObjects {
 public:
  struct Dependencies {
    Clusters& clusters;
    Targets& targets;
    CurrentAccess& current;
    Accesses& accesses;
  };
  BarrierObjects(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch),
        clusters_(dependencies.clusters),
        targets_(dependencies.targets),
        current_(dependencies.current),
        accesses_(dependencies.accesses) {}

  // Like Accesses::execute(), but only shared memory can hold mbarriers.  True: a wait is not
  // complete, and the threads that it waits for must run.
  bool execute(RunningFragment& run, const Instr& instr, std::uint32_t active);

 private:
  void announce(RunningFragment& run, const Instr& instr, const Target& target, const RowScan& scan,
                std::uint32_t mask);
  void perform(RunningFragment& run, const Instr& instr, std::uint32_t mask);
  void perform_lane(RunningFragment& run, const Instr& instr, unsigned lane, BarrierObject& event);
  void arrive(RunningFragment& run, const Instr& instr, unsigned lane, BarrierToken& token);

  RunningLaunch& launch_;
  Clusters& clusters_;
  Targets& targets_;
  CurrentAccess& current_;
  Accesses& accesses_;
  bool is_reported_ = false;  // that the object's bytes are undefined
  bool must_yield_ = false;   // the instruction waits for other threads
};

}  // namespace warpcheck::vgpu
