// warpcheck check: property trials of some pairs under one configuration or several.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "harness/check.hpp"
#include "harness/cli.hpp"
#include "harness/report_options.hpp"
#include "harness/statistics.hpp"

namespace warpcheck {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::vector<std::string> pairs;
  int trials = 1'000;
  double seconds = 0;
  std::uint64_t seed = 1;
  ConfigurationOptions configuration;
  std::string cases = "fuzz/cases";
  ReportOptions reports;
  bool statistics = false;
};

class Checker {
 public:
  explicit Checker(const Arguments& arguments)
      : arguments_(arguments),
        engine_(arguments.reports.wants_coverage()),
        runner_(engine_.engine()) {
    options_.seed = arguments.seed;
    options_.trials = arguments.trials;
    options_.settings = arguments.configuration.settings();
    options_.stop = watch_interrupts();
  }

  int run() {
    arguments_.reports.check();
    const auto pairs = pairs_named(arguments_.pairs);
    if (arguments_.statistics) {
      for (const AnyPair* pair : pairs) statistics_.emplace_back(*pair);
    }
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(arguments_.seconds));
    // With --seconds: round after round, each from another seed, until the time is over.
    do {
      for (const AnyPair* pair : pairs) {
        if (!interrupted()) check_pair(*pair);
      }
      for (CaseStatistics& statistics : statistics_) add_drawn_cases(statistics, options_);
      ++options_.seed;
    } while (Clock::now() < deadline && !interrupted() && run_.reports.empty());
    for (const CaseStatistics& statistics : statistics_) print(statistics_text(statistics));
    write_reports();
    if (interrupted()) return kInterrupted;
    if (cannot_) return kCannot;
    return run_.reports.empty() && met_what_is_required() ? kNothingFound : kFindings;
  }

 private:
  [[nodiscard]] bool interrupted() const { return *options_.stop != 0; }

  [[nodiscard]] bool met_what_is_required() const {
    return std::ranges::all_of(
        statistics_, [](const CaseStatistics& statistics) { return statistics.missing().empty(); });
  }

  void write_reports() {
    run_.command = "check";
    run_.coverage = engine_.coverage();
    if (arguments_.statistics) run_.statistics = Json::array();
    for (const CaseStatistics& statistics : statistics_) {
      run_.statistics.push_back(statistics_json(statistics));
      add_statistics(statistics);
    }
    arguments_.reports.write(run_);
  }

  // What a pair requires and its inputs never were is a claim that failed.
  void add_statistics(const CaseStatistics& statistics) {
    const std::vector<std::string> missing = statistics.missing();
    Claim claim{.pair = statistics.pair().name(), .property = "required_classes_are_drawn"};
    claim.trials = statistics.cases();
    claim.verdict = "ok";
    if (!missing.empty()) {
      claim.status = Claim::Status::failed;
      claim.verdict = fmt::format("NEVER DRAWN: {}", fmt::join(missing, ", "));
    }
    run_.claims.push_back(std::move(claim));
  }

  // Stops at what cannot be run: the claims of a pair launch the same kernels.
  void check_pair(const AnyPair& pair) {
    bool runs = check(pair, "");
    for (const PropertyEntry& property : pair.properties()) {
      runs = runs && check(pair, property.name);
    }
  }

  // Returns whether the pair could be run.
  bool check(const AnyPair& pair, const std::string& property) {
    CheckOutcome outcome = check_claim(pair, property, options_, runner_);
    if (outcome.failures.empty()) {
      print(fmt::format("PASS {}{}{}   {} trials\n", pair.name(), property.empty() ? "" : ".",
                        property, outcome.trials));
    }
    Claim& claim = claim_of(pair, property);
    claim.trials += outcome.trials;
    claim.found = outcome.kinds;
    bool runs = true;
    for (Report& report : outcome.failures) {
      const std::vector<std::string>& refusals = report.verdict.refusals;
      if (refusals.empty()) {
        if (!save_case(report, arguments_.cases)) cannot_ = true;
        print(report_text(report));
        claim.status = Claim::Status::failed;
        claim.verdict = "FAIL: " + show_kinds(claim.found);
      } else {
        complain(fmt::format("pair '{}' cannot be run: {}", pair.name(), refusals.front()));
        runs = false;
        cannot_ = true;
        claim.status = Claim::Status::cannot_run;
        claim.verdict = "cannot run: " + refusals.front();
      }
      claim.reports.push_back(run_.reports.size());
      run_.reports.push_back(std::move(report));
    }
    return runs;
  }

  // With --seconds a claim is checked in several rounds; it has one row.
  Claim& claim_of(const AnyPair& pair, const std::string& property) {
    const auto found = std::ranges::find_if(run_.claims, [&](const Claim& claim) {
      return claim.pair == pair.name() && claim.property == property;
    });
    if (found != run_.claims.end()) return *found;
    Claim claim{.pair = pair.name(), .property = property};
    claim.expects = pair.expects();
    claim.verdict = "ok";
    return run_.claims.emplace_back(std::move(claim));
  }

  const Arguments& arguments_;
  CheckOptions options_;
  CoveredEngine engine_;
  TrialRunner runner_;
  RunReport run_;
  std::vector<CaseStatistics> statistics_;  // of each pair, where they are wanted
  bool cannot_ = false;
};

}  // namespace

void add_check_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("check", "Property trials of pairs (default: of all)");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("PAIR", arguments->pairs, "Which pairs");
  command->add_option("--trials", arguments->trials, "Of each claim")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seconds", arguments->seconds, "Repeat with other seeds for so long")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", arguments->seed, "The same seed finds the same")
      ->capture_default_str();
  arguments->configuration.add_to(*command);
  command->add_option("--cases", arguments->cases, "Directory for the cases of failures")
      ->capture_default_str();
  command->add_flag("--statistics", arguments->statistics,
                    "Print the share of drawn cases in each class; status 1 also when a class that "
                    "a pair requires was never drawn");
  arguments->reports.add_to(*command);
  command->callback([&run, arguments] { run = [arguments] { return Checker(*arguments).run(); }; });
}

}  // namespace warpcheck
