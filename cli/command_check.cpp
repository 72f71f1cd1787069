// warpcheck check: property trials of some pairs under one configuration or several.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/failures.hpp"
#include "cli/cli.hpp"
#include "cli/gpu_command.hpp"
#include "cli/look/profile_arguments.hpp"
#include "cli/report_options.hpp"
#include "harness/case/stored_cases.hpp"
#include "harness/causes/find_causes.hpp"
#include "harness/expected/expectation_file.hpp"
#include "harness/expected/expecting_engine.hpp"
#include "harness/input/json.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/process/progress.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/report/source_excerpt.hpp"
#include "harness/search/check.hpp"
#include "harness/search/statistics.hpp"
#include "vgpu/check/counters/memory_counters.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

using Clock = std::chrono::steady_clock;

struct CheckArguments {
  std::vector<std::string> pairs;
  int trials = 1'000;
  double seconds = 0;
  std::uint64_t seed = 1;
  ConfigurationOptions configuration;
  std::string cases;  // empty: not given
  std::string failures;
  std::vector<std::string> expect;  // files
  std::string write_expect;         // a file; empty: none
  bool no_failures = false;
  CompileOption compile;
  ProfileArguments profile;
  ReportOptions reports;
  bool statistics = false;
  bool health = false;
  EngineOptions engine;

  // Where cases of new failures go; empty: nowhere.
  [[nodiscard]] std::string case_directory() const {
    if (cases.empty() && !no_failures) return "fuzz/cases";
    return cases;
  }

  // The failure database: the named one, or the default one if it exists.
  [[nodiscard]] std::string database() const {
    if (no_failures || !failures.empty()) return no_failures ? "" : failures;
    const std::string usual(kDefaultDatabase);
    return std::filesystem::is_directory(usual) ? usual : "";
  }
};

int check_on_gpu(const CheckArguments& arguments) {
  if (arguments.seconds != 0 || arguments.statistics || arguments.health ||
      !arguments.reports.lcov.empty() || arguments.compile.is_given() ||
      !arguments.expect.empty() || !arguments.write_expect.empty() ||
      arguments.profile.is_wanted()) {
    throw UsageError(
        "--seconds, --statistics, --health, --lcov, --compile, --expect, --write-expect and "
        "--profile need --engine vgpu");
  }
  if (!arguments.configuration.checks.empty()) {
    throw UsageError("--check needs --engine vgpu: a real GPU shows results alone");
  }
  if (arguments.configuration.build != "optimized" ||
      arguments.configuration.warp_model != "independent" ||
      arguments.configuration.volatile_accesses != "strong") {
    throw UsageError(
        "--build, --warp-model and --volatile need --engine vgpu: a real GPU runs the device code "
        "as shipped, under its own warp model");
  }
  return check_on_gpu(GpuCheck{.pairs = pairs_named(arguments.pairs),
                               .trials = arguments.trials,
                               .seed = arguments.seed,
                               .cases = arguments.case_directory(),
                               .database = arguments.database(),
                               .reports = arguments.reports},
                      arguments.engine);
}

class Checker {
 public:
  explicit Checker(const CheckArguments& arguments)
      : arguments_(arguments), covered_(arguments.reports.wants_coverage()) {
    for (const std::string& file : arguments.expect) expected_.add(read_expectation_file(file));
    engine_.emplace(covered_.engine(), expected_);
    run_.command = "check";
    run_.health = Json::array();
    options_.seed = arguments.seed;
    options_.trials = arguments.trials;
    options_.settings = arguments.configuration.settings();
    options_.stop = watch_interrupts();
    options_.on_trial = [this](std::uint64_t trials) {
      progress_.show([&] {
        return arguments_.seconds == 0
                   ? fmt::format("checking {}: {} of {} trials", claim_, trials, options_.trials)
                   : fmt::format("checking {}: {}", claim_,
                                 counted(earlier_trials_ + trials, "trial"));
      });
    };
    options_.shrink.on_trial = [this](std::uint64_t trials, std::uint64_t shrinks) {
      progress_.show([&] {
        return fmt::format("shrinking {}: {}, {}", claim_, counted(trials, "trial"),
                           counted(shrinks, "shrink"));
      });
    };
    const std::string database = arguments.database();
    if (!database.empty()) database_.emplace(database);
  }

