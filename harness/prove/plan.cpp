#include "harness/prove/plan.hpp"

#include <bit>

namespace warpcheck {
namespace {

// Whether kernels tend to break at this size: near a warp, a power of two or a block.
bool breaks_kernels(std::uint32_t size, std::uint32_t block) {
  const auto is_near = [&](std::uint32_t of) {
    return of != 0 && (size % of <= 1 || size % of == of - 1);
  };
  return size <= 8 || is_near(32) || is_near(block) || std::has_single_bit(size);
}

// Keeps at most `count` of them, evenly.
void thin(std::vector<Planned>& planned, std::uint64_t count) {
  if (planned.size() <= count) return;
  for (std::uint64_t i = 0; i < count; ++i) planned[i] = planned[i * planned.size() / count];
  planned.resize(count);
}

}  // namespace

std::vector<Planned> plan(const Points& points, std::uint32_t size_max, std::uint64_t count_max) {
  std::vector<Planned> planned, others;
  for (std::uint32_t size = 0; size <= size_max; ++size) {
    for (const std::uint32_t block : points.blocks()) {
      (breaks_kernels(size, block) ? planned : others).push_back({size, block});
    }
  }
  thin(planned, count_max);
  thin(others, count_max - planned.size());
  planned.insert(planned.end(), others.begin(), others.end());
  return planned;
}

}  // namespace warpcheck
