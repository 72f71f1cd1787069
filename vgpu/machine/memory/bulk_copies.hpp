// Bulk copies (cp.async.bulk, cp.reduce.async.bulk; PTX ISA 9.0, 9.7.9.25.4), and stores and
// reductions that an mbarrier counts (st.async, red.async).
//
// Like cp.async, they are made when they are begun, which is one of the times at which they may be
// made (copies.hpp).  The accesses are those of no thread: an mbarrier, or a wait for a group of
// copies, tells that they are complete.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/accesses.hpp"
#include "vgpu/machine/memory/current_access.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/barrier_objects.hpp"

namespace warpcheck::vgpu {

class BulkCopies {
 public:
  struct Parts {
    Targets& targets;
    CurrentAccess& current;
    Accesses& accesses;
    BarrierObjects& barrier_objects;
  };
  BulkCopies(RunningLaunch& launch, const Parts& parts)
      : launch_(launch),
        targets_(parts.targets),
        current_(parts.current),
        accesses_(parts.accesses),
        barrier_objects_(parts.barrier_objects) {}

  Step copy(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  // st.async, red.async.
  Step store(RunningFragment& run, const Instr& instr, std::uint32_t lanes);

 private:
  void copy_of_lane(RunningFragment& run, const Instr& instr, unsigned lane);
  void begin_asynchronous(const RunningFragment& run, const Ref& object, unsigned lane,
                          bool async_proxy);
  void complete_bytes(RunningFragment& run, const Instr& instr, const Ref& object, const Ref& bytes,
                      std::uint32_t constant_bytes, unsigned lane);

  RunningLaunch& launch_;
  Targets& targets_;
  CurrentAccess& current_;
  Accesses& accesses_;
  BarrierObjects& barrier_objects_;
};

}  // namespace warpcheck::vgpu
