// What a pair answers that nobody has declared: there is no reference, so no result is compared,
// no finding is expected, and no class of inputs is counted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/pair/any_pair.hpp"

namespace warpcheck {

class PairWithoutReference : public AnyPair {
 public:
  using AnyPair::AnyPair;

  [[nodiscard]] const std::vector<std::string>& declared_expectations() const final {
    return no_names_;
  }
  void for_each_class(const AnyInput&, ClassVisitor) const final {}
  [[nodiscard]] std::vector<std::string> class_names() const final { return {}; }
  [[nodiscard]] const std::vector<std::string>& required_classes() const final { return no_names_; }
  [[nodiscard]] bool has_reference() const final { return false; }
  [[nodiscard]] AnyOutput run_reference(const AnyInput&) const final { return nullptr; }
  [[nodiscard]] std::optional<std::string> difference(const AnyInput&, const AnyOutput&,
                                                      const AnyOutput&) const final {
    return std::nullopt;
  }
  [[nodiscard]] bool compares_nothing(const AnyOutput&, const AnyOutput&) const final {
    return true;
  }
  // Nobody has said that the result must not depend on the order of threads.
  [[nodiscard]] bool wants_schedule_comparison(bool) const final { return false; }
  [[nodiscard]] std::optional<std::string> schedule_difference(const AnyOutput&,
                                                               const AnyOutput&) const final {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<PlainOutput> plain_output(const AnyOutput&) const final {
    return std::nullopt;
  }
  [[nodiscard]] PlainRule plain_rule(const AnyInput&) const final { return {}; }

 private:
  std::vector<std::string> no_names_;
};

}  // namespace warpcheck
