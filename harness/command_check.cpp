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
    } while (Clock::now() < deadline && !interrupted() && reports_.empty());
    for (const CaseStatistics& statistics : statistics_) print(statistics_text(statistics));
    write_findings();
    if (interrupted()) return kInterrupted;
    if (cannot_) return kCannot;
    return reports_.empty() && met_what_is_required() ? kNothingFound : kFindings;
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
    auto replayed = database_->replay(pairs, arguments_.cases, runner_, options_.stop);
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
    bool runs = check(pair, "");
    for (const PropertyEntry& property : pair.properties()) {
      runs = runs && check(pair, property.name);
    }
  }

  // Returns whether the pair could be run.
  bool check(const AnyPair& pair, const std::string& property) {
    // A stored failure stands until it is mended.
    if (failed_claims_.contains(claim_title(pair, property))) return true;
    CheckOutcome outcome = check_claim(pair, property, options_, runner_);
    if (outcome.failures.empty()) {
      print(fmt::format("PASS {}   {} trials\n", claim_title(pair, property), outcome.trials));
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

  // As Case::title().
  static std::string claim_title(const AnyPair& pair, const std::string& property) {
    return property.empty() ? pair.name() : pair.name() + "." + property;
  }

  const Arguments& arguments_;
  CheckOptions options_;
  std::optional<campaign::FailureDatabase> database_;
  std::set<std::string> failed_claims_;  // by what is stored
  TrialRunner runner_;
  std::vector<Report> reports_;
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
  command->add_option("--failures", arguments->failures,
                      "Failure database: replayed first, added to (default: .warpcheck, if there)");
  command->add_flag("--no-failures", arguments->no_failures, "Use no failure database");
  command->add_option("--json", arguments->json, "Write the findings to this file");
  command->add_flag("--statistics", arguments->statistics,
                    "Print the share of drawn cases in each class; status 1 also when a class that "
                    "a pair requires was never drawn");
  command->callback([&run, arguments] { run = [arguments] { return Checker(*arguments).run(); }; });
}

}  // namespace warpcheck
