#include "vgpu/cudart/launch/sparse_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace warpcheck::cudart {
namespace {

// Pitches and sizes beyond this make products of 32 bits wrap in the first blocks already.
constexpr std::uint64_t kFactorMax = std::uint64_t{1} << 34;
constexpr std::size_t kFactorsMax = 16;
constexpr unsigned kPowerMax = 40;           // 2^40 bytes is more than a device has
constexpr unsigned kPowerOfProductMin = 24;  // of products with a factor: 2^31 bytes and beyond
constexpr std::size_t kPerDimension = 400;

// The numbers below `count` around which number * unit passes a power of two.
void add_crossings(std::uint64_t count, std::uint64_t unit, unsigned lowest,
                   std::set<std::uint64_t>& numbers) {
  for (unsigned power = lowest; power <= kPowerMax; ++power) {
    const std::uint64_t at = (std::uint64_t{1} << power) / unit;
    for (std::uint64_t number = at == 0 ? 0 : at - 1; number <= at + 1; ++number) {
      if (number < count) numbers.insert(number);
    }
  }
}

std::vector<std::uint64_t> numbers_of(std::uint64_t count, std::uint64_t threads,
                                      const std::vector<std::uint64_t>& factors) {
  std::set<std::uint64_t> numbers{0, count - 1};
  if (count > 1) numbers.insert({1, count - 2});
  add_crossings(count, threads, 0, numbers);
  for (const std::uint64_t factor : factors) {
    if (numbers.size() > kPerDimension) break;
    add_crossings(count, factor, kPowerOfProductMin, numbers);
    add_crossings(count, threads * factor, kPowerOfProductMin, numbers);
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace

std::vector<std::uint64_t> possible_factors(std::span<const vgpu::Parameter> layout,
                                            std::span<const std::byte> parameters) {
  std::set<std::uint64_t> factors;
  const auto add = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameters.data() + at, bytes);
    if (value > 1 && value < kFactorMax) factors.insert(value);
  };
  for (const vgpu::Parameter& one : layout) {
    const std::size_t end = std::min<std::size_t>(one.offset + one.bytes, parameters.size());
    // A number of 64 bits, or an address, has no halves; a struct has members of either size.
    const bool is_one_number = one.bytes == 8 && one.alignment == 8;
    for (std::size_t at = one.offset; at + 4 <= end; at += 4) {
      if (!is_one_number) add(at, 4);
      if (at % 8 == 0 && at + 8 <= end) add(at, 8);
    }
  }
  std::vector<std::uint64_t> few(factors.begin(), factors.end());
  if (few.size() > kFactorsMax) few.resize(kFactorsMax);
  return few;
}

std::vector<std::uint32_t> sparse_blocks(const Dim3& grid, const Dim3& block,
                                         const std::vector<std::uint64_t>& factors) {
  std::set<std::uint32_t> blocks;
  // Along each dimension, at both ends of the others.
  const auto add_line = [&](std::uint32_t Dim3::*dimension) {
    for (const std::uint64_t number : numbers_of(grid.*dimension, block.*dimension, factors)) {
      for (const bool is_end : {false, true}) {
        Dim3 at{0, 0, 0};
        if (is_end) at = Dim3(grid.x - 1, grid.y - 1, grid.z - 1);
        at.*dimension = static_cast<std::uint32_t>(number);
        blocks.insert(grid.linear(at));
      }
    }
  };
  add_line(&Dim3::x);
  add_line(&Dim3::y);
  add_line(&Dim3::z);
  // And by the number of the block in the grid.
  for (const std::uint64_t number : numbers_of(grid.count(), block.count(), {})) {
    blocks.insert(static_cast<std::uint32_t>(number));
  }
  return {blocks.begin(), blocks.end()};
}

}  // namespace warpcheck::cudart
