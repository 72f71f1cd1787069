#include "fuzz/worst_case.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "harness/input/draw.hpp"
#include "harness/input/tape.hpp"
#include "harness/trial/watched_run.hpp"
#include "vgpu/check/counters/memory_counters.hpp"

namespace warpcheck {
namespace {

using Clock = std::chrono::steady_clock;
using Choices = std::vector<Choice>;

constexpr std::uint64_t kRandomFirst = 32;  // random inputs before the first change
constexpr std::uint64_t kRandomAgain = 8;   // and one of so many afterwards

class Climber {
 public:
  explicit Climber(const WorstCaseOptions& options) : options_(options), random_(options.seed) {}

  WorstCase run() {
    const auto end = Clock::now() + std::chrono::seconds(options_.seconds);
    while (goes_on(end)) {
      const bool is_random = worst_.executions < kRandomFirst || below(kRandomAgain) == 0;
      Tape tape = is_random ? Tape::of_seed(random_()) : Tape::of_choices(changed(best_));
      try_input(tape);
    }
    return std::move(worst_);
  }

 private:
  [[nodiscard]] bool goes_on(Clock::time_point end) const {
    if (options_.stop != nullptr && *options_.stop != 0) return false;
    if (options_.executions != 0 && worst_.executions >= options_.executions) return false;
    return options_.seconds == 0 || Clock::now() < end;
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  // Changes a few choices: to others, to the simplest, or to those of another place.
  Choices changed(Choices choices) {
    if (choices.empty()) return choices;
    for (std::uint64_t changes = 1 + below(3); changes != 0; --changes) {
      const std::size_t at = below(choices.size());
      const std::size_t count = 1 + below(std::min<std::uint64_t>(choices.size() - at, 64));
      const Choice from = choices[below(choices.size())];
      const std::uint64_t kind = below(4);
      for (std::size_t i = at; i < at + count; ++i) {
        if (kind == 0) choices[i].value = from.value;
        if (kind == 1) choices[i].value = 0;
        if (kind >= 2 && i == at) choices[i].value = random_();
      }
    }
    return choices;
  }

  void try_input(Tape& tape) {
    Draw draw(tape);
    Case drawn;
    drawn.pair = options_.pair;
    drawn.settings = options_.settings;
    drawn.input = drawn.pair->draw(draw);
    ++worst_.executions;
    if (!drawn.pair->in_domain(drawn.input)) return;
    const std::uint64_t value = options_.goal->value_of(counts_of(drawn));
    const bool is_first = worst_.a_case.pair == nullptr;
    if (is_first) worst_.first = value;
    // An equal input is taken, too, so that the search does not stay where it is.
    if (!is_first && value < worst_.value) return;
    worst_.value = value;
    drawn.tape = tape.recorded();
    worst_.a_case = std::move(drawn);
    best_ = tape.choices();
  }

  // Without checkers, because the counts do not depend on them.
  vgpu::MemoryCounts counts_of(const Case& a_case) {
    counters_.clear();
    run_watched(a_case, virtual_gpu(), counters_);  // a failure is for other searches
    return counters_.total();
  }

  const WorstCaseOptions& options_;
  std::mt19937_64 random_;
  vgpu::MemoryCounters counters_;
  WorstCase worst_;
  Choices best_;
};

}  // namespace

const std::vector<WorstCaseGoal>& worst_case_goals() {
  using Counts = vgpu::MemoryCounts;
  static const std::vector<WorstCaseGoal> goals{
      {"conflicts", [](const Counts& counts) { return counts.conflicts(); }},
      {"sectors", [](const Counts& counts) { return counts.excess_sectors(); }},
      {"contended", [](const Counts& counts) { return counts.contended; }},
      {"divergences", [](const Counts& counts) { return counts.divergences; }},
  };
  return goals;
}

WorstCase find_worst_case(const WorstCaseOptions& options) { return Climber(options).run(); }

}  // namespace warpcheck
