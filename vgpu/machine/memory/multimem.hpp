// Executes multimem.ld_reduce, multimem.st and multimem.red (PTX ISA 9.0, 9.7.9.14): one load,
// store or reduction of each register in each memory of a multicast object, in the order of its
// devices.
//
// Each is an access of the lane, with the order and the scope of the instruction, so races, bounds
// and unwritten bytes are found in every memory.  An address of no multicast object is a trap: the
// ISA leaves undefined what happens.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/program/multimem.hpp"

namespace warpcheck::vgpu {

class MultimemAccesses {
 public:
  MultimemAccesses(RunningLaunch& launch, Targets& targets, Accesses& accesses)
      : launch_(launch), targets_(targets), accesses_(accesses) {}

  Step execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes);

 private:
  // Returns the addresses, in all memories, of what an address of a multicast object names.
  [[nodiscard]] std::vector<std::uint64_t> places_of(std::uint64_t address) const;
  // Loads, stores or reduces all registers in one memory.
  void access(RunningFragment& run, const Instr& instr, std::uint64_t place, unsigned lane);
  void load(RunningFragment& run, const Instr& instr, const std::vector<std::uint64_t>& places,
            unsigned lane);

  RunningLaunch& launch_;
  Targets& targets_;
  Accesses& accesses_;
};

// Returns what multimem.ld_reduce makes of the values that one register has in all memories.
std::uint64_t combined(const Multimem& multimem, const std::vector<std::uint64_t>& all);

}  // namespace warpcheck::vgpu
