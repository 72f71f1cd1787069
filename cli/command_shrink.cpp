// warpcheck shrink: the smallest case that fails in the same way.
#include <fmt/format.h>

#include <memory>

#include "cli/cli.hpp"
#include "cli/report_options.hpp"
#include "harness/case/case_file.hpp"
#include "harness/causes/find_causes.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/progress.hpp"
#include "harness/shrink/shrink.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

struct ShrinkArguments {
  std::string input;
  std::string output;
  std::vector<std::string> kinds;
  CompileOption compile;
  ReportOptions reports;
  ShrinkOptions shrink;
};

// The part of a failure's class that has these kinds.
FailureClass part_of(const Verdict& verdict, const std::vector<std::string>& names) {
  std::vector<vgpu::Finding> part;
  for (const std::string& name : names) {
    vgpu::FindingKind kind{};
    if (!vgpu::find_kind(name, kind)) {
      throw UsageError(fmt::format("'{}' is not a finding kind", name));
    }
    for (const vgpu::Finding& finding : verdict.findings) {
      if (finding.kind == kind) part.push_back(finding);
    }
  }
  return failure_class(part);
}

void write_reports(const ReportOptions& options, Report report,
                   std::optional<LineCoverage> coverage) {
  RunReport run;
  run.command = "shrink";
  Claim claim{.pair = report.a_case.pair->name(), .property = report.a_case.property};
  claim.expects = report.a_case.pair->expects();
  claim.found = failure_kinds(report.verdict);
  claim.trials = report.search->trials;
  claim.status = Claim::Status::failed;
  claim.verdict = "FAIL: " + show_kinds(claim.found);
  run.claims.push_back(std::move(claim));
  run.add(std::move(report));
  run.coverage = std::move(coverage);
  options.write(run);
}

int run_shrink(ShrinkArguments arguments) {
  arguments.reports.check();
  const CaseRecord record = read_case(arguments.input, Registry::global());
  CoveredEngine engine(arguments.reports.wants_coverage());
  TrialRunner runner(engine.engine());
  const Verdict verdict = runner.run(record.a_case);
  if (!verdict.refusals.empty()) throw UsageError("cannot run: " + verdict.refusals.front());
  if (!verdict.failed()) {
    throw UsageError(fmt::format("{} does not fail: there is nothing to shrink", arguments.input));
  }
  if (!arguments.kinds.empty()) {
    arguments.shrink.target = part_of(verdict, arguments.kinds);
  }
  Progress progress;
  arguments.shrink.on_trial = [&](std::uint64_t trials, std::uint64_t shrinks) {
    progress.show([&] {
      return fmt::format("shrinking: {}, {}", counted(trials, "trial"), counted(shrinks, "shrink"));
    });
  };
  const ShrunkCase shrunk = shrink(record.a_case, runner, arguments.shrink);
  progress.clear();
  if (!shrunk.kept) {
    throw UsageError(fmt::format("{}: no case with only these kinds was found", arguments.input));
  }
  Report report{.a_case = shrunk.a_case,
                .verdict = shrunk.verdict,
                .search = Report::Search{.trials = shrunk.trials,
                                         .shrinks = shrunk.shrinks,
                                         .complete = shrunk.complete},
                .replay_path = arguments.output};
  find_causes(report);
  try {
    write_case(arguments.output, record_of(shrunk.a_case, shrunk.verdict));
  } catch (const CaseFileError& error) {
    report.replay_path.clear();
    print(report_text(report));
    throw;
  }
  print(report_text(report));
  write_reports(arguments.reports, std::move(report), engine.coverage());
  return kFindings;
}

void add_shrink_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ShrinkArguments>();
  command.add_option("CASE", arguments->input, "Case file")->required();
  command.add_option("-o,--output", arguments->output, "Case file to write")->required();
  command
      .add_option("--kinds", arguments->kinds,
                  "Shrink to a failure of exactly these kinds (default: all kinds of the case)")
      ->delimiter(',');
  command.add_option("--trials", arguments->shrink.trials_max, "Most trials")
      ->capture_default_str();
  arguments->compile.add_to(command);
  arguments->reports.add_to(command);
  command.footer(
      "The case may come from anywhere, a text editor included.\n"
      "\n"
      "Examples:\n"
      "  warpcheck shrink large.case -o small.case\n"
      "  warpcheck shrink both.case --kinds mismatch -o mismatch.case\n"
      "\n"
      "Exit status: 1 shrunk (the case fails, so there is a finding), 2 bad usage, a bad file, or "
      "a\n"
      "case that does not fail.");
  command.callback([&run, arguments] { run = [arguments] { return run_shrink(*arguments); }; });
}

const RegisteredCommand kShrinkCommand{{.rank = 50,
                                        .name = "shrink",
                                        .help = "Find the smallest case that fails in the same way",
                                        .add = add_shrink_to}};

}  // namespace
}  // namespace warpcheck
