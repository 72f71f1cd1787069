// Barriers with numbers and thread counts, and arrivals that do not wait (PTX ISA 9.0, 9.7.13.1).
//
// A block has 16 barriers.  A warp arrives at a barrier when all its threads that have not exited
// have executed a barrier instruction for it, and then counts as 32 threads.  A barrier without a
// count is for all threads of the block.  It completes when as many threads have arrived as its
// count says, and can be used again immediately.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/block_barriers.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

// Implements barriers for programs that use more than barrier 0 with all threads.
class NamedBarriers {
 public:
  NamedBarriers(RunningLaunch& launch, BlockBarriers& block_barriers)
      : launch_(launch), block_barriers_(block_barriers) {}

  // Lanes of a fragment arrive.  The fragment's pc is already stored.  Lanes that name another
  // barrier or another count are left out; they arrive separately.
  void arrive(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t lanes);
  // Called after an exit.
  void recount(Slot& slot);
  // No thread of the block can continue, and all wait at barriers.  Completes misused barriers in
  // their present state; reports and releases threads at different whole-block barriers.  False:
  // the rest is a deadlock.
  bool release_stuck(Slot& slot);

 private:
  void check_use(RunningFragment& run, const Instr& instr, NamedBarrier& barrier, unsigned lane,
                 std::uint32_t count);
  void count_arrival(Slot& slot, Warp& warp, std::uint32_t number);
  [[nodiscard]] bool is_complete(const Slot& slot, const NamedBarrier& barrier) const;
  void complete(Slot& slot, std::uint32_t number);

  RunningLaunch& launch_;
  BlockBarriers& block_barriers_;
};

}  // namespace warpcheck::vgpu
