// For tests whose programs must have the same events as machine code as when they are interpreted.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "vgpu/differential/events/same_events_testing.hpp"

namespace warpcheck::vgpu {

// Expects that all is the same both ways; returns the number of events.
inline std::size_t compare_events(const std::string& text, std::uint64_t seed,
                                  const EventShape& shape = {}) {
  const EventComparison found = events_both_ways(text, seed, shape);
  EXPECT_EQ(found.difference, "") << text.substr(0, 20) << ", seed " << seed;
  return found.events;
}

}  // namespace warpcheck::vgpu
