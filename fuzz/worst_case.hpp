// A search for the input with which a pair's kernel does most of something: bank conflicts, sectors
// that it need not move, atomics that wait for each other; or with which its numbers go wrong
// (bad_numbers.hpp).
//
// Hill climbing over the choices that draw an input (tape.hpp): some random inputs first, then the
// best one so far with a few choices changed.  A given seed and number of executions finds the same
// on every machine.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/case.hpp"

namespace warpcheck {

// Runs cases, and says how much of what is searched for they do.
class WorstCaseWatch {
 public:
  virtual ~WorstCaseWatch() = default;
  virtual double value_of(const Case& a_case) = 0;
  [[nodiscard]] virtual std::string text_of(double value) const = 0;  // "1921 conflicts"
  // How much a simpler input has to do to be kept in the end instead of the worst one; nothing: the
  // worst one is kept.
  [[nodiscard]] virtual std::optional<double> enough_beside(double /*worst*/) const { return {}; }
  // Turns on the checks whose report of the case explains it.
  virtual void prepare(Settings&) const {}
};

// What can be searched for, by its name on the command line.
struct WorstCaseGoal {
  std::string_view name;
  std::unique_ptr<WorstCaseWatch> (*make)();
};
[[nodiscard]] const std::vector<WorstCaseGoal>& worst_case_goals();

struct WorstCaseOptions {
  const AnyPair* pair = nullptr;
  const WorstCaseGoal* goal = nullptr;
  std::uint64_t seconds = 60;    // 0: no limit
  std::uint64_t executions = 0;  // 0: no limit
  std::uint64_t seed = 1;
  Settings settings{};
  const volatile std::sig_atomic_t* stop = nullptr;  // non-zero: ends the search
};

struct WorstCase {
  Case a_case;
  double value = 0;  // of the goal, for the case
  double worst = 0;  // that of the worst input, of which the case may be a simpler one
  double first = 0;  // that of the first input
  std::string text{}, worst_text{}, first_text{};
  std::uint64_t executions = 0;  // of the search; not of shrinking its result
};

WorstCase find_worst_case(const WorstCaseOptions& options);

}  // namespace warpcheck
