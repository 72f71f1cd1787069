#include "harness/input/input_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "harness/input/json.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kShownElements = 8;
constexpr std::size_t kShownLists = 4;  // of a list of lists
constexpr std::size_t kShownText = 40;

bool is_launch_config(const Json& json) {
  return json.is_object() && json.size() == 3 && json.contains("grid") && json.contains("block") &&
         json.contains("shared_bytes");
}

std::string show_extents(const Json& extents) {
  const auto [x, y, z] = extents.get<std::array<std::uint64_t, 3>>();
  if (y == 1 && z == 1) return fmt::format("{}", x);
  return fmt::format("({},{},{})", x, y, z);
}

std::string show_launch(const std::string& name, const Json& launch) {
  std::string text = fmt::format("{} {{grid {}, block {}", name, show_extents(launch["grid"]),
                                 show_extents(launch["block"]));
  if (const auto bytes = launch["shared_bytes"].get<std::uint64_t>(); bytes != 0) {
    text += fmt::format(", shared {}", counted(bytes, "byte"));
  }
  return text + "}";
}

bool is_name(const std::string& text) {
  const auto is_letter = [](char c) { return c == '_' || (c | 0x20) - 'a' + 0U < 26; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !is_digit(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || is_digit(c); });
}

// A number that JSON has no other way to write (json_values.hpp).
bool is_number(const std::string& text) {
  return text == "-0" || text == "inf" || text == "-inf" || text.starts_with("nan:");
}

// Names, such as those of enumerators, are not quoted; {x=1,y=2} is a struct and [1,2] a list.
std::string show_whole(const Json& value) {
  if (value.is_array()) {
    std::vector<std::string> elements;
    for (const Json& element : value) elements.push_back(show_whole(element));
    return fmt::format("[{}]", fmt::join(elements, ","));
  }
  if (value.is_object()) {
    std::vector<std::string> fields;
    for (const auto& [name, field] : value.items()) {
      fields.push_back(fmt::format("{}={}", name, show_whole(field)));
    }
    return fmt::format("{{{}}}", fmt::join(fields, ","));
  }
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  return is_name(text) || is_number(text) ? text : value.dump();
}

std::string show_value(const Json& value) {
  std::string text = show_whole(value);
  if (text.size() <= kShownText) return text;
  const auto continues_character = [](char c) { return (c & 0xc0) == 0x80; };
  std::size_t end = kShownText;
  while (end > 0 && continues_character(text[end])) --end;
  return text.substr(0, end) + "...";
}

// The most frequent element, or 0 if it is as frequent: the value of "rest".
std::string most_common(const std::vector<std::string>& elements) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& element : elements) ++counts[element];
  const auto more = [](const auto& a, const auto& b) {
    return a.second < b.second || (a.second == b.second && a.first != "0" && b.first == "0");
  };
  return std::max_element(counts.begin(), counts.end(), more)->first;
}

// "in[30]=1, rest 0", or the list itself if that is not longer.
std::string show_elements(const std::string& name, const Json& list) {
  std::vector<std::string> elements;
  for (const Json& element : list) elements.push_back(show_value(element));
  const std::string rest = most_common(elements);
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != rest) others.push_back(i);
  }
  if (others.empty()) return fmt::format("all {}={}", name, rest);
  const bool mostly_rest = others.size() <= kShownElements && 2 * others.size() <= elements.size();
  std::string text;
  if (mostly_rest) {
    for (const std::size_t i : others) text += fmt::format("{}[{}]={}, ", name, i, elements[i]);
    return text + "rest " + rest;
  }
  const std::size_t shown = std::min(elements.size(), kShownElements);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ",") + elements[i];
  if (shown < elements.size()) text += fmt::format(",... {} more", elements.size() - shown);
  return fmt::format("{}={{{}}}", name, text);
}

std::string show_list(const std::string& name, const Json& list, bool only_list) {
  std::string text =
      only_list ? fmt::format("n={}", list.size()) : fmt::format("{}: n={}", name, list.size());
  if (list.empty()) return text;
  if (!list.front().is_array()) return text + ", " + show_elements(name, list);
  const std::size_t shown = std::min(list.size(), kShownLists);
  for (std::size_t i = 0; i < shown; ++i) {
    text += "; " + show_list(fmt::format("{}[{}]", name, i), list[i], false);
  }
  if (shown < list.size()) text += fmt::format("; ... {} more", list.size() - shown);
  return text;
}

void add_flat(const std::string& path, const Json& value, Json& flat) {
  if (!value.is_object() || is_launch_config(value)) {
    flat[path] = value;
    return;
  }
  for (const auto& [name, field] : value.items()) {
    add_flat(path.empty() ? name : path + "." + name, field, flat);
  }
}

}  // namespace

Json with_flat_structs(const Json& input) {
  Json flat = Json::object();
  add_flat("", input, flat);
  return flat;
}

std::string input_summary(const Json& input) {
  const Json fields = with_flat_structs(input);
  std::size_t lists = 0;
  for (const auto& field : fields) lists += field.is_array() ? 1 : 0;
  std::vector<std::string> parts;
  for (const auto& [name, field] : fields.items()) {
    if (is_launch_config(field)) {
      parts.push_back(show_launch(name, field));
    } else if (field.is_array()) {
      parts.push_back(show_list(name, field, lists == 1));
    } else {
      parts.push_back(fmt::format("{}={}", name, show_value(field)));
    }
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace warpcheck
