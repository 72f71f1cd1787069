// warpcheck check: property trials of some pairs under one configuration or several.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/failures.hpp"
#include "harness/case_file.hpp"
#include "harness/check.hpp"
#include "harness/cli.hpp"
#include "harness/progress.hpp"
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
  std::string json;
  std::string failures;
  bool no_failures = false;
  bool statistics = false;

  // The failure database: the one that is named, or the default one where there is one.
  [[nodiscard]] std::string database() const {
    if (no_failures || !failures.empty()) return no_failures ? "" : failures;
    const std::string usual(campaign::kDefaultDatabase);
    return std::filesystem::is_directory(usual) ? usual : "";
  }
};

class Checker {
 public:
  explicit Checker(const Arguments& arguments) : arguments_(arguments) {
    options_.seed = arguments.seed;
    options_.trials = arguments.trials;
    options_.settings = arguments.configuration.settings();
    options_.stop = watch_interrupts();
    options_.on_trial = [this](std::uint64_t trials) {
      progress_.show([&] {
        return fmt::format("checking {}: {} of {} trials", claim_, trials, options_.trials);
      });
    };
    options_.shrink.on_trial = [this](std::uint64_t trials, std::uint64_t shrinks) {
      progress_.show([&] {
        return fmt::format("shrinking {}: {} trials, {} shrinks", claim_, trials, shrinks);
      });
    };
    const std::string database = arguments.database();
    if (!database.empty()) database_.emplace(database);
  }

  int run() {
    const auto pairs = pairs_named(arguments_.pairs);
    if (arguments_.statistics) {
      for (const AnyPair* pair : pairs) statistics_.emplace_back(*pair);
    }
    replay_failures(pairs);
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(arguments_.seconds));
    // With --seconds: round after round, each from another seed, until the time is over.
    do {
      for (const AnyPair* pair : pairs) {
        if (!interrupted()) check_pair(*pair);
      }
      for (CaseStatistics& statistics : statistics_) add_drawn_cases(statistics, options_);
      ++options_.seed;
    } while (Clock::now() < deadline && !interrupted() && reports_.empty() && health_.empty());
    progress_.clear();
    for (const CaseStatistics& statistics : statistics_) print(statistics_text(statistics));
    write_findings();
    if (interrupted()) return kInterrupted;
    if (cannot_) return kCannot;
    return reports_.empty() && health_.empty() && met_what_is_required() ? kNothingFound
                                                                         : kFindings;
  }

 private:
  [[nodiscard]] bool interrupted() const { return *options_.stop != 0; }

  [[nodiscard]] bool met_what_is_required() const {
    return std::ranges::all_of(
        statistics_, [](const CaseStatistics& statistics) { return statistics.missing().empty(); });
  }

  void write_findings() const {
    if (arguments_.json.empty()) return;
    Json document = report_json(reports_);
    document["health"] = health_;
    if (arguments_.statistics) {
      document["statistics"] = Json::array();
      for (const CaseStatistics& statistics : statistics_) {
        document["statistics"].push_back(statistics_json(statistics));
      }
    }
    write_file_atomically(arguments_.json, document.dump(2) + "\n");
  }

  // What failed once comes before anything new.
  void replay_failures(const std::vector<const AnyPair*>& pairs) {
    if (!database_) return;
    for (const std::string& message : database_->messages()) complain(message);
    TrialRunner runner;
    auto replayed = database_->replay(pairs, arguments_.cases, runner, options_.stop);
    for (Report& report : replayed.failures) {
      print(report_text(report));
      reports_.push_back(std::move(report));
    }
    for (const std::string& note : replayed.notes) print(fmt::format("note: {}\n", note));
    for (const std::string& problem : replayed.problems) complain(problem);
    cannot_ = cannot_ || !database_->messages().empty() || !replayed.problems.empty();
    failed_claims_ = std::move(replayed.failed_claims);
    if (replayed.replayed == 0) return;
    print(fmt::format("{} stored cases and inputs replayed, {} of them fail\n", replayed.replayed,
                      replayed.failures.size()));
  }

  // Stops at what cannot be run: the claims of a pair launch the same kernels.
  void check_pair(const AnyPair& pair) {
    TrialRunner runner;
    bool runs = check(pair, "", runner);
    for (const PropertyEntry& property : pair.properties()) {
      runs = runs && check(pair, property.name, runner);
    }
    if (const auto note = slow_reference(runner.spent())) {
      complain(fmt::format("note: pair '{}': {}", pair.name(), *note));
    }
  }

  // Returns whether the pair could be run.
  bool check(const AnyPair& pair, const std::string& property, TrialRunner& runner) {
    claim_ = claim_title(pair, property);
    // A stored failure stands until it is mended.
    if (failed_claims_.contains(claim_)) return true;
    CheckOutcome outcome = check_claim(pair, property, options_, runner);
    progress_.clear();
    if (outcome.passed()) {
      print(fmt::format("PASS {}   {} trials\n", claim_, outcome.trials));
    }
    if (!outcome.problems.empty()) {
      print(health_text(claim_, outcome.trials, outcome.problems));
    }
    for (const HealthProblem& problem : outcome.problems) {
      health_.push_back({{"pair", pair.name()},
                         {"property", property},
                         {"check", problem.check},
                         {"message", problem.message}});
    }
    for (Report& report : outcome.failures) {
      const std::vector<std::string>& refusals = report.verdict.refusals;
      if (refusals.empty()) {
        if (!save_case(report, arguments_.cases)) cannot_ = true;
        print(report_text(report));
        if (database_) database_->add(report);
      } else {
        complain(fmt::format("pair '{}' cannot be run: {}", pair.name(), refusals.front()));
        cannot_ = true;
      }
      reports_.push_back(std::move(report));
    }
    return reports_.empty() || reports_.back().verdict.refusals.empty();
  }

  const Arguments& arguments_;
  CheckOptions options_;
  std::optional<campaign::FailureDatabase> database_;
  std::set<std::string> failed_claims_;  // by what is stored
  std::vector<Report> reports_;
  std::vector<CaseStatistics> statistics_;  // of each pair, where they are wanted
  Json health_ = Json::array();             // of each problem
  bool cannot_ = false;
  std::string claim_;  // that is being checked
  Progress progress_;
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
  command->add_option("--failures", arguments->failures,
                      "Failure database: replayed first, added to (default: .warpcheck, if there)");
  command->add_flag("--no-failures", arguments->no_failures, "Use no failure database");
  command->add_option("--json", arguments->json, "Write the findings to this file");
  command->add_flag("--statistics", arguments->statistics,
                    "Print the share of drawn cases in each class; status 1 also when a class that "
                    "a pair requires was never drawn");
  command->footer(
      "Each claim of a pair is tried with inputs and schedules of its own: that the kernel agrees\n"
      "with its reference and shows no finding, and each PROPERTY.  A failure is shrunk, "
      "explained\n"
      "and kept as a case.  A claim that could not have failed is UNHEALTHY, which is a failure "
      "too:\n"
      "see docs/command-line.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck check                          every pair\n"
      "  warpcheck check scan_tree --seconds 60   one pair, seed after seed for a minute\n"
      "  warpcheck check --build both --warp-model both --statistics\n"
      "\n"
      "Exit status: 0 every claim held, 1 a claim failed or is unhealthy, 2 bad usage, a file "
      "that\n"
      "cannot be written, or a kernel that cannot be run, 130 interrupted.");
  command->callback([&run, arguments] { run = [arguments] { return Checker(*arguments).run(); }; });
}

}  // namespace warpcheck
