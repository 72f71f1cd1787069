// warpcheck replay: runs recorded cases again.
#include <fmt/format.h>

#include <memory>

#include "cli/cli.hpp"
#include "cli/gpu_command.hpp"
#include "cli/report_options.hpp"
#include "harness/case/case_file.hpp"
#include "harness/causes/find_causes.hpp"
#include "harness/pair/registry.hpp"
#include "harness/search/replay.hpp"

namespace warpcheck {
namespace {

struct ReplayArguments {
  std::vector<std::string> cases;
  CompileOption compile;
  ReportOptions reports;
  bool expect_recorded = false;
  EngineOptions engine;
  int runs = 1'000;
};

Claim claim_of(const CaseRecord& record, const ReplayOutcome& outcome, bool expect_recorded) {
  const Verdict& verdict = outcome.report.verdict;
  Claim claim{.pair = record.a_case.pair->name(), .property = record.a_case.property};
  claim.expects = record.kinds;
  claim.found = failure_kinds(verdict);
  claim.trials = 1;
  const bool as_wanted = expect_recorded ? outcome.as_recorded : !verdict.failed();
  claim.verdict = !outcome.remark.empty() ? outcome.remark
                  : as_wanted             ? "ok"
                                          : "FAIL: " + show_kinds(claim.found);
  if (!as_wanted) claim.status = Claim::Status::failed;
  if (!verdict.refusals.empty()) {
    claim.status = Claim::Status::cannot_run;
    claim.verdict = "cannot run: " + verdict.refusals.front();
  }
  return claim;
}

int run_replay(const ReplayArguments& arguments) {
  arguments.reports.check();
  CoveredEngine engine(arguments.reports.wants_coverage());
  TrialRunner runner(engine.engine());
  RunReport run;
  run.command = "replay";
  int status = kNothingFound;
  bool all_as_recorded = true;
  for (const std::string& path : arguments.cases) {
    try {
      const CaseRecord record = read_case(path, Registry::global());
      ReplayOutcome outcome = replay(record, runner);
      outcome.report.replay_path = path;
      const Verdict& verdict = outcome.report.verdict;
      find_causes(outcome.report);
      if (verdict.refusals.empty()) {
        print(report_text(outcome.report));
      } else {
        complain(fmt::format("{} cannot be run: {}", path, verdict.refusals.front()));
        status = kCannot;
      }
      if (!outcome.remark.empty()) print(fmt::format("note: {}\n", outcome.remark));
      if (verdict.failed()) status = std::max(status, kFindings);
      all_as_recorded = all_as_recorded && outcome.as_recorded;
      run.claims.push_back(claim_of(record, outcome, arguments.expect_recorded));
      run.claims.back().case_file = path;
      run.add(std::move(outcome.report));
    } catch (const CaseFileError& error) {
      // A bad file does not prevent the replay of the others.
      complain(error.what());
      status = kCannot;
      Claim claim;
      claim.case_file = path;
      claim.status = Claim::Status::cannot_run;
      claim.verdict = error.what();
      run.claims.push_back(std::move(claim));
    }
  }
  run.coverage = engine.coverage();
  arguments.reports.write(run);
  if (arguments.expect_recorded && status != kCannot) {
    return all_as_recorded ? kNothingFound : kFindings;
  }
  return status;
}

void add_replay_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ReplayArguments>();
  command.add_option("CASE", arguments->cases, "Case files")->required();
  command.add_flag("--expect-recorded", arguments->expect_recorded,
                   "Exit 0 if each case shows exactly the kinds that it recorded, else 1");
  arguments->compile.add_to(command);
  arguments->reports.add_to(command);
  command.footer(
      "The same case gives the same report, byte for byte.  If the device code has changed, the\n"
      "recorded input also runs under other schedules, and a note says so.\n"
      "\n"
      "Examples:\n"
      "  warpcheck replay fuzz/cases/scan_hillis_steele_published/*.case\n"
      "  warpcheck replay --expect-recorded fuzz/cases/*/*.case   # a regression test\n"
      "  warpcheck replay --compile never fuzz/cases/scan/3f9a.case  # by the interpreter alone\n"
      "\n"
      "Exit status: 0 no case failed, 1 one did, 2 bad usage, a file that is damaged, or a kernel\n"
      "that cannot be run.  With --expect-recorded: 0 all show what they recorded, 1 not all.");
  arguments->engine.add_to(command);
  command
      .add_option("--runs", arguments->runs,
                  "With --engine gpu: most runs of each case (with --sanitizer: one)")
      ->check(positive_number)
      ->capture_default_str();
  command.callback([&run, arguments] {
    run = [arguments] {
      if (!arguments->engine.gpu()) return run_replay(*arguments);
      if (arguments->expect_recorded) {
        throw UsageError(
            "--expect-recorded needs --engine vgpu: a real GPU does not show a failure in every "
            "run");
      }
      if (!arguments->reports.lcov.empty() || arguments->compile.is_given()) {
        throw UsageError("--lcov and --compile need --engine vgpu");
      }
      return replay_on_gpu(arguments->cases, arguments->runs, arguments->reports,
                           arguments->engine);
    };
  });
}

const RegisteredCommand kReplayCommand{
    {.rank = 40, .name = "replay", .help = "Run recorded cases again", .add = add_replay_to}};

}  // namespace
}  // namespace warpcheck
