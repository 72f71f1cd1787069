#include "cli/kernel/assumption_notes.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "harness/kernel/kernel_conditions.hpp"

namespace warpcheck {
namespace {

std::string shown(const std::array<std::optional<Expression>, 3>& extents) {
  std::string text = extents[0]->text();
  const auto is_one = [](const std::optional<Expression>& extent) {
    return !extent || extent->text() == "1";
  };
  if (!is_one(extents[1]) || !is_one(extents[2])) {
    text += "," + (extents[1] ? extents[1]->text() : "1");
  }
  if (!is_one(extents[2])) text += "," + extents[2]->text();
  return text;
}

bool begins_with_zeros(const ArrayParameter& array, const Given& given) {
  return array.values == ValueRange{0, 0} && !given.values.contains(array.name);
}

std::string note_of_values(const ArrayParameter& array, const Given& given) {
  const std::string range = fmt::format("{}..{}", array.values->low, array.values->high);
  if (array.order == ArrayParameter::Order::distinct) {
    return fmt::format("values of {} are distinct, of {}", array.name, range);
  }
  if (array.order == ArrayParameter::Order::any) {
    return fmt::format("values of {} are {}, in any order: they decide what is accessed",
                       array.name, range);
  }
  if (given.values.contains(array.name)) {
    return fmt::format("values of {} ascend in {}", array.name, range);
  }
  return fmt::format(
      "values of {0} ascend in {1}: it has one more element than rows (--let {0}={1} gives them in "
      "any order)",
      array.name, range);
}

// How to say more than a range of indices, once.
void note_orders(Assumptions& made, const Given& given) {
  for (const ArrayParameter& array : made.kernel.arrays) {
    const bool is_any = array.values && array.order == ArrayParameter::Order::any;
    if (!is_any || begins_with_zeros(array, given)) continue;
    made.notes.push_back(
        fmt::format("some of these values are equal: --let {0}=distinct says that none are, --let "
                    "'{0}=ascending {1}..{2}' that they ascend",
                    array.name, array.values->low, array.values->high));
    return;
  }
}

std::string launch_text(const LaunchRule& launch) {
  std::string text = fmt::format("block {}, grid {}", shown(launch.block),
                                 launch.grid[0]          ? shown(launch.grid)
                                 : launch.grid_dims == 0 ? "1"
                                                         : "drawn, covering the numbers or 1..3");
  if (launch.shared_bytes.text() != "0") {
    text += fmt::format(", {} bytes of dynamic shared memory", launch.shared_bytes.text());
  }
  return text;
}

}  // namespace

void report_assumptions(Assumptions& made, const Given& given, const std::set<std::string>& free) {
  for (const ScalarParameter& scalar : made.kernel.scalars) {
    const bool follows =
        free.contains(scalar.name) && is_given_by_equation(made.kernel, scalar.name);
    if (follows) continue;  // a condition is shown
    made.scalars.push_back(
        is_integer(scalar.element)
            ? fmt::format("{} = {}..{}", scalar.name, scalar.range.low, scalar.range.high)
            : fmt::format("{}: any {}", scalar.name, name_of(scalar.element)));
  }
  made.launch = launch_text(made.kernel.launch);
  for (const ArrayParameter& array : made.kernel.arrays) {
    made.lengths.push_back(array.name + (array.is_open
                                             ? " is not known, in trials " + array.length.text()
                                             : " = " + array.length.text()));
    if (array.values && !begins_with_zeros(array, given)) {
      made.notes.push_back(note_of_values(array, given));
    }
  }
  note_orders(made, given);
  made.notes.insert(made.notes.end(), given.notes.begin(), given.notes.end());
  for (const std::string& claim : given.claims_unchecked) {
    made.notes.push_back(fmt::format("not checked: {}", claim));
  }
}

}  // namespace warpcheck
