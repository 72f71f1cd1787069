// The finding that is made of a race, whichever engine has found it.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/check/race/race_weight.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

// One of two accesses, by its instruction.
struct RacingAccess {
  std::uint32_t pc = 0;
  AccessKind kind{};
};

// What two accesses lack, and in words.
struct RaceExplanation {
  Lack lack = Lack::unknown;
  std::string message;
};

// Returns the same key for either order of the two accesses.
//   more: bits 10 and above: what else tells races apart
Reporter::Key key_of_race(const Program& program, RacingAccess earlier, RacingAccess later,
                          Weight weight, std::uint32_t more = 0);

// Makes the finding of a race between `earlier` and a lane of `access`.
Finding race_finding(const Reporter& reporter, const Access& access, unsigned lane, Weight weight,
                     AccessSide earlier, const RaceExplanation& explanation);

}  // namespace warpcheck::vgpu
