// warpcheck exec: programs that nvcc built, as they are, on the virtual GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/cli.hpp"
#include "cli/exec/exec_arguments.hpp"
#include "cli/exec/filled_runs.hpp"
#include "cli/exec/other_schedules.hpp"
#include "cli/exec/program_causes.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/program_report.hpp"
#include "cli/exec/program_run.hpp"
#include "cli/exec/run_directory.hpp"
#include "cli/exec/supervisor.hpp"
#include "harness/case/edits_json.hpp"
#include "harness/expected/expectation_file.hpp"
#include "harness/report/source_excerpt.hpp"
#include "vgpu/cudart/memory/host_memory.hpp"
#include "vgpu/schedule/strategies.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

constexpr int kTimeUp = 124;  // the status of timeout(1)
// Of --budget.  Counted, so that the same blocks run on every machine.
constexpr double kStepsPerSecond = 1e7;
// With --sparse and --budget most of an array is never touched, and takes no memory of the host.
constexpr std::uint64_t kSparseMemoryBytes = std::uint64_t{256} << 30;

// Unless a strategy is named, the first of several runs has the default schedule. The other runs
// have schedules of the strategy (if none is named, of the strategies of a search in turn), each
// with its own seed.
struct RunSchedule {
  std::string strategy;
  std::uint64_t seed = 0;
};

RunSchedule schedule_of(const ExecArguments& arguments, int run) {
  if (run > arguments.runs) {
    const StrategyChoice other = other_schedule(run - arguments.runs);
    return {other.name, other.seed};
  }
  const bool is_named = arguments.strategy != "default";
  if (!is_named && run == 1) return {"default", 0};
  const auto further = static_cast<std::uint64_t>(is_named ? run - 1 : run - 2);
  const std::string strategy =
      is_named ? arguments.strategy : std::string(vgpu::searched_strategy(0).name);
  return {strategy, arguments.seed + further};
}

ExecStatus exit_status(const ExecArguments& arguments, const ProgramReport& report) {
  using Owner = ExecStatus::Owner;
  if (!report.refusals.empty()) return {arguments.unsupported_exit_code, Owner::refusals};
  if (report.errors() == 0 && report.timed_out) return {kTimeUp, Owner::timeout};
  if (report.errors() != 0) return {arguments.error_exit_code, Owner::findings};
  return {report.own_status, Owner::program};
}

// The changes of device code in a file (edits_json.hpp); none without a name.
ptx::Edits read_edits(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) throw UsageError(fmt::format("{} is no JSON", path));
  try {
    return edits_from(json, FieldPath("edits"));
  } catch (const FieldError& error) {
    throw UsageError(fmt::format("{}: {}", path, error.what()));
  }
}

// Those of --expect, then those of --ignore.
ExpectedFindings expected_findings(const ExecArguments& arguments) {
  ExpectedFindings expected(source_lines());
  for (const std::string& file : arguments.expect) expected.add(read_expectation_file(file));
  if (!arguments.ignore.empty()) {
    expected.add({{.files = arguments.ignore,
                   .reason = "all of its lines are in files that --ignore names"}});
  }
  return expected;
}

// The program's runs and their results.
class Execution {
 public:
  Execution(const ExecArguments& arguments, const ProgramFile& program, Supervisor& supervisor,
            const RunDirectory& directory)
      : arguments_(arguments),
        program_(program),
        settings_(arguments.settings()),
        supervisor_(supervisor),
        runner_(supervisor, program.path, {arguments.command.begin() + 1, arguments.command.end()},
                drop_in_directory(), directory.path()),
        comparison_(runner_.directory(),
                    [this](int run, const auto& kept, const auto& standard_output) {
                      return repeat({run, arguments_.heap.value_or(0), kept, standard_output});
                    }),
        filled_({.runs = arguments.runs,
                 .heap = arguments.heap,
                 .timeout_s = arguments.timeout_s,
                 .finds_decided =
                     arguments.compares_outputs() && settings_.checkers.finds_unwritten_values()},
                runner_, [this](const HostHeap::Wanted& wanted) { return repeat(wanted); }),
        report_(expected_findings(arguments), arguments.command.front()) {
    comparison_.follow_with([this](int run, std::uint32_t operation, std::uint64_t byte) {
      return repeat({.run = run,
                     .heap = arguments_.heap.value_or(0),
                     .standard_output = runner_.directory() / "followed-output"},
                    operation, byte);
    });
    report_.is_profiled = arguments.profile.is_wanted();
    report_.arguments.assign(arguments.command.begin() + 1, arguments.command.end());
    report_.full_names = arguments.full_names;
    if (arguments.runs > 1) runner_.share_input();
    const ReportOptions files = arguments.reports.rewritable();
    if (files.wants_any()) {
      runner_.on_progress([this, files](const ProgramRun& run) { write_so_far(files, run); });
    }
  }

