#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "harness/shrink/shrink_traits.hpp"
#include "harness/shrink/struct_shrinks.hpp"

namespace warpcheck {

bool for_each_chunk(std::size_t length, FunctionRef<bool(Chunk)> visit) {
  for (std::size_t kept = 0; kept <= kSmallMax && kept < length; ++kept) {
    if (visit({kept, length})) return true;
  }
  // Both ends at every size: if only the length matters, this suffices.
  for (std::size_t size = length / 2; size > 0; size /= 2) {
    if (length - size > kSmallMax && visit({length - size, length})) return true;
    if (visit({0, size})) return true;
  }
  for (std::size_t size = length / 2; size > 0; size /= 2) {
    for (std::size_t end = length - size; end > size; end -= size) {
      if (visit({end - size, end})) return true;
    }
  }
  return false;
}

bool for_each_smaller_extent(std::uint64_t value, FunctionRef<bool(std::uint64_t)> visit) {
  for (std::uint64_t small = 0; small <= kSmallMax && small < value; ++small) {
    if (visit(small)) return true;
  }
  for (std::uint64_t step = value / 2; step > 0; step /= 2) {
    if (value - step > kSmallMax && visit(value - step)) return true;
  }
  return false;
}

bool ShrinkTraits<std::string>::sizes(const std::string& text, Take<std::string> take) {
  return for_each_chunk(text.size(), [&](Chunk chunk) {
    return take([&] { return text.substr(0, chunk.begin) + text.substr(chunk.end); });
  });
}

bool ShrinkTraits<std::string>::values(const std::string& text, Take<std::string> take) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char simple : {'a', '0', ' '}) {
      if (text[i] == simple) break;
      const auto make = [&] {
        std::string copy = text;
        copy[i] = simple;
        return copy;
      };
      if (take(make)) return true;
    }
  }
  return false;
}

// --- floating point -----------------------------------------------------------------------------

namespace {

// value = (-1)^negative * d1.d2d3... * 10^exponent, with the fewest digits that read back.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

template <class Float>
Decimal decimal_of(Float value) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  Decimal decimal;
  if (text.starts_with('-')) {
    decimal.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') decimal.digits += c;
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  return decimal;
}

// Infinite or zero when out of range, as from_chars leaves no value then.
template <class Float>
Float value_of(const Decimal& decimal) {
  const std::string text = (decimal.negative ? "-" : "") + decimal.digits.substr(0, 1) + "." +
                           decimal.digits.substr(1) + "0e" + std::to_string(decimal.exponent);
  Float value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Up to this value every integer is a Float; above it adding 1 is lost.
template <class Float>
constexpr auto kOddIntegersEnd = static_cast<Float>(std::uint64_t{1}
                                                    << std::numeric_limits<Float>::digits);

// Whether value is an integer that decreases in steps of integers.
template <class Float>
bool is_walkable_integer(Float value) {
  return std::abs(value) <= kOddIntegersEnd<Float> && std::trunc(value) == value;
}

template <class Float>
constexpr Float kCanonicalNaN = std::numeric_limits<Float>::quiet_NaN();

enum class FloatKind { integer, finite, infinite, nan };

// Sorts by simplicity; see simpler().
template <class Float>
auto simplicity(Float value) {
  using Key = std::tuple<FloatKind, double, double, std::string, bool>;
  const bool negative = std::signbit(value);
  if (std::isnan(value)) {
    const bool payload = !identical(std::abs(value), kCanonicalNaN<Float>);
    return Key{FloatKind::nan, payload, 0, "", negative};
  }
  if (std::isinf(value)) return Key{FloatKind::infinite, 0, 0, "", negative};
  if (is_walkable_integer(value)) {
    return Key{FloatKind::integer, std::abs(value), 0, "", negative};
  }
  const Decimal decimal = decimal_of(value);
  return Key{FloatKind::finite, static_cast<double>(decimal.digits.size()),
             std::abs(decimal.exponent), decimal.digits, negative};
}

template <class Float>
void add_finite_candidates(Float value, std::vector<Float>& candidates) {
  if (std::abs(value) > kOddIntegersEnd<Float>) {
    candidates.push_back(std::copysign(kOddIntegersEnd<Float>, value));
  }
  candidates.push_back(std::trunc(value));
  const Decimal decimal = decimal_of(value);
  const int exponent = decimal.exponent;
  for (std::size_t digits = 1; digits < decimal.digits.size(); ++digits) {
    candidates.push_back(
        value_of<Float>({decimal.negative, decimal.digits.substr(0, digits), exponent}));
  }
  for (const int nearer : {exponent / 2, exponent - (exponent > 0) + (exponent < 0)}) {
    candidates.push_back(value_of<Float>({decimal.negative, decimal.digits, nearer}));
  }
  for (char digit = '1'; digit < decimal.digits.front(); ++digit) {
    candidates.push_back(value_of<Float>({decimal.negative, std::string(1, digit), exponent}));
  }
  candidates.push_back(value - std::trunc(value));  // 0.5 for 114.5
}

template <class Float>
std::vector<Float> simpler_floats_of(Float value) {
  std::vector<Float> candidates{Float{0}, Float{1}};
  if (std::isnan(value)) {
    candidates.insert(candidates.end(),
                      {std::numeric_limits<Float>::infinity(), kCanonicalNaN<Float>});
  } else if (std::isinf(value)) {
    candidates.insert(candidates.end(), {std::abs(value), std::numeric_limits<Float>::max(),
                                         std::numeric_limits<Float>::lowest()});
  } else {
    candidates.push_back(std::abs(value));
    if (is_walkable_integer(value)) {
      const auto magnitude = static_cast<std::uint64_t>(std::abs(value));
      for (std::uint64_t step = magnitude / 2; step > 0; step /= 2) {
        candidates.push_back(std::copysign(static_cast<Float>(magnitude - step), value));
      }
    } else {
      add_finite_candidates(value, candidates);
    }
  }
  std::erase_if(candidates, [value](Float candidate) { return !simpler(candidate, value); });
  return candidates;
}

template <class Float>
std::vector<Float> two_magnitudes_of(std::vector<Float> values) {
  Float largest = 0;
  for (const Float value : values) {
    if (!std::isfinite(value)) return values;
    largest = std::max(largest, std::abs(value));
  }
  if (largest <= kOddIntegersEnd<Float>) return values;
  constexpr Float kFarBelow = Float{1} / 4096;
  for (Float& value : values) {
    if (value == 0) continue;
    const bool is_small = std::abs(value) < largest * kFarBelow;
    value = std::copysign(is_small ? Float{1} : kOddIntegersEnd<Float>, value);
  }
  return values;
}

}  // namespace

bool simpler(float a, float b) { return simplicity(a) < simplicity(b); }
bool simpler(double a, double b) { return simplicity(a) < simplicity(b); }
std::vector<float> simpler_floats(float value) { return simpler_floats_of(value); }
std::vector<double> simpler_floats(double value) { return simpler_floats_of(value); }
std::vector<float> of_two_magnitudes(std::vector<float> values) {
  return two_magnitudes_of(std::move(values));
}
std::vector<double> of_two_magnitudes(std::vector<double> values) {
  return two_magnitudes_of(std::move(values));
}

// --- launches -----------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kBlockThreadsMax = 1024;  // CUDA's limit on a block

int dimensions_used(const Dim3& extents) {
  return (extents.x > 1) + (extents.y > 1) + (extents.z > 1);
}

auto simplicity(const LaunchConfig& launch) {
  return std::tuple(launch.blocks(), launch.block.count(),
                    dimensions_used(launch.grid) + dimensions_used(launch.block),
                    launch.shared_bytes);
}

class LaunchCandidates {
 public:
  explicit LaunchCandidates(const LaunchConfig& launch) : launch_(launch) {}

