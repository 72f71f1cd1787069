// A case: everything that one trial depends on, as typed values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harness/case/settings.hpp"
#include "harness/pair/any_pair.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

// A policy that decides while the trial runs; the verdict records its decisions.
struct StrategyChoice {
  std::string name;  // a name of vgpu::strategies()
  std::uint64_t seed = 0;
  friend bool operator==(const StrategyChoice&, const StrategyChoice&) = default;
};

struct Case {
  const AnyPair* pair = nullptr;
  std::string property;  // empty: the claim "agrees with its reference"
  AnyInput input;
  // Recorded decisions to follow (an empty schedule is the default one), or a policy.
  std::variant<vgpu::Schedule, StrategyChoice> schedule;
  Settings settings;
  std::vector<std::uint8_t> tape;  // the choices that drew the input; a hint, may be empty

  // "pair", or "pair.property"
  [[nodiscard]] std::string title() const {
    return property.empty() ? pair->name() : pair->name() + "." + property;
  }
};

// The size of a case; of two cases with the same failure, the smaller one is easier to understand.
// Compared in the order of the members: first the number of elements, then the launch, then the
// number and simplicity of decisions, and last the simplicity of values.
struct CaseSize {
  std::uint64_t elements = 0;
  std::uint64_t threads = 0;
  std::uint64_t blocks = 0;
  std::uint64_t decisions = 0;
  std::uint64_t decision_weight = 0;
  double magnitude = 0;
  friend auto operator<=>(const CaseSize&, const CaseSize&) = default;
};

// `schedule`: the decisions; those of the verdict if the case has a policy.
[[nodiscard]] CaseSize size_of(const Case& a_case, const vgpu::Schedule& schedule);

// Distance of a decision from the simplest one: one lane held, early, in the first warp.
[[nodiscard]] std::uint64_t weight(const vgpu::Decision& decision);

}  // namespace warpcheck