  int run() {
    for (int i = 1; i <= arguments_.runs && !supervisor_.is_stopped(); ++i) {
      const unsigned heap = filled_.heap_of(i);
      filled_.limit_time(heap);
      const auto begin = std::chrono::steady_clock::now();
      const double cpu_begin = cpu_seconds_of_children();
      ProgramRun run = runner_.run(settings_of_run(i));
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      const bool is_cut = !filled_.add(i, run, took.count(), report_);
      const std::uint64_t errors = report_.errors();
      report_.add(run, heap);
      if (i == 1 && looks_again()) {
        first_ = {.number = 1,
                  .run = run,
                  .seconds = took.count(),
                  .cpu_seconds = cpu_seconds_of_children() - cpu_begin};
      }
      if (!first_failing_ && report_.errors() != errors && heap == 0 && !is_cut) {
        first_failing_ = {.number = i,
                          .run = run,
                          .seconds = took.count(),
                          .cpu_seconds = cpu_seconds_of_children() - cpu_begin};
      }
      if (arguments_.compares_outputs()) comparison_.add(output_of(run));
      if (is_cut) comparison_.leave_out(i);
      if (run.timed_out) break;
      // Ctrl-C ends all runs, also if only the program received it.
      if (run.signal == SIGINT || run.signal == SIGQUIT) break;
    }
    if (report_.runs < arguments_.runs) report_.is_complete = false;
    const bool is_cut = supervisor_.is_stopped() || report_.timed_out;
    if (arguments_.compares_outputs() && !is_cut) compare_outputs();
    if (first_ && report_.errors() == 0 && !is_cut && report_.is_complete) {
      first_failing_ = look_again(report_, explained_run(*first_), supervisor_, runner_);
    }
    if (first_failing_ && !is_cut && arguments_.causes_steps != 0) {
      explain(report_, *first_failing_, settings_of_run(first_failing_->number),
              arguments_.causes_steps, supervisor_, runner_);
    }
    return report();
  }

 private:
  // Whether the program is looked at under other schedules if it shows no error under the default.
  [[nodiscard]] bool looks_again() const {
    return arguments_.strategy == "default" && arguments_.causes_steps != 0;
  }

  [[nodiscard]] ExplainedRun explained_run(const TimedRun& of) const {
    return {.run = &of.run,
            .settings = settings_of_run(of.number),
            .findings = {},
            .seconds = of.seconds,
            .cpu_seconds = of.cpu_seconds,
            .steps_max = arguments_.causes_steps};
  }

  cudart::ExecSettings settings_of_run(int run) const {
    const RunSchedule schedule = schedule_of(arguments_, run);
    return {.records = {},
            .checkers = settings_.checkers,
            .warp_model = settings_.warp_model,
            .strategy = schedule.strategy,
            .seed = schedule.seed,
            .steps_max = settings_.limits.steps_max,
            .devices = arguments_.devices,
            .memory_bytes = memory_bytes_,
            .jobs = arguments_.jobs,
            .sparse = arguments_.sparse,
            .steps_budget = static_cast<std::uint64_t>(arguments_.budget_s * kStepsPerSecond),
            .compile = settings_.limits.compile,
            .fresh_pattern = arguments_.fresh == "pattern",
            .device = arguments_.compute_capability(),
            .leaks = arguments_.leaks,
            .host_bytes = arguments_.compares_outputs(),
            .heap = filled_.heap_of(run),
            .trace_file = arguments_.trace.file,
            .trace = run == 1 ? arguments_.trace.settings() : "",
            .launch_worker = run == 1 && !arguments_.against.empty()
                                 ? std::filesystem::read_symlink("/proc/self/exe").string()
                                 : "",
            .profile = run == 1 && arguments_.profile.is_wanted(),
            .prove = arguments_.prove && run == 1,
            .edits = edits_};
  }

