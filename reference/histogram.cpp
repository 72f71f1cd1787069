#include "reference/histogram.hpp"

namespace reference {

std::vector<std::uint32_t> histogram(const std::vector<std::uint8_t>& in, std::uint32_t start) {
  std::vector<std::uint32_t> counts(256, start);
  for (const std::uint8_t value : in) ++counts[value];
  return counts;
}

}  // namespace reference
