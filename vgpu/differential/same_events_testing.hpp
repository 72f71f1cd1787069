// Compares the events of a program that is interpreted and that runs as machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpcheck::vgpu {

// Runs a program both ways, under several schedules, and expects that all is the same; returns the
// number of events.
//   row: threads of a row of the block; 0: it is one row
std::size_t compare_events(const std::string& text, std::uint64_t seed, std::uint32_t blocks = 1,
                           std::uint32_t launches = 1, std::uint32_t row = 0);

}  // namespace warpcheck::vgpu
