// Edits of an input of any type: other contents of its arrays, another launch, or other sizes.
// Numbers outside arrays do not change, except where an edit names them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "harness/input/fields.hpp"
#include "harness/input/launch_config.hpp"

namespace warpcheck {

struct InputEdit {
  enum class Data : std::uint8_t { kept, reversed, last_everywhere, zeros, ones };
  struct Shape {
    Dim3 grid, block;
  };
  // The value of a number, or the length of an array, that is a field of the input itself.
  struct Size {
    std::string_view field;
    std::uint64_t size = 0;
  };
  Data data = Data::kept;
  std::optional<Shape> launch{};  // for every launch of the input
  std::span<const Size> sizes{};
};

// Edits data and launch.
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

// An array that becomes longer repeats its elements.  False: the field cannot have that size.
template <class T>
bool set_size(std::uint64_t size, T& value) {
  if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
    if (size > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return false;
    value = static_cast<T>(size);
    return true;
  } else if constexpr (is_array_v<T> && requires { value.push_back(*value.begin()); }) {
    const std::uint64_t own = value.size();
    if (own == 0 && size != 0) return false;
    if (size < own) value.erase(value.begin() + static_cast<std::ptrdiff_t>(size), value.end());
    for (std::uint64_t i = own; i < size; ++i) value.push_back(value[i % own]);
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

// False: there is no such field, or it cannot have that size.
template <class T>
bool apply_sizes(std::span<const InputEdit::Size> sizes, T& input) {
  if constexpr (Reflected<T>) {
    return std::ranges::all_of(sizes, [&](const InputEdit::Size& wanted) {
      bool is_set = false;
      for_each_field(input, [&](std::string_view name, auto& field) {
        if (name == wanted.field) is_set = detail::set_size(wanted.size, field);
      });
      return is_set;
    });
  } else {
    return sizes.empty();
  }
}

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
