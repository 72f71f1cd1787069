// warpcheck fuzz: coverage-guided search of one pair (fuzz/).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/cli.hpp"
#include "cli/report_options.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/worst_case.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/project.hpp"
#include "harness/process/progress.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

struct FuzzArguments {
  FuzzOptions fuzz;
  std::string pair;
  bool no_feedback = false;
  ConfigurationOptions configuration{.build = "both", .warp_model = "both"};
  CompileOption compile;
  std::string maximise;  // the name of a goal; empty: searches for failures
  ReportOptions reports;
};

RunReport report_of(const AnyPair& pair, FuzzOutcome outcome) {
  RunReport run;
  run.command = "fuzz";
  run.coverage = std::move(outcome.coverage);
  Claim claim{.pair = pair.name()};
  claim.expects = pair.expects();
  claim.found = outcome.kinds();
  claim.trials = outcome.executions;
  claim.beyond = outcome.beyond;
  claim.verdict = claim.found.empty() ? "ok" : "FAIL: " + show_kinds(claim.found);
  if (!claim.found.empty()) claim.status = Claim::Status::failed;
  if (!outcome.errors.empty()) {
    claim.status = Claim::Status::cannot_run;
    claim.verdict = outcome.errors.front();
  }
  run.claims.push_back(std::move(claim));
  for (Report& report : outcome.reports) run.add(std::move(report));
  return run;
}

// With --maximise: finds the input with most of a count, and keeps it as a case.
int run_worst_case(const FuzzArguments& arguments) {
  const FuzzOptions& fuzz = arguments.fuzz;
  if (fuzz.jobs != 1 || !fuzz.corpus.empty() || arguments.no_feedback || fuzz.stop_when_found ||
      arguments.reports.wants_any()) {
    throw UsageError(
        "--maximise searches in one process and makes no report: it goes with --seconds, --runs, "
        "--seed, --build, --warp-model, --cases and --compile");
  }
  const auto settings = arguments.configuration.settings();
  const auto& goals = worst_case_goals();
  WorstCaseOptions options{
      .pair = fuzz.pair,
      .goal = &*std::ranges::find(goals, arguments.maximise, &WorstCaseGoal::name),
      .seconds = fuzz.seconds,
      .executions = fuzz.executions,
      .seed = fuzz.seed,
      .settings = settings.front(),
      .stop = fuzz.stop};
  const WorstCase worst = find_worst_case(options);
  if (worst.a_case.pair == nullptr) {
    complain(fmt::format("fuzz {}: no input was drawn", fuzz.pair->name()));
    return kCannot;
  }
  const auto path = std::filesystem::path(fuzz.cases) / fuzz.pair->name() /
                    fmt::format("most-{}.case", arguments.maximise);
  std::filesystem::create_directories(path.parent_path());
  write_case(path, record_of(worst.a_case, TrialRunner().run(worst.a_case)));
  const std::string kept = worst.text == worst.worst_text ? "" : fmt::format(" ({})", worst.text);
  print(fmt::format(
      "{}: {}, the first input had {}; {}\n  input{}: {}\nreplay: {} replay {}\n",
      fuzz.pair->name(), worst.worst_text, worst.first_text, counted(worst.executions, "execution"),
      kept, fuzz.pair->summary(worst.a_case.input), project().program, shell_word(path.string())));
  return *fuzz.stop != 0 ? kInterrupted : kNothingFound;
}

