#include "vgpu/schedule/strategies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <stdexcept>

#include "vgpu/schedule/default_policy.hpp"
#include "vgpu/schedule/pct.hpp"
#include "vgpu/schedule/random.hpp"
#include "vgpu/schedule/round_robin.hpp"

namespace warpcheck::vgpu {
namespace {

using Make = std::unique_ptr<Strategy> (*)(std::uint64_t seed, const StrategyOptions& options);

struct Row {
  std::string_view name;
  Make make;
};

constexpr std::array kRows{
    Row{"default",
        [](std::uint64_t, const StrategyOptions&) -> std::unique_ptr<Strategy> {
          return std::make_unique<DefaultPolicy>();
        }},
    Row{"round_robin",
        [](std::uint64_t seed, const StrategyOptions&) -> std::unique_ptr<Strategy> {
          return std::make_unique<RoundRobin>(1 + seed % 8, seed / 8);
        }},
    Row{"random",
        [](std::uint64_t seed, const StrategyOptions& options) -> std::unique_ptr<Strategy> {
          return std::make_unique<Random>(seed, options.accesses_per_warp);
        }},
    Row{"pct",
        [](std::uint64_t seed, const StrategyOptions& options) -> std::unique_ptr<Strategy> {
          return std::make_unique<Pct>(seed, options.pct_depth, options.accesses_per_warp);
        }},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kRows.size()> names;
  for (std::size_t i = 0; i < kRows.size(); ++i) names[i] = kRows[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> strategy_names() { return kNames; }

std::unique_ptr<Strategy> make_strategy(std::string_view name, std::uint64_t seed,
                                        const StrategyOptions& options) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.make(seed, options);
  }
  throw std::invalid_argument(
      fmt::format("no strategy '{}'; there are: {}", name, fmt::join(kNames, ", ")));
}

}  // namespace warpcheck::vgpu
