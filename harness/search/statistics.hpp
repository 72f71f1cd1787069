// What a search of a pair drew: the share of its cases in each class, and which classes it has to
// meet but did not.
//
// A search that never drew an empty input, or a NaN, or a block that is no multiple of 32, says
// nothing about them.  Statistics show it; required classes (pair.hpp) make it a failure.
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
    std::string name;  // "in.size: prime"; "schedule: pct" is of the policy that was drawn
    std::uint64_t cases = 0;
  };

  [[nodiscard]] const AnyPair& pair() const { return *pair_; }
  [[nodiscard]] std::uint64_t cases() const { return cases_; }
  // All that there are, drawn or not: the input's in order of its fields, the pair's own, policies.
  [[nodiscard]] const std::vector<Class>& classes() const { return classes_; }
  // Required and not drawn, in order of declaration.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  void count(const std::string& name, bool holds);

  const AnyPair* pair_;
  std::uint64_t cases_ = 0;
  std::vector<Class> classes_;
  std::map<std::string, std::size_t> places_;  // in classes_
};

// One line for each field, shares in per cent of the cases; then what was never drawn, and what
// was required of that.
[[nodiscard]] std::string statistics_text(const CaseStatistics& statistics);

// {"pair", "cases", "classes": {name: cases}, "required": [...], "required_never_drawn": [...]}
[[nodiscard]] Json statistics_json(const CaseStatistics& statistics);

}  // namespace warpcheck
