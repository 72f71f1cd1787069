// The source of cases for an unguided search: a tape of choices, from a seed of our own (hunt) or
// from RapidCheck (check, tests).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/input/tape.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

// A pair's `.arbitrary` draws almost no input of its `.domain`.
class DomainError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The number of drawn inputs, and of those outside the domain.
struct DrawCount {
  std::uint64_t drawn = 0;
  std::uint64_t discarded = 0;
};

// An input of the pair's domain, and the strategy for its trial, by the draw_weight of its row.
// `size` in [0, 100].  Adds to `count` if it is not null.  Throws DomainError.
Case draw_case(const AnyPair& pair, std::string_view property, const Settings& settings, Tape tape,
               int size, DrawCount* count = nullptr);

// The case of trial number `trial` of a search; sizes rise from 0 to 100 and start again.  Adds to
// `count` if it is not null.  Throws DomainError.
Case nth_case(const AnyPair& pair, std::string_view property, const Settings& settings,
              std::uint64_t seed, std::uint64_t trial, DrawCount* count = nullptr);

// A hash of several numbers; each bit depends on all of them.
std::uint64_t mix(std::span<const std::uint64_t> numbers);
std::uint64_t hash_of_text(std::string_view text);

// A case and the verdict of its trial.
struct TriedCase {
  Case a_case;
  Verdict verdict;
};

// A failing case and the number of its trial.
struct Failure {
  Case a_case;
  Verdict verdict;
  std::uint64_t trial = 0;  // from 1
};

// The places of known failures.  A failure is new if it shows a finding at a place at which no
// earlier one did.
class KnownFailures {
 public:
  KnownFailures() = default;
  explicit KnownFailures(std::set<std::string> places) : places_(std::move(places)) {}

  // Returns whether it is new, and records it.
  bool add(const Verdict& verdict);

 private:
  std::set<std::string> places_;
};

// The failures of a search: for each class (by signatures) the smallest case.
class FailureLog {
 public:
  // Returns whether its class is new.
  bool add(const Failure& failure);

  [[nodiscard]] bool empty() const { return by_class_.empty(); }
  // All kinds found, ascending.
  [[nodiscard]] std::vector<vgpu::FindingKind> kinds() const;
  // The failures to shrink and explain: for every kind the class with the fewest findings that has
  // it (a mismatch alone rather than one together with a race, which is another bug), except those
  // that are a part of another chosen one.  In order of trial.
  [[nodiscard]] std::vector<const Failure*> worth_reporting() const;

 private:
  struct Entry {
    Failure failure;
    CaseSize size;
  };
  std::map<std::vector<std::string>, Entry> by_class_;
};

}  // namespace warpcheck
