// Sequential sorts, obviously right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

// Ascending: binary least-significant-digit radix sort (Knuth, "The Art of Computer Programming",
// volume 3, 5.2.5), one stable partition for each bit.
std::vector<std::uint32_t> radix_sort(std::vector<std::uint32_t> keys);
std::vector<std::int32_t> radix_sort(const std::vector<std::int32_t>& keys);
// The total order of IEEE 754 (5.10): negative NaNs, -infinity ... -0, +0 ... infinity, NaNs.
std::vector<float> radix_sort(const std::vector<float>& keys);

struct KeysAndValues {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> values;
  friend bool operator==(const KeysAndValues&, const KeysAndValues&) = default;
};

// Keys in ascending order, each with its value; values of equal keys stay in their order.
// Precondition: as many values as keys.
KeysAndValues radix_sort_by_key(const KeysAndValues& input);

// Elements l, l + lists, l + 2 * lists, ... sorted, for each l < lists.  Precondition: lists > 0.
std::vector<std::uint32_t> radix_sort_lists(std::vector<std::uint32_t> keys, std::size_t lists);

}  // namespace reference
