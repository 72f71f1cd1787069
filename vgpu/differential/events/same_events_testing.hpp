// Compares the events of a program that is interpreted and that runs as machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpcheck::vgpu {

struct EventShape {
  std::uint32_t blocks = 1;
  std::uint32_t launches = 1;
  std::uint32_t row = 0;  // threads of a row of the block; 0: it is one row
};

struct EventComparison {
  std::size_t events = 0;
  std::string difference;  // under which schedule, and what differs; empty: nothing
};

// Runs a program both ways, under several schedules, with each instruction set of the host; stops
// at the first difference: of events, results, steps or decisions.
//   seed: of the schedules
EventComparison events_both_ways(const std::string& text, std::uint64_t seed,
                                 const EventShape& shape = {});

}  // namespace warpcheck::vgpu
