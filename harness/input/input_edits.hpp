// Edits of an input of any type: other contents of its arrays with the same lengths, or another
// launch.  Numbers outside arrays do not change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>

#include "harness/input/fields.hpp"
#include "harness/input/launch_config.hpp"

namespace warpcheck {

struct InputEdit {
  enum class Data : std::uint8_t { kept, reversed, last_everywhere, zeros, ones };
  struct Shape {
    Dim3 grid, block;
  };
  Data data = Data::kept;
  std::optional<Shape> launch{};  // for every launch of the input
};

template <class T>
void apply(const InputEdit& edit, T& value);

namespace detail {

template <class T>
inline constexpr bool is_array_v = std::ranges::range<T> && !std::is_same_v<T, std::string>;

template <class Array>
void edit_array(InputEdit::Data data, Array& array) {
  if (std::ranges::empty(array)) return;
  switch (data) {
    case InputEdit::Data::kept: return;
    case InputEdit::Data::reversed: return std::reverse(array.begin(), array.end());
    case InputEdit::Data::last_everywhere: {
      const auto last = *std::prev(array.end());
      return std::fill(array.begin(), array.end(), last);
    }
    case InputEdit::Data::zeros:
      return std::fill(array.begin(), array.end(), std::ranges::range_value_t<Array>{});
    case InputEdit::Data::ones:
      if constexpr (std::is_constructible_v<std::ranges::range_value_t<Array>, int>)
        std::fill(array.begin(), array.end(), static_cast<std::ranges::range_value_t<Array>>(1));
      return;
  }
}

}  // namespace detail

template <class T>
void apply(const InputEdit& edit, T& value) {
  if constexpr (std::is_same_v<T, LaunchConfig>) {
    if (!edit.launch) return;
    value.grid = edit.launch->grid;
    value.block = edit.launch->block;
  } else if constexpr (detail::is_array_v<T>) {
    using Element = std::ranges::range_value_t<T>;
    // Elements that may contain arrays keep the lengths of those.
    constexpr bool has_parts = Reflected<Element> && !std::is_trivially_copyable_v<Element>;
    if constexpr (detail::is_array_v<Element> || has_parts) {
      for (Element& element : value) apply(edit, element);
    } else {
      detail::edit_array(edit.data, value);
    }
  } else if constexpr (Reflected<T>) {
    for_each_field(value, [&]<class Member>(const char*, Member& member) { apply(edit, member); });
  }
}

}  // namespace warpcheck