  int run() {
    arguments_.reports.check();
    arguments_.profile.check();
    if (arguments_.profile.is_wanted()) watch_.emplace(counters_);
    const auto pairs = pairs_named(arguments_.pairs);
    if (arguments_.statistics) {
      for (const AnyPair* pair : pairs) statistics_.emplace_back(*pair);
    }
    replay_failures(pairs);
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(arguments_.seconds));
    // With --seconds: rounds with different seeds until the time is over.
    do {
      for (const AnyPair* pair : pairs) {
        if (!interrupted()) check_pair(*pair);
      }
      for (CaseStatistics& statistics : statistics_) add_drawn_cases(statistics, options_);
      ++options_.seed;
    } while (Clock::now() < deadline && !interrupted() && passed());
    progress_.clear();
    if (arguments_.seconds != 0) std::ranges::for_each(run_.claims, print_passed);
    for (const CaseStatistics& statistics : statistics_) print(statistics_text(statistics));
    write_reports();
    print_expected();
    write_expectations();
    if (interrupted()) return kInterrupted;
    if (cannot_) return kCannot;
    return passed() && met_what_is_required() ? kNothingFound : kFindings;
  }

 private:
  [[nodiscard]] bool interrupted() const { return *options_.stop != 0; }

  [[nodiscard]] bool passed() const { return run_.reports.empty() && run_.health.empty(); }

  // With --seconds once for all rounds, at the end.
  static void print_passed(const Claim& claim) {
    if (claim.status != Claim::Status::passed) return;
    print(fmt::format("PASS {}   {}{}\n", claim.title(), counted(claim.trials, "trial"),
                      claim.beyond.text()));
  }

  void print_expected() const {
    for (const ExpectedFinding& expected : run_.expected) {
      print(fmt::format("{}: {}\n", expected.pair, expected_text(expected)));
    }
    for (const Expectation& expectation : run_.unmatched) {
      print(fmt::format("expected, but not found: {}\n", place_text(expectation)));
    }
  }

  // For --write-expect: what the trials' kernels did.  A wrong result cannot be expected.
  void write_expectations() {
    if (arguments_.write_expect.empty()) return;
    std::size_t added = 0;
    for (const Report& report : run_.reports) {
      std::vector<vgpu::Finding> findings = report.verdict.findings;
      std::erase_if(findings, [](const vgpu::Finding& finding) {
        return finding.kind == vgpu::FindingKind::mismatch ||
               finding.kind == vgpu::FindingKind::schedule_dependent;
      });
      added += add_expectations(arguments_.write_expect, report.a_case.pair->name(), findings,
                                source_lines());
    }
    print(
        fmt::format("{} written to {}\n", counted(added, "expectation"), arguments_.write_expect));
  }

  [[nodiscard]] bool met_what_is_required() const {
    return std::ranges::all_of(
        statistics_, [](const CaseStatistics& statistics) { return statistics.missing().empty(); });
  }

  void write_reports() {
    run_.coverage = covered_.coverage();
    watch_.reset();
    if (arguments_.profile.is_wanted()) {
      run_.profile = memory_profile(counters_.counts(), repository_path);
      print(arguments_.profile.write(*run_.profile));
    }
    run_.expected = engine_->expected();
    if (!interrupted()) run_.unmatched = engine_->expectations().unmatched();
    if (arguments_.statistics) run_.statistics = Json::array();
    for (const CaseStatistics& statistics : statistics_) {
      run_.statistics.push_back(statistics_json(statistics));
      add_statistics(statistics);
    }
    arguments_.reports.write(run_);
  }

  // A required class that was never drawn is a failed claim.
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

  // Known failures come before new trials.
  void replay_failures(const std::vector<const AnyPair*>& pairs) {
    if (!database_) return;
    for (const std::string& message : database_->messages()) complain(message);
    // The database keeps failures that are expected.
    TrialRunner runner(covered_.engine());
    auto replayed = database_->replay(pairs, arguments_.case_directory(), runner, options_.stop);
    std::erase_if(replayed.failures, [this](Report& report) {
      engine_->set_pair(report.a_case.pair->name());
      engine_->leave_out(report.verdict.findings);
      return !report.verdict.failed() && report.verdict.refusals.empty();
    });
    failed_claims_.clear();
    for (Report& report : replayed.failures) {
      failed_claims_.insert(report.a_case.title());
      find_causes(report, *engine_);
      print(report_text(report));
      Claim& claim = claim_of(*report.a_case.pair, report.a_case.property);
      add_failure(claim, std::move(report));
    }
    for (const std::string& note : replayed.notes) print(fmt::format("note: {}\n", note));
    for (const std::string& problem : replayed.problems) complain(problem);
    cannot_ = cannot_ || !database_->messages().empty() || !replayed.problems.empty();
    if (replayed.replayed == 0) return;
    print(fmt::format("{} stored cases and inputs replayed, {} of them fail\n", replayed.replayed,
                      replayed.failures.size()));
  }

  // Stops at a claim that cannot be run, because all claims of a pair launch the same kernels.
  void check_pair(const AnyPair& pair) {
    TrialRunner runner(*engine_);
    shrunk_ = {};
    engine_->set_pair(pair.name());
    bool runs = check(pair, "", runner);
    for (const PropertyEntry& property : pair.properties()) {
      if (!interrupted()) runs = runs && check(pair, property.name, runner);
    }
    if (arguments_.health) {
      if (runs) check_reference(pair);
    } else if (const auto note = slow_reference(runner.seconds())) {
      complain(fmt::format("note: pair '{}': {}", pair.name(), *note));
    }
  }

  // With --health: whether the reference is far slower than the kernel, if the pair agrees with it.
  void check_reference(const AnyPair& pair) {
    Claim& claim = claim_of(pair, "");
    if (!claim.reports.empty() || interrupted()) return;
    claim_ = claim_title(pair, "");
    CheckOutcome outcome;
    outcome.trials = claim.trials;
    outcome.problems = health_problems(quickest_times(pair, options_, virtual_gpu()));
    add_health(claim, outcome);
  }

  // Returns whether the pair could be run.
  bool check(const AnyPair& pair, const std::string& property, TrialRunner& runner) {
    claim_ = claim_title(pair, property);
    // A stored failure counts until it is repaired.
    if (failed_claims_.contains(claim_)) return true;
    earlier_trials_ = claim_of(pair, property).trials;
    CheckOutcome outcome = check_claim(pair, property, options_, runner, &shrunk_);
    progress_.clear();
    Claim& claim = claim_of(pair, property);
    claim.trials += outcome.trials;
    claim.beyond.for_every_schedule += outcome.for_every_schedule;
    if (outcome.passed() && interrupted() && claim.trials < asked_trials()) {
      add_interruption(claim);
    } else if (outcome.passed()) {
      if (property.empty() && pair.clean()) prove(pair, claim);
      if (arguments_.seconds == 0) print_passed(claim);
    }
    claim.found = outcome.kinds;
    add_health(claim, outcome);
    bool runs = true;
    for (Report& report : outcome.failures) {
      const std::vector<std::string>& refusals = report.verdict.refusals;
      if (refusals.empty()) {
        const std::string cases = arguments_.case_directory();
        if (!cases.empty() && !save_case(report, cases)) cannot_ = true;
        find_causes(report, *engine_);
        print(report_text(report));
        if (database_) database_->add(report);
      } else {
        complain(fmt::format("pair '{}' cannot be run: {}", pair.name(), refusals.front()));
        runs = false;
        cannot_ = true;
      }
      add_failure(claim, std::move(report));
    }
    return runs;
  }

  [[nodiscard]] std::uint64_t asked_trials() const {
    return static_cast<std::uint64_t>(options_.trials);
  }

  void add_interruption(Claim& claim) const {
    claim.status = Claim::Status::cannot_run;
    claim.verdict =
        fmt::format("interrupted after {} of {}", claim.trials, counted(asked_trials(), "trial"));
    complain(fmt::format("{}: {}", claim_, claim.verdict));
  }

  // Once, for any number of rounds.  Proofs are with the default --volatile.
  void prove(const AnyPair& pair, Claim& claim) {
    std::vector<cudart::Build> builds;
    for (const Settings& settings : options_.settings) {
      const bool is_listed = std::ranges::count(builds, settings.build) != 0;
      if (!is_listed && !settings.checkers.volatile_is_weak) builds.push_back(settings.build);
    }
    if (builds.empty() || claim.beyond.proved || interrupted()) return;
    claim.beyond.proved = prove_sample(pair, arguments_.seed, builds);
  }

  // Adds problems of a claim that could not have failed.
  void add_health(Claim& claim, const CheckOutcome& outcome) {
    if (outcome.problems.empty()) return;
    print(health_text(claim_, outcome.trials, outcome.problems));
    claim.status = Claim::Status::failed;
    claim.verdict = "UNHEALTHY: " + outcome.problems.front().message;
    run_.add_health(claim.pair, claim.property, outcome.problems);
  }

  void add_failure(Claim& claim, Report report) {
    const std::vector<std::string>& refusals = report.verdict.refusals;
    const std::vector<vgpu::FindingKind> kinds = failure_kinds(report.verdict);
    claim.found.insert(claim.found.end(), kinds.begin(), kinds.end());
    std::ranges::sort(claim.found);
    claim.found.erase(std::unique(claim.found.begin(), claim.found.end()), claim.found.end());
    claim.status = refusals.empty() ? Claim::Status::failed : Claim::Status::cannot_run;
    claim.verdict =
        refusals.empty() ? "FAIL: " + show_kinds(claim.found) : "cannot run: " + refusals.front();
    claim.reports.push_back(run_.reports.size());
    run_.reports.push_back(std::move(report));
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

  const CheckArguments& arguments_;
  CheckOptions options_;
  std::optional<campaign::FailureDatabase> database_;
  std::set<std::string> failed_claims_;  // by stored cases
  ShrunkFailures shrunk_;                // of the pair that is checked
  ExpectedFindings expected_{source_lines()};
  CoveredEngine covered_;
  std::optional<ExpectingEngine> engine_;
  vgpu::MemoryCounters counters_;
  std::optional<cudart::Watch> watch_;  // of counters_, if requested
  RunReport run_;
  std::vector<CaseStatistics> statistics_;  // of each pair, if requested
  bool cannot_ = false;
  std::string claim_;                 // that is being checked
  std::uint64_t earlier_trials_ = 0;  // of this claim, in earlier rounds
  Progress progress_;
};