  void add(const LaunchConfig& candidate) {
    if (simplicity(candidate) < simplicity(launch_) &&
        std::find(found_.begin(), found_.end(), candidate) == found_.end()) {
      found_.push_back(candidate);
    }
  }

  void add_grid(const Dim3& grid) { add({grid, launch_.block, launch_.shared_bytes}); }

  // First with shared memory in proportion to the block, then unchanged.
  void add_block(const Dim3& grid, const Dim3& block) {
    const std::uint64_t threads = std::max<std::uint64_t>(launch_.block.count(), 1);
    if (launch_.shared_bytes % threads == 0) {
      const std::uint64_t shared_bytes = launch_.shared_bytes / threads * block.count();
      if (shared_bytes <= std::numeric_limits<std::uint32_t>::max()) {
        add({grid, block, static_cast<std::uint32_t>(shared_bytes)});
      }
    }
    add({grid, block, launch_.shared_bytes});
  }

  std::vector<LaunchConfig> take() { return std::move(found_); }

 private:
  LaunchConfig launch_;
  std::vector<LaunchConfig> found_;
};

// The same extents with one of them lower.
std::vector<Dim3> lower_extents(const Dim3& extents) {
  std::vector<Dim3> lower;
  for (const auto extent : {&Dim3::z, &Dim3::y, &Dim3::x}) {
    for_each_smaller_extent(extents.*extent, [&](std::uint64_t smaller) {
      Dim3 candidate = extents;
      candidate.*extent = static_cast<std::uint32_t>(smaller);
      if (smaller > 0) lower.push_back(candidate);
      return false;
    });
  }
  return lower;
}

// Fewer blocks of more threads, with as many threads in all or a few more.
std::vector<LaunchConfig> merged_blocks(const LaunchConfig& launch) {
  std::vector<LaunchConfig> merged;
  const auto add = [&](const Dim3& grid, const Dim3& block) {
    if (block.count() <= kBlockThreadsMax) merged.push_back({grid, block, launch.shared_bytes});
  };
  const Dim3& grid = launch.grid;
  const Dim3& block = launch.block;
  if (launch.threads() > kBlockThreadsMax * launch.blocks()) return merged;
  if (launch.threads() <= kBlockThreadsMax) {
    add({}, Dim3(launch.threads()));
    add({}, {grid.x * block.x, grid.y * block.y, grid.z * block.z});
  }
  for (const auto extent : {&Dim3::z, &Dim3::y, &Dim3::x}) {
    Dim3 fewer = grid;
    Dim3 larger = block;
    fewer.*extent = grid.*extent / 2 + grid.*extent % 2;
    larger.*extent = 2 * (block.*extent);
    if (grid.*extent > 1) add(fewer, larger);
  }
  return merged;
}

}  // namespace

