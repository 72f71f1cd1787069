// An input for display: its lists element by element, with extreme values marked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/input/json_values.hpp"

namespace warpcheck {

struct InputField {
  struct Element {
    std::size_t index = 0;
    std::string value;
    std::string extreme;  // "smallest", "largest", "NaN", "infinite", ...; empty: nothing special
    friend bool operator==(const Element&, const Element&) = default;
  };
  std::string name;
  std::size_t size = 0;           // of a list
  bool is_list = false;           // false: one element
  std::vector<Element> elements;  // those shown: the first ones, and every extreme one, in order
};

// `input`: fields of an input, as its to_json() writes them.
[[nodiscard]] std::vector<InputField> input_view(const Json& input, std::size_t shown_max = 64);

}  // namespace warpcheck