void add_check_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<CheckArguments>();
  command.add_option("PAIR", arguments->pairs, "Pairs to check (default: all)");
  command.add_option("--trials", arguments->trials, "Trials of each claim")
      ->check(positive_number)
      ->capture_default_str();
  command
      .add_option("--seconds", arguments->seconds, "Repeat with other seeds for this many seconds")
      ->check(non_negative_number);
  command.add_option("--seed", arguments->seed, "Seed; the same seed gives the same trials")
      ->capture_default_str();
  arguments->configuration.add_to(command);
  arguments->configuration.add_checks_to(command);
  arguments->compile.add_to(command);
  add_volatile_option(command, arguments->configuration.volatile_accesses);
  command.add_option("--cases", arguments->cases, "Directory for the cases of failures")
      ->default_str("fuzz/cases");
  command.add_option(
      "--failures", arguments->failures,
      "Failure database: its cases run first, new failures are added to it (default: "
      ".warpcheck, if it exists)");
  command.add_flag("--no-failures", arguments->no_failures,
                   "Use no failure database, and save no cases unless --cases says where");
  command.add_flag("--statistics", arguments->statistics,
                   "Print the share of drawn cases in each class; status 1 also when a class that "
                   "a pair requires was never drawn");
  command.add_flag("--health", arguments->health,
                   "Also fail pairs whose reference is far slower than their kernel (measured by "
                   "the clock; the other checks of a claim's health are always on)");
  command
      .add_option("--expect", arguments->expect,
                  "Findings that are known and accepted: trials leave out those that FILE names "
                  "(docs/use/expected-findings.md)")
      ->type_name("FILE");
  command
      .add_option("--write-expect", arguments->write_expect,
                  "Add what was found, and is not expected, to FILE, for --expect")
      ->type_name("FILE");
  arguments->profile.add_to(command);
  arguments->reports.add_to(command);
  command.footer(
      "Each claim of a pair is tried with inputs and schedules of its own: that the kernel agrees\n"
      "with its reference and shows no finding, and each PROPERTY.  A failure is shrunk, "
      "explained\n"
      "and kept as a case.  A claim that could not have failed is UNHEALTHY, which is a failure "
      "too:\n"
      "see docs/use/command-line.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck check                          every pair\n"
      "  warpcheck check scan_tree --seconds 60   one pair, seed after seed for a minute\n"
      "  warpcheck check --build both --warp-model both --statistics\n"
      "\n"
      "Exit status: 0 every claim held, 1 a claim failed or is unhealthy, 2 bad usage, a file "
      "that\n"
      "cannot be written, or a kernel that cannot be run, 130 interrupted (Ctrl-C, SIGTERM).");
  arguments->engine.add_to(command);
  command.callback([&run, arguments] {
    run = [arguments] {
      return arguments->engine.gpu() ? check_on_gpu(*arguments) : Checker(*arguments).run();
    };
  });
}

const RegisteredCommand kCheckCommand{{.rank = 30,
                                       .name = "check",
                                       .help = "Property trials of pairs (default: of all)",
                                       .add = add_check_to}};

}  // namespace
}  // namespace warpcheck
