// The classes (input_classes.hpp) that every search of a kernel over an array must draw, for
// `.required_classes = of_array<float>("in")`.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpcheck {

// Classes of a vector field: lengths of 0 and 1, around powers of two; orders; extremes of its
// element type T.  `more`: further classes by their full names.
template <class T>
std::vector<std::string> of_array(std::string_view field,
                                  std::initializer_list<std::string> more = {}) {
  const std::string name(field);
  std::vector<std::string> classes(more);
  const auto add = [&](const char* separator, std::initializer_list<const char*> names) {
    for (const char* const of : names) classes.push_back(name + separator + of);
  };
  add(".size: ", {"zero", "one", "power of two", "power of two +-1"});
  add(": ", {"constant", "sorted", "reversed"});
  if constexpr (std::is_signed_v<T>) add(": ", {"all negative"});
  if constexpr (std::is_floating_point_v<T>) {
    add(": ",
        {"contains NaN", "contains infinity", "contains negative zero", "contains subnormal"});
  } else {
    add(": ", {"contains lowest", "contains highest"});
  }
  return classes;
}

}  // namespace warpcheck
