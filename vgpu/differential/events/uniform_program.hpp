// Random PTX programs most of whose values are the same for all lanes, or ascend from lane to lane,
// so far as lanes stay together: some registers also get values that differ, under guards, in
// branches and loops that lanes leave at different times, and from calls.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/differential/events/same_events_testing.hpp"

namespace warpcheck::vgpu {

// Returns the text of the program with this seed; in the form of random_program().
std::string uniform_program(std::uint64_t seed);

// Two blocks, whose rows have another length with each seed.
EventShape uniform_shape(const std::string& text, std::uint64_t seed);

}  // namespace warpcheck::vgpu
