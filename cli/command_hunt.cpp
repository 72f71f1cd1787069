// warpcheck hunt: all pairs, every defect found, shrunk and explained.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "cli/cli.hpp"
#include "cli/report_options.hpp"
#include "harness/causes/find_causes.hpp"
#include "harness/input/json.hpp"
#include "harness/process/progress.hpp"
#include "harness/search/check.hpp"
#include "harness/search/hunt.hpp"

namespace warpcheck {
namespace {

struct HuntArguments {
  HuntOptions hunt;
  std::vector<std::string> pairs;
  std::string cases = "fuzz/cases";
  CompileOption compile;
  ReportOptions reports;
};

// Saves the cases of all failures and prints them; `saved` becomes false if one could not be saved.
RunReport report_of(std::vector<PairOutcome>& outcomes, const std::string& cases, bool& saved) {
  RunReport run;
  run.command = "hunt";
  run.health = Json::array();
  for (PairOutcome& outcome : outcomes) {
    Claim claim{.pair = outcome.pair->name()};
    claim.expects = outcome.pair->expects();
    claim.found = outcome.found;
    claim.trials = outcome.trials;
    claim.verdict = verdict_text(outcome);
    if (outcome.as_expected()) claim.beyond = outcome.beyond;
    if (!outcome.as_expected()) {
      const bool is_judged = outcome.errors.empty() && !outcome.is_undecided();
      claim.status = is_judged ? Claim::Status::failed : Claim::Status::cannot_run;
    }
    run.claims.push_back(std::move(claim));
    for (const UnhealthyClaim& unhealthy : outcome.unhealthy) {
      print(health_text(claim_title(*outcome.pair, unhealthy.property), unhealthy.trials,
                        unhealthy.problems) +
            "\n");
      run.add_health(outcome.pair->name(), unhealthy.property, unhealthy.problems);
    }
    for (Report& report : outcome.reports) {
      saved = save_case(report, cases) && saved;
      find_causes(report);
      print(report_text(report) + "\n");
      run.add(report);
    }
    if (!outcome.coverage) continue;
    if (!run.coverage) run.coverage.emplace();
    run.coverage->add(*outcome.coverage);
  }
  return run;
}

int run_hunt(const HuntArguments& arguments) {
  arguments.reports.check();
  const auto begin = std::chrono::steady_clock::now();
  HuntOptions options = arguments.hunt;
  options.pairs = pairs_named(arguments.pairs);
  options.coverage = arguments.reports.wants_coverage();
  const volatile std::sig_atomic_t* interrupt = watch_interrupts();
  Progress progress;
  options.on_wait = [&](std::size_t done, std::size_t all) {
    progress.show([&] { return fmt::format("hunting: {} of {} searches done", done, all); });
  };
  std::vector<PairOutcome> outcomes = hunt(options, interrupt);
  progress.clear();
  bool saved = true;
  RunReport report = report_of(outcomes, arguments.cases, saved);
  print(hunt_table(outcomes));
  arguments.reports.write(report);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::fputs(fmt::format("{:.1f} s\n", took.count()).c_str(), stderr);
  if (*interrupt != 0) return kInterrupted;
  const bool errors =
      std::ranges::any_of(outcomes, [](const PairOutcome& o) { return !o.errors.empty(); });
  if (!saved || errors) return kCannot;
  return std::ranges::all_of(outcomes, &PairOutcome::as_expected) ? kNothingFound : kFindings;
}

void add_hunt_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<HuntArguments>();
  HuntOptions& hunt = arguments->hunt;
  hunt.jobs = std::max(1u, std::thread::hardware_concurrency());
  command.add_option("--pairs", arguments->pairs, "Hunt only in these pairs")->delimiter(',');
  command
      .add_option(
          "--seconds", hunt.seconds,
          "After these trials, go on with pairs that have not failed until this many seconds "
          "have passed")
      ->check(non_negative_number);
  command.add_option("--seed", hunt.seed, "Seed; the same seed gives the same findings")
      ->capture_default_str();
  command.add_option("--trials", hunt.trials, "Trials of each pair, build and warp model")
      ->check(positive_number)
      ->capture_default_str();
  command.add_option("--jobs", hunt.jobs, "Processes")
      ->check(positive_number)
      ->capture_default_str();
  command.add_option("--cases", arguments->cases, "Directory for the cases")->capture_default_str();
  arguments->compile.add_to(command);
  arguments->reports.add_to(command);
  command.footer(
      "A pair is as expected when every kind of finding that it declares was found, and no other.\n"
      "A pair that declares none must stay clean.  No claim may be UNHEALTHY: a claim that could\n"
      "not have failed (docs/use/command-line.md).\n"
      "\n"
      "Examples:\n"
      "  warpcheck hunt                                   all pairs\n"
      "  warpcheck hunt --pairs scan_tree,scan_pairs --seed 7\n"
      "  warpcheck hunt --seconds 600                     for at least ten minutes\n"
      "\n"
      "Exit status: 0 every pair as expected, 1 some are not, 2 bad usage, a file that cannot be\n"
      "written, or a pair that cannot be run, 130 interrupted (Ctrl-C, SIGTERM).");
  command.callback([&run, arguments] { run = [arguments] { return run_hunt(*arguments); }; });
}

const RegisteredCommand kHuntCommand{
    {.rank = 20,
     .name = "hunt",
     .help = "Check all pairs, in both builds and warp models, against what they expect",
     .add = add_hunt_to}};

}  // namespace
}  // namespace warpcheck
