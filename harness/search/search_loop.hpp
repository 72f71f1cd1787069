// The loop of every search for failures: take a case -> trial -> verdict -> what follows from a
// failure -> statistics.
//
//            cases                      ends                        a failure
//   check    RapidCheck's draws         when all expected were met  kept by class (FailureLog), and
//                                                                   shrunk when the search is over
//   hunt     tapes of a seed            after a number of trials    the same
//   fuzz     libFuzzer's bytes          when all expected were met, of a new place (KnownFailures):
//                                       if asked                    shrunk, saved and told at once
//   campaign a corpus, then libFuzzer's never                       of a new place: told at once
//   stored   a corpus                   never                       as fuzz
//   gpu      RapidCheck's draws, or     at the first failure        told at once
//            one case again and again
//
// RapidCheck and libFuzzer drive from outside: they call back for each case, and what they call is
// take(), the body of the loop.  How many cases there are at most is theirs to say; where nobody
// drives, run() does.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/input/function_ref.hpp"
#include "harness/search/health.hpp"
#include "harness/search/search.hpp"

namespace warpcheck {

// When a search is over, beyond its budget.
enum class SearchEnd : std::uint8_t {
  never,  // failures do not end it, for there may be others
  first_failure,
  // At the first failure; of a specimen, when every kind that it expects was met.
  all_expected,
};

class SearchLoop {
 public:
  struct Rules {
    SearchEnd end = SearchEnd::never;
    std::vector<vgpu::FindingKind> expected{};  // ascending, where that ends it
    // What becomes of a failure: to be kept, shrunk, told.
    std::function<void(const Failure&)> on_failure{};
    std::function<void(std::uint64_t trials)> on_trial{};  // for progress
    // Becomes non-zero: no further trial.
    const volatile std::sig_atomic_t* stop = nullptr;
  };

  // Draws the next case and runs it.  Nothing: what was drawn is outside the pair's domain.
  using Trial = FunctionRef<std::optional<TriedCase>()>;

  explicit SearchLoop(Rules rules) : rules_(std::move(rules)) {}

  // The body.  Returns whether to go on; a case that cannot be run ends the search.
  bool take(Trial trial);
  // So many times at most.
  void run(std::uint64_t count, Trial trial);

  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool is_stopped() const { return rules_.stop != nullptr && *rules_.stop != 0; }

  // --- statistics -------------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t trials() const { return trials_; }
  [[nodiscard]] bool failed() const { return failed_; }
  // What the trials did; who draws adds its draws.
  [[nodiscard]] TrialsSeen& seen() { return seen_; }
  // The case that cannot be run, whose verdict says why.
  [[nodiscard]] const std::optional<TriedCase>& refused() const { return refused_; }

 private:
  Rules rules_;
  std::uint64_t trials_ = 0;
  TrialsSeen seen_;
  bool failed_ = false;
  std::set<vgpu::FindingKind> kinds_;  // of all failures
  std::optional<TriedCase> refused_;
};

}  // namespace warpcheck