  // Repeats a run for a comparison.
  //   ordered_operation, ordered_byte: as in ExecSettings
  ProgramRun repeat(const HostHeap::Wanted& wanted, std::uint32_t ordered_operation = ptx::kNone,
                    std::uint64_t ordered_byte = 0) {
    cudart::ExecSettings settings = settings_of_run(wanted.run);
    settings.trace.clear();
    settings.launch_worker.clear();
    settings.profile = false;
    settings.kept_bytes = wanted.kept;
    settings.heap = wanted.heap;
    settings.host_inputs = true;
    settings.ordered_operation = ordered_operation;
    settings.ordered_byte = ordered_byte;
    filled_.limit_time(wanted.heap);
    return runner_.run(std::move(settings), wanted.standard_output);
  }

  std::string options_of_run(int run) const {
    const RunSchedule schedule = schedule_of(arguments_, run);
    return fmt::format("--strategy {} --seed {}", schedule.strategy, schedule.seed);
  }

  void compare_outputs() {
    filled_.examine(comparison_, report_, supervisor_);
    const bool is_default = schedule_of(arguments_, 1).strategy == "default";
    const auto found = comparison_.find(is_default ? "the default schedule"
                                                   : fmt::format("{} (run 1)", options_of_run(1)));
    if (found) report_.add(found->finding, found->run);
    report_.is_unsteady = !found && comparison_.is_unsteady();
  }

  // For --write-expect: the findings that are new.
  void write_expectations() const {
    if (arguments_.write_expect.empty()) return;
    const std::string name = std::filesystem::path(report_.program).filename().string();
    const std::size_t added = add_expectations(arguments_.write_expect, name,
                                               report_.findings_to_expect(), source_lines());
    std::fputs(fmt::format("========= {} written to {}\n", counted(added, "expectation"),
                           arguments_.write_expect)
                   .c_str(),
               stderr);
  }

  // The command that opens a run in the debugger.
  [[nodiscard]] std::string debug_command(int run) const {
    const bool is_default = schedule_of(arguments_, run).strategy == "default";
    std::string text =
        fmt::format("warpcheck debug {}--", is_default ? "" : options_of_run(run) + " ");
    for (const std::string& word : arguments_.command) text += " " + shell_word(word);
    return text;
  }

  // Names that of the first run with an error; empty: there is none.
  [[nodiscard]] std::string debug_text() const {
    if (report_.errors() == 0) return {};
    const auto error = std::ranges::find(report_.findings, vgpu::Severity::error,
                                         [](const auto& found) { return found.finding.severity; });
    const int run = error == report_.findings.end() ? 1 : error->run;
    return fmt::format("========= debug: {}\n", debug_command(run));
  }

  int report() {
    const auto options = [this](int run) { return options_of_run(run); };
    std::fputs((exec_text(report_, options) + debug_text() + time_text(report_)).c_str(), stderr);
    ExecStatus status = exit_status(arguments_, report_);
    RunReport files = run_report(report_, settings_);
    for (const ProgramReport::Found& found : report_.findings) {
      files.debug_commands.push_back(debug_command(found.run));
    }
    std::string unwritten;
    const auto write = [&](const auto& step) {
      try {
        step();
      } catch (const std::exception& error) {
        unwritten += (unwritten.empty() ? "" : "; ") + std::string(error.what());
        status = {kCannot, ExecStatus::Owner::unwritten};
      }
    };
    write([&] { arguments_.reports.write(files); });
    write([&] { write_expectations(); });
    // Only the first run is traced and counted.
    const bool is_cut = (!report_.deaths.empty() && report_.deaths.front().run == 1) ||
                        (report_.timed_out && report_.runs == 1);
    if (is_cut && !arguments_.trace.file.empty()) {
      std::fputs("========= trace: the program was killed, so its last steps may be missing\n",
                 stderr);
    }
    write([&] { arguments_.trace.end(is_cut); });
    if (files.profile) {
      write([&] {
        std::fputs(prefixed_lines(arguments_.profile.write(*files.profile, is_cut)).c_str(),
                   stderr);
      });
    }
    if (!unwritten.empty()) complain(unwritten);
    if (const std::string why = why_past_our_runtime(); !why.empty()) {
      complain(fmt::format("{}: {}", report_.program, why));
      status = {arguments_.unsupported_exit_code, ExecStatus::Owner::refusals};
    }
    std::fputs(status_text(report_, status).c_str(), stderr);
    return status.status;
  }

