// The cases that a search of a pair drew: the share of cases in each class, and the required
// classes that never occurred.
//
// A search that never drew an empty input, or a NaN, or a block that is no multiple of 32, says
// nothing about them.  Statistics show this; for required classes (pair.hpp) it is a failure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/input/json_values.hpp"

namespace warpcheck {

class CaseStatistics {
 public:
  explicit CaseStatistics(const AnyPair& pair);

  void add(const Case& a_case);

  struct Class {
    std::string name;  // "in.size: prime"; "schedule: pct" is of the strategy that was drawn
    std::uint64_t cases = 0;
  };

  [[nodiscard]] const AnyPair& pair() const { return *pair_; }
  [[nodiscard]] std::uint64_t cases() const { return cases_; }
  // All classes, drawn or not: the input's in order of its fields, the pair's own, strategies.
  [[nodiscard]] const std::vector<Class>& classes() const { return classes_; }
  // Required and not drawn, in order of declaration.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  void count(const std::string& name, bool holds);

  const AnyPair* pair_;
  std::uint64_t cases_ = 0;
  std::vector<Class> classes_;
  std::map<std::string, std::size_t> places_;  // indices into classes_
};

// One line for each field, shares as percentages of the cases; then the classes that were never
// drawn, and the required ones among them.
[[nodiscard]] std::string statistics_text(const CaseStatistics& statistics);

// {"pair", "cases", "classes": {name: cases}, "required": [...], "required_never_drawn": [...]}
[[nodiscard]] Json statistics_json(const CaseStatistics& statistics);

}  // namespace warpcheck