std::vector<LaunchConfig> simpler_launches(const LaunchConfig& launch) {
  LaunchCandidates candidates(launch);
  const std::uint64_t blocks = launch.blocks();
  const std::uint64_t threads = launch.block.count();
  candidates.add({});
  candidates.add_grid({});
  for (const LaunchConfig& merged : merged_blocks(launch)) {
    candidates.add_block(merged.grid, merged.block);
  }
  if (blocks <= std::numeric_limits<std::int32_t>::max()) candidates.add_grid(Dim3(blocks));
  for (const Dim3& grid : lower_extents(launch.grid)) candidates.add_grid(grid);
  candidates.add_block(launch.grid, Dim3(threads));
  for (const Dim3& block : lower_extents(launch.block)) candidates.add_block(launch.grid, block);
  candidates.add({launch.grid, launch.block, 0});
  for (std::uint32_t step = launch.shared_bytes / 2; step > 0; step /= 2) {
    candidates.add({launch.grid, launch.block, launch.shared_bytes - step});
  }
  return candidates.take();
}

namespace {

// The usual ways to compute a launch from a number of elements.
using Relation = std::uint64_t (*)(std::uint64_t n);
constexpr Relation kBlockRelations[] = {
    [](std::uint64_t n) { return n; },
    [](std::uint64_t n) { return (n + 1) / 2; },  // two elements a thread
    [](std::uint64_t n) { return n / 2; },
    [](std::uint64_t n) { return std::bit_ceil(n); },
    [](std::uint64_t n) { return std::bit_ceil(n) / 2; },
    [](std::uint64_t n) { return (n + 31) / 32 * 32; },  // whole warps
};

std::uint32_t at_least_one(std::uint64_t n) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(n, 1));
}

std::uint32_t follow_block(std::uint32_t block, std::uint64_t from, std::uint64_t to) {
  for (const Relation relation : kBlockRelations) {
    if (block == relation(from)) return at_least_one(relation(to));
  }
  return block;
}

// Blocks of `block` threads for n elements, `each` a thread.
std::uint64_t blocks_for(std::uint64_t n, std::uint64_t block, std::uint64_t each) {
  return (n + block * each - 1) / (block * each);
}

std::uint32_t follow_grid(std::uint32_t grid, std::uint64_t from, std::uint64_t to,
                          std::uint64_t block_from, std::uint64_t block_to) {
  if (grid == 1) return 1;
  for (const std::uint64_t each : {1, 2, 4}) {
    if (block_from > 0 && grid == blocks_for(from, block_from, each)) {
      return at_least_one(blocks_for(to, block_to, each));
    }
  }
  return grid == from ? at_least_one(to) : grid;
}

}  // namespace

LaunchConfig follow(const LaunchConfig& launch, std::uint64_t from, std::uint64_t to) {
  LaunchConfig followed = launch;
  for (const auto extent : {&Dim3::x, &Dim3::y, &Dim3::z}) {
    const std::uint32_t block = launch.block.*extent;
    followed.block.*extent = follow_block(block, from, to);
    followed.grid.*extent =
        follow_grid(launch.grid.*extent, from, to, block, followed.block.*extent);
  }
  const std::uint64_t threads = launch.block.count();
  if (followed.block != launch.block && threads > 0 && launch.shared_bytes % threads == 0) {
    followed.shared_bytes =
        static_cast<std::uint32_t>(launch.shared_bytes / threads * followed.block.count());
  } else if (from > 0 && launch.shared_bytes % from == 0) {
    followed.shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes / from * to);
  }
  return followed;
}

void shrink_detail::SharedExtents::add_length(std::size_t length) {
  if (length != 0 && std::ranges::find(lengths, length) == lengths.end()) lengths.push_back(length);
}

void shrink_detail::SharedExtents::add_integer(std::uint64_t integer) {
  if (std::ranges::find(lengths, integer) != lengths.end()) return;
  if (std::ranges::find(integers, integer) == integers.end()) integers.push_back(integer);
}

template struct ShrinkTraits<std::vector<int>>;
template struct ShrinkTraits<std::vector<std::uint32_t>>;
template struct ShrinkTraits<std::vector<float>>;
template struct ShrinkTraits<std::vector<double>>;

}  // namespace warpcheck
