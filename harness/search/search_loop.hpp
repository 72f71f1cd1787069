// The loop of every search for failures: take a case -> trial -> verdict -> handle a failure ->
// statistics.
//
//            cases                      ends                        a failure
//   check    RapidCheck's draws         when all expected were met  kept by class (FailureLog), and
//                                                                   shrunk when the search is over
//   hunt     tapes of a seed            after a number of trials    the same
//   fuzz     libFuzzer's bytes          when all expected were met, of a new place (KnownFailures):
//                                       if requested                shrunk, saved, reported
//   campaign a corpus, then libFuzzer's never                       of a new place: reported
//   stored   a corpus                   never                       as fuzz
//   gpu      RapidCheck's draws, or     at the first failure        reported
//            one case again and again
//
// RapidCheck and libFuzzer have their own loops: they call back for each case, and the callback is
// take(), the body of this loop.  They decide the largest number of cases.  Otherwise run() loops.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "harness/input/function_ref.hpp"
#include "harness/search/health.hpp"
#include "harness/search/search.hpp"

namespace warpcheck {

// The end of a search before its budget is used up.
enum class SearchEnd : std::uint8_t {
  never,  // failures do not end it, because there may be others
  first_failure,
  // At the first failure; for a specimen, when every expected kind was found.
  all_expected,
};

class SearchLoop {
 public:
  struct Rules {
    SearchEnd end = SearchEnd::never;
    std::vector<vgpu::FindingKind> expected{};  // ascending, for all_expected
    // Handles a failure: keeps, shrinks or reports it.
    std::function<void(const Failure&)> on_failure{};
    std::function<void(std::uint64_t trials)> on_trial{};  // for progress
    // Non-zero: start no further trial.
    const volatile std::sig_atomic_t* stop = nullptr;
  };

  // Draws the next case and runs it.  Empty: the drawn input is outside the pair's domain.
  using Trial = FunctionRef<std::optional<TriedCase>()>;

  explicit SearchLoop(Rules rules) : rules_(std::move(rules)) {}

  // The body.  Returns whether to continue; a case that cannot be run ends the search.
  bool take(Trial trial);
  // Takes at most `count` cases.
  void run(std::uint64_t count, Trial trial);

  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool is_stopped() const { return rules_.stop != nullptr && *rules_.stop != 0; }

  // --- statistics -------------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t trials() const { return trials_; }
  [[nodiscard]] bool failed() const { return failed_; }
  // Counts of the trials; the source of cases adds its draws.
  [[nodiscard]] TrialsSeen& seen() { return seen_; }
  // The case that cannot be run; its verdict says why.
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