int run_fuzz_command(FuzzArguments arguments) {
  arguments.reports.check();
  FuzzOptions& fuzz = arguments.fuzz;
  fuzz.coverage = arguments.reports.wants_coverage();
  fuzz.pair = pairs_named({arguments.pair}).front();
  fuzz.feedback = !arguments.no_feedback;
  fuzz.stop = watch_interrupts();
  // A single value fixes the setting; "both" leaves the choice to the inputs.
  const auto settings = arguments.configuration.settings();
  if (arguments.configuration.build != kBoth) fuzz.build = settings.front().build;
  if (arguments.configuration.warp_model != kBoth) fuzz.warp_model = settings.front().warp_model;
  if (fuzz.seconds == 0 && fuzz.executions == 0) {
    throw UsageError("fuzz needs a limit: give --seconds or --runs");
  }
  if (!arguments.maximise.empty()) return run_worst_case(arguments);
  Progress progress;
  fuzz.on_wait = [&] {
    progress.show([&] {
      const std::string limit = fuzz.seconds == 0 ? "" : fmt::format(", for {} s", fuzz.seconds);
      return fmt::format("fuzzing {} in {}{}", fuzz.pair->name(), counted(fuzz.jobs, "job"), limit);
    });
  };
  fuzz.on_done = [&] { progress.clear(); };
  FuzzOutcome outcome = run_fuzz(fuzz);
  const bool errors = !outcome.errors.empty();
  for (const Report& report : outcome.reports) print(report_text(report) + "\n");
  print(fmt::format("{}: {}, {}{}\n", fuzz.pair->name(), counted(outcome.executions, "execution"),
                    counted(outcome.reports.size(), "failure"), outcome.beyond.text()));
  for (const std::string& error : outcome.errors) {
    complain(fmt::format("fuzz {}: {}", fuzz.pair->name(), error));
  }
  RunReport run = report_of(*fuzz.pair, std::move(outcome));
  arguments.reports.write(run);
  if (*fuzz.stop != 0) return kInterrupted;
  if (errors) return kCannot;
  return run.reports.empty() ? kNothingFound : kFindings;
}

void add_fuzz_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<FuzzArguments>();
  FuzzOptions& fuzz = arguments->fuzz;
  command.add_option("PAIR", arguments->pair, "Pair to fuzz")->required();
  command.add_option("--seconds", fuzz.seconds, "Seconds of each job at most; 0: no limit")
      ->check(non_negative_number)
      ->capture_default_str();
  command.add_option("--runs", fuzz.executions, "Executions of each job at most; 0: no limit")
      ->check(non_negative_number)
      ->capture_default_str();
  command.add_option("--jobs", fuzz.jobs, "Processes")
      ->check(positive_number)
      ->capture_default_str();
  command.add_option("--seed", fuzz.seed, "Seed of the search")->capture_default_str();
  command.add_option("--corpus", fuzz.corpus, "Directory of saved inputs");
  command.add_flag("--no-feedback", arguments->no_feedback,
                   "Search without coverage feedback, for comparison");
  command.add_flag(
      "--stop-when-found", fuzz.stop_when_found,
      "End at the first failure (for a specimen: when all its finding kinds were found)");
  std::vector<std::string> goals;
  for (const WorstCaseGoal& goal : worst_case_goals()) goals.emplace_back(goal.name);
  command
      .add_option("--maximise", arguments->maximise,
                  "Search for the input with most bank conflicts, excess sectors, contended lanes "
                  "of atomics, or branches at which lanes part, instead of for failures; or with "
                  "the largest error of an output, NaNs, or comparisons that rounding decides")
      ->check(CLI::IsMember(goals));
  arguments->configuration.add_to(command);
  command.add_option("--cases", fuzz.cases, "Directory for the cases of failures")
      ->capture_default_str();
  arguments->compile.add_to(command);
  arguments->reports.add_to(command);
  command.footer(
      "libFuzzer searches for inputs and schedules that reach new coverage.  A failure is shrunk\n"
      "and saved as a case, and the search continues.  For other fuzzing engines and machines:\n"
      "docs/use/fuzzing-services.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck fuzz scan_tree                                     for a minute\n"
      "  warpcheck fuzz scan_tree --seconds 3600 --jobs 4 --corpus corpus/scan_tree\n"
      "  warpcheck fuzz scan_tree --runs 20000 --seed 3               the same on every machine\n"
      "  warpcheck fuzz histogram_shared --maximise conflicts         the worst input for its "
      "banks\n"
      "  warpcheck fuzz kahan_sum_plain --maximise error              the input of which most "
      "digits "
      "are lost\n"
      "\n"
      "Exit status: 0 nothing found, 1 findings, 2 bad usage, a file that cannot be written, or "
      "host\n"
      "code that crashed, 130 interrupted (Ctrl-C, SIGTERM).");
  command.callback(
      [&run, arguments] { run = [arguments] { return run_fuzz_command(*arguments); }; });
}

const RegisteredCommand kFuzzCommand{
    {.rank = 70, .name = "fuzz", .help = "Coverage-guided search of one pair", .add = add_fuzz_to}};

}  // namespace
}  // namespace warpcheck
