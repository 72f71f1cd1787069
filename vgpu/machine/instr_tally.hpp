// What the machine itself counts of a launch, by pc, for observers that watch tallies.
//
// Counting is a share of the work of an instruction, and a call for each would be several times
// that work.  So the machine adds up what does not depend on where lanes are: how often lanes begin
// and leave off, and rows whose cost is the same at every address.
#pragma once

#include <bit>
#include <cstdint>

#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::vgpu {

// Generated code depends on the layout.
struct InstrTally {
  // Runs, which are lanes of one warp that execute consecutive instructions: those that begin here,
  // less those that have left off before this instruction.  So an instruction is executed as often
  // as the sum up to it says.  Of all lanes of a warp, and of some; and the lanes of the latter.
  std::int64_t whole_runs = 0, part_runs = 0, part_lanes = 0;
  // Branches at which lanes part.
  std::uint64_t divergences = 0;
  // Weak loads and stores of 4 to 16 bytes a lane, by all lanes of a warp, of global or of shared
  // memory, that are not reported as rows: of adjacent lanes, which begin at a multiple of
  // kTallySector bytes or not, and of lanes at one place.  In shared memory, where the beginning
  // does not matter, all are `rows`.
  std::uint64_t rows = 0, shifted_rows = 0, uniform_rows = 0;

  void add_run(std::uint32_t lanes, std::int64_t count) {
    if (lanes == ~0u) [[likely]] {
      whole_runs += count;
      return;
    }
    part_runs += count;
    part_lanes += count * std::popcount(lanes);
  }
  [[nodiscard]] std::int64_t runs() const { return whole_runs + part_runs; }
  [[nodiscard]] std::int64_t lanes() const { return whole_runs * kWarpLanes + part_lanes; }
};

inline constexpr std::uint32_t kTallySector = 32;

}  // namespace warpcheck::vgpu
