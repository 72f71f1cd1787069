#include "harness/shrink/equal_integers.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "harness/shrink/shrink_traits.hpp"

namespace warpcheck {
namespace {

// An input with more such values consists of data that shrinks in other ways.
constexpr std::size_t kValuesMax = 32;

using Counts = std::map<std::uint64_t, std::size_t, std::greater<>>;

bool is_lowerable(const Json& value) { return value.is_number_integer() && value > 1; }

void count_integers(const Json& value, Counts& counts) {
  if (value.is_structured()) {
    for (const Json& part : value) count_integers(part, counts);
  } else if (is_lowerable(value)) {
    ++counts[value.get<std::uint64_t>()];
  }
}

Json with_lowered(const Json& value, std::uint64_t from, std::uint64_t to) {
  if (value.is_structured()) {
    Json changed = value;
    for (Json& part : changed) part = with_lowered(part, from, to);
    return changed;
  }
  return is_lowerable(value) && value.get<std::uint64_t>() == from ? Json(to) : value;
}

}  // namespace

bool for_each_lowering_of_equals(const Json& input, FunctionRef<bool(const Json&)> accept) {
  Counts counts;
  count_integers(input, counts);
  std::size_t values = 0;
  for (const auto& [value, times] : counts) {
    if (times < 2) continue;
    if (++values > kValuesMax) return false;
    const std::uint64_t from = value;
    const auto offer = [&](std::uint64_t to) { return accept(with_lowered(input, from, to)); };
    if (for_each_smaller_extent(from, offer)) return true;
  }
  return false;
}

}  // namespace warpcheck
