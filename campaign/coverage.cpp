#include "campaign/coverage.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>

namespace warpcheck::campaign {
namespace {

// The bit of a counter's magnitude; it is not 0.
std::uint8_t magnitude_bit(std::uint8_t counter) {
  if (counter <= 3) return static_cast<std::uint8_t>(1u << (counter - 1));
  if (counter < 32) return static_cast<std::uint8_t>(1u << std::bit_width(counter));
  return counter < 128 ? 1u << 6 : 1u << 7;
}

}  // namespace

std::size_t Coverage::add(std::span<const std::uint8_t> counters) {
  if (counters.size() != reached_.size()) throw std::invalid_argument("Coverage: other counters");
  const std::size_t before = features_;
  // Most of the counters are 0 most of the time.
  for (std::size_t word = 0; word < counters.size(); word += sizeof(std::uint64_t)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, counters.data() + word, sizeof eight);
    if (eight == 0) continue;
    for (std::size_t i = word; i < word + sizeof eight; ++i) {
      if (counters[i] == 0) continue;
      const std::uint8_t bit = magnitude_bit(counters[i]);
      features_ += (reached_[i] & bit) == 0 ? 1 : 0;
      reached_[i] |= bit;
    }
  }
  return features_ - before;
}

}  // namespace warpcheck::campaign