  // Why the program has run but not on the virtual GPU; empty: it has, or it ended early.
  [[nodiscard]] std::string why_past_our_runtime() const {
    using Runtime = ProgramFile::Runtime;
    if (report_.runtime_loaded) return {};
    if (program_.runtime == Runtime::shared && report_.own_status == 0) {
      return fmt::format(
          "the {} that it needs was not led to the virtual GPU; can {}/{} be loaded?",
          program_.needed_library, drop_in_directory(), kRedirectLibrary);
    }
    // Kernels are registered before main; an error of the dynamic linker gives 127, signals give
    // more.
    constexpr int kNotStarted = 127;
    if (program_.runtime == Runtime::toolkit && program_.has_device_code &&
        report_.own_status < kNotStarted && report_.refusals.empty()) {
      return fmt::format(
          "the static CUDA runtime in it was not led to the virtual GPU; can {}/{} be loaded?",
          drop_in_directory(), kRedirectLibrary);
    }
    return {};
  }

  // Writes the results so far during a run, so that a report exists whatever happens.
  void write_so_far(const ReportOptions& files, const ProgramRun& run) const {
    ProgramReport report = report_;
    report.add(run);
    report.is_complete = false;
    RunReport so_far = run_report(report, settings_);
    try {
      files.write(so_far);
    } catch (const std::exception&) {  // the last write reports it
    }
  }

  const ExecArguments& arguments_;
  const ProgramFile& program_;
  // Found once, so that all runs have devices of one size.
  const std::uint64_t memory_bytes_ = arguments_.memory_bytes != 0 ? arguments_.memory_bytes
                                      : arguments_.sparse || arguments_.budget_s > 0.0
                                          ? kSparseMemoryBytes
                                          : cudart::device_memory_of_host();
  Settings settings_;
  const ptx::Edits edits_ = read_edits(arguments_.edits);
  Supervisor& supervisor_;
  ProgramRunner runner_;
  std::optional<TimedRun> first_;  // to look at again
  std::optional<TimedRun> first_failing_;
  OutputComparison comparison_;
  FilledRuns filled_;
  ProgramReport report_;
};

int run_exec(ExecArguments arguments) {
  arguments.reports.check();
  arguments.profile.check();
  arguments.trace.begin();
  (void)expected_findings(arguments);  // before anything runs
  (void)read_edits(arguments.edits);
  const ProgramFile program = find_program(arguments.command.front());
  try {
    require_our_runtime(program);
  } catch (const ProgramError& error) {
    complain(error.what());
    return arguments.unsupported_exit_code;
  }
  const RunDirectory directory;
  return Supervisor::run([&](Supervisor& supervisor) {
    return Execution(arguments, program, supervisor, directory).run();
  });
}

void add_exec_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ExecArguments>();
  arguments->add_to(command);
  command.footer(
      "PROGRAM is what nvcc built, unmodified.  Build it with -lineinfo to get source lines.  A\n"
      "stripped program must be linked with `-cudart shared`, or with `-L DIR`, where DIR is what\n"
      "`warpcheck libdir` prints.\n"
      "\n"
      "Examples:\n"
      "  nvcc -lineinfo scan.cu -o scan && warpcheck exec -- ./scan\n"
      "  warpcheck exec --runs 10 --sarif scan.sarif -- ./scan 1000\n"
      "\n"
      "Exit status: that of the program (128 + n: killed by signal n); --error-exitcode if errors\n"
      "were found; --unsupported-exitcode if something is not supported; 124 after --timeout;\n"
      "2 bad usage.  The last line of the report says which of these it is.");
  command.callback([&run, arguments] { run = [arguments] { return run_exec(*arguments); }; });
}

const RegisteredCommand kExecCommand{{.rank = 100,
                                      .name = "exec",
                                      .help = "Run a CUDA program on the virtual GPU",
                                      .add = add_exec_to}};

}  // namespace
}  // namespace warpcheck
