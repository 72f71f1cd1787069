// The strategies by name.  Adding one costs a file, a row in strategies.cpp, and a test.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

struct StrategyOptions {
  std::uint64_t accesses_per_warp = 64;  // a guess: how far apart decisions may lie
  unsigned pct_depth = 0;                // 0: drawn for every launch
};

// "default", "round_robin", "random", "pct".  (A replay is made from its Schedule: replay.hpp.)
std::span<const std::string_view> strategy_names();

// Throws std::invalid_argument, listing the names, when there is no such strategy.
std::unique_ptr<Strategy> make_strategy(std::string_view name, std::uint64_t seed,
                                        const StrategyOptions& options = {});

}  // namespace warpcheck::vgpu
