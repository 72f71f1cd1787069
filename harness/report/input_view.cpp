#include "harness/report/input_view.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "harness/input/input_summary.hpp"
#include "harness/input/json.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kTextMax = 60;  // of one value

std::string show(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kTextMax) text = text.substr(0, kTextMax) + "...";
  return text;
}

// A float is stored as the shortest decimal that rounds to it.
bool is_largest_float(double magnitude) {
  return magnitude < 2 * double{FLT_MAX} && static_cast<float>(magnitude) == FLT_MAX;
}

template <class T, class... Bounds>
bool is_one_of(T value, Bounds... bounds) {
  return ((value == static_cast<T>(bounds)) || ...);
}

// What is special about a value by itself, regardless of its neighbours.
std::string extreme_of(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.starts_with("nan:")) return "NaN";
    if (text == "inf" || text == "-inf") return "infinite";
    if (text == "-0") return "negative zero";
    return "";
  }
  if (value.is_number_float()) {
    const double magnitude = std::fabs(value.get<double>());
    if (magnitude != 0 && magnitude < double{FLT_MIN}) return "subnormal in 32 bits";
    if (magnitude == DBL_MAX || is_largest_float(magnitude)) return "largest of its type";
    return "";
  }
  if (value.is_number_integer()) {
    if (value.get<std::int64_t>() < 0 && !value.is_number_unsigned()) {
      return is_one_of(value.get<std::int64_t>(), std::numeric_limits<std::int32_t>::min(),
                       std::numeric_limits<std::int64_t>::min())
                 ? "smallest of its type"
                 : "";
    }
    return is_one_of(value.get<std::uint64_t>(), std::numeric_limits<std::int32_t>::max(),
                     std::numeric_limits<std::uint32_t>::max(),
                     std::numeric_limits<std::int64_t>::max(),
                     std::numeric_limits<std::uint64_t>::max())
               ? "largest of its type"
               : "";
  }
  return "";
}

bool less(const Json& a, const Json& b) {
  if (a.is_number_integer() && b.is_number_integer()) return a < b;
  return a.get<double>() < b.get<double>();
}

// Marks the first smallest and the first largest number, unless all are equal.
void mark_bounds(const Json& list, std::vector<std::string>& extremes) {
  std::optional<std::size_t> smallest, largest;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number()) continue;
    if (!smallest || less(list[i], list[*smallest])) smallest = i;
    if (!largest || less(list[*largest], list[i])) largest = i;
  }
  if (!smallest || !less(list[*smallest], list[*largest])) return;
  if (extremes[*smallest].empty()) extremes[*smallest] = "smallest";
  if (extremes[*largest].empty()) extremes[*largest] = "largest";
}

InputField view_of(const std::string& name, const Json& field, std::size_t shown_max) {
  InputField view{.name = name, .size = 1, .is_list = field.is_array(), .elements = {}};
  if (!view.is_list) {
    // "launch {grid 1, block 33}" without the name.
    const std::string value = field.is_object()
                                  ? input_summary(Json{{name, field}}).substr(name.size() + 1)
                                  : show(field);
    view.elements.push_back({0, value, extreme_of(field)});
    return view;
  }
  view.size = field.size();
  std::vector<std::string> extremes;
  for (const Json& element : field) extremes.push_back(extreme_of(element));
  mark_bounds(field, extremes);
  std::size_t extremes_shown = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const bool beyond = i >= shown_max;
    if (beyond && (extremes[i].empty() || ++extremes_shown > shown_max)) continue;
    view.elements.push_back({i, show(field[i]), extremes[i]});
  }
  return view;
}

}  // namespace

std::vector<InputField> input_view(const Json& input, std::size_t shown_max) {
  std::vector<InputField> fields;
  const Json flat = with_flat_structs(input);
  for (const auto& [name, field] : flat.items()) {
    fields.push_back(view_of(name, field, shown_max));
  }
  return fields;
}

}  // namespace warpcheck
