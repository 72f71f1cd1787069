#include "harness/pair/any_pair.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/input/input_summary.hpp"

namespace warpcheck {

Json AnyPair::to_json(const AnyInput& input) const {
  Json json;
  write(json, input);
  return json;
}

std::string AnyPair::summary(const AnyInput& input) const { return input_summary(to_json(input)); }

const PropertyEntry* AnyPair::find_property(std::string_view name) const {
  const auto found = std::ranges::find(properties_, name, &PropertyEntry::name);
  return found == properties_.end() ? nullptr : &*found;
}

}  // namespace warpcheck
