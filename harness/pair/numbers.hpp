// Where the numbers of an input or output are, whatever its type.
#pragma once

#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/input/fields.hpp"

namespace warpcheck {

struct NumberPlace {
  const void* at = nullptr;
  std::uint8_t bytes = 0;  // 1, 2, 4 or 8
  bool is_float = false, is_signed = true;
};

struct NumberPlaces {
  std::vector<NumberPlace> places;
  bool is_complete = true;  // there is nothing but numbers
};

// The numbers in lists; `with_others`: all numbers.
template <class T>
void find_numbers(const T& value, bool with_others, NumberPlaces& found) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (!with_others) return;
    found.places.push_back({&value, sizeof(T), std::is_floating_point_v<T>, std::is_signed_v<T>});
  } else if constexpr (std::ranges::range<const T> && !std::is_same_v<T, std::string>) {
    // The bits of a vector<bool> have no addresses.
    if constexpr (std::is_lvalue_reference_v<std::ranges::range_reference_t<const T>>) {
      for (const auto& element : value) find_numbers(element, true, found);
    } else {
      found.is_complete = false;
    }
  } else if constexpr (Reflected<T>) {
    for_each_field(value, [&]<class Member>(const char*, const Member& member) {
      find_numbers(member, with_others, found);
    });
  } else {
    found.is_complete = false;
  }
}

}  // namespace warpcheck
