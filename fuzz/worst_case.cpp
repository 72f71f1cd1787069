#include "fuzz/worst_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "fuzz/bad_numbers.hpp"
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
constexpr int kShrinksTried = 400;

class Climber {
 public:
  explicit Climber(const WorstCaseOptions& options)
      : options_(options), random_(options.seed), watch_(options.goal->make()) {}

  WorstCase run() {
    const auto end = Clock::now() + std::chrono::seconds(options_.seconds);
    while (goes_on(end)) {
      const bool is_random = worst_.executions < kRandomFirst || below(kRandomAgain) == 0;
      Tape tape = is_random ? Tape::of_seed(random_()) : Tape::of_choices(changed(best_));
      try_input(tape);
    }
    if (worst_.a_case.pair == nullptr) return std::move(worst_);
    worst_.worst = worst_.value;
    if (const auto enough = watch_->enough_beside(worst_.worst)) shrink(*enough);
    worst_.text = watch_->text_of(worst_.value);
    worst_.worst_text = watch_->text_of(worst_.worst);
    worst_.first_text = watch_->text_of(worst_.first);
    watch_->prepare(worst_.a_case.settings);
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
    const double value = watch_->value_of(drawn);
    const bool is_first = worst_.a_case.pair == nullptr;
    if (is_first) worst_.first = value;
    // An equal input is taken, too, so that the search does not stay where it is.
    if (!is_first && value < worst_.value) return;
    worst_.value = value;
    drawn.tape = tape.recorded();
    worst_.a_case = std::move(drawn);
    best_ = tape.choices();
  }

  // Takes simpler inputs as long as they do enough.
  void shrink(double enough) {
    int tried = 0;
    const AnyPair& pair = *worst_.a_case.pair;
    for (std::size_t first = 0; tried < kShrinksTried;) {
      const auto accepts = [&](AnyInput input) {
        if (tried++ >= kShrinksTried) return true;
        Case simpler = worst_.a_case;
        simpler.input = std::move(input);
        const double value = watch_->value_of(simpler);
        if (value < enough) return false;
        simpler.tape.clear();
        worst_.a_case = std::move(simpler);
        worst_.value = value;
        return true;
      };
      const auto found = pair.for_each_shrink_from(first, worst_.a_case.input, accepts);
      if (!found && first == 0) return;
      first = found.value_or(0);
    }
  }

  const WorstCaseOptions& options_;
  std::mt19937_64 random_;
  std::unique_ptr<WorstCaseWatch> watch_;
  WorstCase worst_;
  Choices best_;
};

}  // namespace

namespace {

using Counts = vgpu::MemoryCounts;

// Without checkers, because the counts do not depend on them.
class CountsWatch final : public WorstCaseWatch {
 public:
  using Value = std::uint64_t (*)(const Counts&);
  CountsWatch(std::string_view name, Value value) : name_(name), value_(value) {}
  double value_of(const Case& a_case) override {
    counters_.clear();
    run_watched(a_case, virtual_gpu(), counters_);  // a failure is for other searches
    return static_cast<double>(value_(counters_.total()));
  }
  [[nodiscard]] std::string text_of(double value) const override {
    return fmt::format("{} {}", static_cast<std::uint64_t>(value), name_);
  }

 private:
  std::string_view name_;
  Value value_;
  vgpu::MemoryCounters counters_;
};

std::unique_ptr<WorstCaseWatch> watch_conflicts() {
  return std::make_unique<CountsWatch>("conflicts",
                                       [](const Counts& counts) { return counts.conflicts(); });
}
std::unique_ptr<WorstCaseWatch> watch_sectors() {
  return std::make_unique<CountsWatch>(
      "sectors", [](const Counts& counts) { return counts.excess_sectors(); });
}
std::unique_ptr<WorstCaseWatch> watch_contended() {
  return std::make_unique<CountsWatch>("contended",
                                       [](const Counts& counts) { return counts.contended; });
}
std::unique_ptr<WorstCaseWatch> watch_divergences() {
  return std::make_unique<CountsWatch>("divergences",
                                       [](const Counts& counts) { return counts.divergences; });
}

}  // namespace

const std::vector<WorstCaseGoal>& worst_case_goals() {
  static const std::vector<WorstCaseGoal> goals{
      {"conflicts", watch_conflicts}, {"sectors", watch_sectors},
      {"contended", watch_contended}, {"divergences", watch_divergences},
      {"error", watch_errors},        {"nan", watch_nans},
      {"flips", watch_flips},
  };
  return goals;
}

WorstCase find_worst_case(const WorstCaseOptions& options) { return Climber(options).run(); }

}  // namespace warpcheck
