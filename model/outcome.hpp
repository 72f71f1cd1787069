// The final states of a litmus test's executions, and what they say about its condition.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

// The values of Test::observed, or of Test::asked; empty: a register that a thread would have set
// after a barrier at which it waits for ever.
using FinalState = std::vector<std::optional<std::int64_t>>;

enum class Truth : std::uint8_t { no, yes, unknown };
// `state` has values of Test::asked.
Truth holds(const Condition& condition, const Test& test, const FinalState& state);

struct Outcome {
  // Each state and the number of its executions.
  std::map<FinalState, std::uint64_t> states;
  // Executions in which the condition holds, and in which it does not.
  std::uint64_t positive = 0, negative = 0;
  bool has_races = false;  // some execution has a data race (PTX ISA 8.7.1)
  // Executions are missing: those that execute loops more often than --unroll allows, or those
  // after --limit was reached.
  bool loops_cut = false, choices_cut = false;
  [[nodiscard]] bool cut() const { return loops_cut || choices_cut; }
};

enum class Observation : std::uint8_t { never, sometimes, always, unknown };
// Unknown if executions are missing that could change the answer.
Observation observation(const Outcome& outcome);
// Whether the answer to the test's question (exists, ~exists, forall) is yes; empty: undecided.
std::optional<bool> validated(const Test& test, const Outcome& outcome);

}  // namespace warpcheck::model
