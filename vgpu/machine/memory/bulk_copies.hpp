// Executes bulk copies (cp.async.bulk, cp.reduce.async.bulk; PTX ISA 9.0, 9.7.9.25.4), and stores
// and reductions that an mbarrier counts (st.async, red.async).
//
// Like cp.async, they are executed when they are issued, which is one of the allowed times
// (copies.hpp).  Their accesses belong to no thread: an mbarrier, or a wait for a group of copies,
// signals that they are complete.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/blocks.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/barrier_objects.hpp"

namespace warpcheck::vgpu {

class BulkCopies {
 public:
  struct Dependencies {
    Targets& targets;
    CurrentAccess& current;
    Accesses& accesses;
    BarrierObjects& barrier_objects;
    Blocks& blocks;
  };
  BulkCopies(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch),
        targets_(dependencies.targets),
        current_(dependencies.current),
        accesses_(dependencies.accesses),
        barrier_objects_(dependencies.barrier_objects),
        blocks_(dependencies.blocks) {}

  Step copy(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  // Executes st.async or red.async.
  Step store(RunningFragment& run, const Instr& instr, std::uint32_t lanes);

  // Marks the following accesses as asynchronous.
  //   object: address of the mbarrier that counts them; none: a group of copies
  void begin_asynchronous(const RunningFragment& run, const Ref& object, unsigned lane,
                          bool async_proxy);
  // An asynchronous operation signals to an mbarrier how many bytes it has brought.
  void complete_bytes(RunningFragment& run, const Instr& instr, const Ref& object, const Ref& bytes,
                      std::uint32_t constant_bytes, unsigned lane);
  // Calls copy(instruction) for a copy to one location in shared memory.  With .multicast, calls it
  // for each block that the lane names, with the same location and the mbarrier in that block.
  template <typename Copy>
  void for_each_target(RunningFragment& run, const Instr& instr, unsigned lane, Copy copy);

 private:
  void clear(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void cancel_blocks(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void respond(RunningFragment& run, const Instr& instr, unsigned lane);
  void copy_of_lane(RunningFragment& run, const Instr& instr, unsigned lane);
  // Makes `to_one` a copy to the block of that rank.
  void name_target(RunningFragment& run, const Instr& instr, unsigned lane, unsigned rank,
                   Instr& to_one) const;

  RunningLaunch& launch_;
  Targets& targets_;
  CurrentAccess& current_;
  Accesses& accesses_;
  BarrierObjects& barrier_objects_;
  Blocks& blocks_;
};

// Returns a load, store or reduction that is a part of a bulk copy.
Instr part_of_bulk(const Instr& whole, InstrKind kind, ptx::Space space, ptx::Type type,
                   std::uint8_t elements);

template <typename Copy>
void BulkCopies::for_each_target(RunningFragment& run, const Instr& instr, unsigned lane,
                                 Copy copy) {
  const Ref& blocks = instr[BulkOperand::blocks];
  if (blocks.bank == Bank::none || instr.modifiers.cp_mask) return copy(instr);
  Instr to_one = instr;
  for (std::uint32_t ranks = word_of(run.banks, blocks, lane) & 0xffffu; ranks != 0;
       ranks &= ranks - 1) {
    name_target(run, instr, lane, static_cast<unsigned>(std::countr_zero(ranks)), to_one);
    copy(std::as_const(to_one));
  }
}

}  // namespace warpcheck::vgpu
