// warpcheck trace: what ran in a case, an instruction a line.
#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "cli/cli.hpp"
#include "cli/look/trace_arguments.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/search/replay.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/check/trace/trace.hpp"
#include "vgpu/schedule/logged.hpp"
#include "vgpu/schedule/replay.hpp"

namespace warpcheck {
namespace {

struct TraceCommandArguments {
  std::string input;
  TraceArguments trace;
};

// Whether a finding is made after the run, by its output.
bool is_of_output(const vgpu::Finding& finding) { return finding.accesses.empty(); }

// Runs the case once to learn what is found, and once more to write what ran.
int run_trace(TraceCommandArguments arguments) {
  const vgpu::TraceOptions options = arguments.trace.value();
  const std::string& file = arguments.trace.file;
  const CaseRecord record = read_case(arguments.input, Registry::global());
  TrialRunner runner;
  const ReplayOutcome outcome = replay(record, runner);
  const Verdict& verdict = outcome.report.verdict;
  if (!verdict.refusals.empty()) {
    throw UsageError(
        fmt::format("{} cannot be run: {}", arguments.input, verdict.refusals.front()));
  }
  if (!outcome.remark.empty()) complain("note: " + outcome.remark);

  arguments.trace.begin();
  vgpu::Trace trace(options, file);
  for (const vgpu::Finding& finding : verdict.findings) trace.show_threads_of(finding);
  FirstTrialWatched engine(virtual_gpu(), trace,
                           [&](const vgpu::Finding& finding) { trace.found(finding); });
  vgpu::Replay recorded(verdict.schedule);
  vgpu::LoggedStrategy strategy(recorded,
                                [&](const vgpu::Decision& decision) { trace.decided(decision); });
  static_cast<void>(TrialRunner(engine).run(outcome.report.a_case, strategy));
  for (const vgpu::Finding& finding : verdict.findings) {
    if (is_of_output(finding)) trace.found(finding);
  }
  trace.end();
  if (trace.error() != 0) {
    throw UsageError(fmt::format("cannot write to {}: {}", file.empty() ? "standard output" : file,
                                 std::strerror(trace.error())));
  }
  arguments.trace.end();
  return kNothingFound;
}

void add_trace_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<TraceCommandArguments>();
  command.add_option("CASE", arguments->input, "Case file")->required();
  command.add_option("-o,--output", arguments->trace.file,
                     "File to write (default: standard output)");
  arguments->trace.add_to(command);
  command.footer(
      "A line is an instruction of a warp: its step in the launch, block, warp, lanes, source "
      "line,\n"
      "PTX, and of the shown lanes the registers that it reads and writes, and memory.  Findings,\n"
      "barriers, decisions of the schedule, and lanes that part and meet stand where they occur.\n"
      "\n"
      "Examples:\n"
      "  warpcheck trace fuzz/cases/scan_hillis_steele_published/cc66.case\n"
      "  warpcheck trace scan.case --lines scan.cu:14 --lanes 1,2\n"
      "  warpcheck trace scan.case -o scan.json --accesses   # for ui.perfetto.dev\n"
      "\n"
      "Exit status: 0 written, 2 bad usage, a damaged file, a kernel that cannot be run, or a "
      "trace\n"
      "that cannot be written.");
  command.callback([&run, arguments] { run = [arguments] { return run_trace(*arguments); }; });
}

const RegisteredCommand kTraceCommand{{.rank = 55,
                                       .name = "trace",
                                       .help = "Write what ran in a case, an instruction a line",
                                       .add = add_trace_to}};

}  // namespace
}  // namespace warpcheck
