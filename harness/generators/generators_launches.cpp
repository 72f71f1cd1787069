#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/generators/generators.hpp"

namespace warpcheck {

namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

int dimensions(const Dim3& extents) { return extents.z > 1 ? 3 : extents.y > 1 ? 2 : 1; }
int dimensions(const LaunchConfig& launch) {
  return std::max(dimensions(launch.grid), dimensions(launch.block));
}

class LaunchesCovering {
 public:
  LaunchesCovering(std::int64_t n, const LaunchOptions& options)
      : n_(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))),
        options_(options),
        block_min_(
            std::clamp<std::uint64_t>(ceil_div(n_, options.blocks_max), 1, options.block_max)) {}

  LaunchConfig sample(Draw& draw) const {
    const std::uint64_t block = integers_detail::leaning<std::uint64_t>(
        draw, block_min_, options_.block_max, simplest_block(), [&] { return threads(draw); });
    // With probability 1/8, blocks without work.
    const std::uint64_t idle_blocks = draw.once_in(8) ? 1 + draw.below(3) : 0;
    const auto dims = 1 + draw.below(static_cast<std::uint64_t>(options_.dims_max));
    if (dims == 1) return {Dim3(ceil_div(n_, block) + idle_blocks), Dim3(block), 0};
    return folded(draw, block, idle_blocks, dims);
  }

 private:
  // As many threads as elements, if one block can hold them.
  std::uint64_t simplest_block() const { return std::min<std::uint64_t>(n_, options_.block_max); }

  // Threads of a block.
  std::uint64_t threads(Draw& draw) const {
    switch (draw.below(8)) {
      case 0: return simplest_block();
      case 1: return simplest_block() + draw.below(options_.block_max - simplest_block() + 1);
      case 2: return dividing(draw);
      case 3: return block_min_;
      case 4: return options_.block_max;
      case 5:  // whole warps, as in most programs
        return std::clamp<std::uint64_t>(32 << draw.below(6), block_min_, options_.block_max);
      default: return std::max<std::uint64_t>(blocks(options_.block_max).sample(draw), block_min_);
    }
  }

  // A number of threads that divides n, so that no thread is idle.
  std::uint64_t dividing(Draw& draw) const {
    std::uint64_t block = block_min_ + draw.below(options_.block_max - block_min_ + 1);
    while (block > block_min_ && n_ % block != 0) --block;
    return block;
  }

  // About as many threads, but in more dimensions.
  LaunchConfig folded(Draw& draw, std::uint64_t block, std::uint64_t idle_blocks,
                      std::uint64_t dims) const {
    const auto fold = [&](std::uint64_t count, bool round_up) {
      const std::uint64_t y = std::min<std::uint64_t>(count, 1 + draw.below(8));
      const std::uint64_t z = dims > 2 ? std::min<std::uint64_t>(count / y, 1 + draw.below(4)) : 1;
      const std::uint64_t x = round_up ? ceil_div(count, y * z) : count / (y * z);
      return Dim3(x, y, z);
    };
    const Dim3 folded_block = fold(block, false);
    return {fold(ceil_div(n_, folded_block.count()) + idle_blocks, true), folded_block, 0};
  }

  std::uint64_t n_;
  LaunchOptions options_;
  std::uint64_t block_min_;
};

std::vector<ValueClass<LaunchConfig>> launch_classes(std::int64_t n, const LaunchOptions& options) {
  std::vector<ValueClass<LaunchConfig>> classes;
  const auto add = [&](bool admitted, std::string name, auto contains) {
    if (admitted) classes.push_back({std::move(name), contains});
  };
  const auto elements = static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0));
  const bool one_block_suffices = elements <= options.block_max;
  const bool one_thread_suffices = elements <= options.blocks_max;
  using Launch = LaunchConfig;
  add(one_block_suffices, "one block", [](const Launch& l) { return l.blocks() == 1; });
  add(true, "several blocks", [](const Launch& l) { return l.blocks() > 1; });
  add(n > 0 && one_block_suffices, "as many threads as elements",
      [=](const Launch& l) { return l.threads() == elements; });
  add(true, "idle threads", [=](const Launch& l) { return l.threads() > elements; });
  add(true, "idle blocks",
      [=](const Launch& l) { return l.threads() >= elements + l.block.count(); });
  add(one_thread_suffices, "block of one thread",
      [](const Launch& l) { return l.block.count() == 1; });
  add(true, "largest block", [=](const Launch& l) { return l.block.count() == options.block_max; });
  add(options.block_max > 1, "block not a multiple of 32",
      [](const Launch& l) { return l.block.count() % 32 != 0; });
  add(options.dims_max > 1, "two dimensions", [](const Launch& l) { return dimensions(l) == 2; });
  add(options.dims_max > 2, "three dimensions", [](const Launch& l) { return dimensions(l) == 3; });
  return classes;
}

}  // namespace

Gen<LaunchConfig> launches_covering(std::int64_t n, LaunchOptions options) {
  if (options.block_max == 0 || options.blocks_max == 0 || options.dims_max < 1 ||
      options.dims_max > 3) {
    throw std::invalid_argument(
        "launches_covering: expected block_max and blocks_max above 0 and dims_max of 1, 2 or 3");
  }
  const LaunchesCovering launches(n, options);
  const Gen<LaunchConfig> gen = [launches](Draw& draw) { return launches.sample(draw); };
  const auto domain = [=](const LaunchConfig& launch) {
    return covers(launch, n) && launch.block.count() <= options.block_max &&
           dimensions(launch) <= options.dims_max;
  };
  return gen.within(domain).with_classes(launch_classes(n, options));
}

}  // namespace warpcheck
