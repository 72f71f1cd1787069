// warpcheck exec: programs that nvcc built, as they are, on the virtual GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "cli/cli.hpp"
#include "cli/exec/filled_runs.hpp"
#include "cli/exec/program_causes.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/program_report.hpp"
#include "cli/exec/program_run.hpp"
#include "cli/exec/run_directory.hpp"
#include "cli/exec/supervisor.hpp"
#include "cli/look/profile_arguments.hpp"
#include "cli/look/trace_arguments.hpp"
#include "cli/report_options.hpp"
#include "harness/case/edits_json.hpp"
#include "harness/expected/expectation_file.hpp"
#include "harness/report/source_excerpt.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/memory/host_memory.hpp"
#include "vgpu/schedule/strategies.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

constexpr const char* kNewest = "newest";
constexpr unsigned kJobsMax = 1024;
constexpr int kTimeUp = 124;  // the status of timeout(1)
// Of --budget.  Counted, so that the same blocks run on every machine.
constexpr double kStepsPerSecond = 1e7;
// With --sparse most of an array is never touched, and takes no memory of the host.
constexpr std::uint64_t kSparseMemoryBytes = std::uint64_t{256} << 30;
constexpr const char* kOutputCheck = "output";     // for several runs; not a checker
constexpr const char* kDefaultChecks = "default";  // all checks that are on by default

struct ExecArguments {
  std::vector<std::string> command;  // the program and its arguments
  std::vector<std::string> checks;   // empty: all
  std::string warp_model = "independent";
  std::string volatile_accesses = "strong";
  std::string init = "deciding";  // or strict
  std::string strategy = "default";
  std::uint64_t seed = 1;
  int runs = 1;
  std::uint64_t steps_max = vgpu::kNoLimit;
  double timeout_s = 0;          // of a run; 0: none
  std::string device = kNewest;  // or sm_NN
  bool portable = false;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1u, kJobsMax);
  unsigned devices = 1;
  bool prove = false;
  bool sparse = false;
  double budget_s = 0;             // 0: none
  std::uint64_t memory_bytes = 0;  // 0: what the host can provide
  std::string fresh = "zeros";     // or pattern
  // What fills the host's heap; 0: nothing.  Not set: in some of several runs.
  std::optional<unsigned> heap;
  CompileOption compile;
  std::string edits;  // a file; empty: the device code is not changed
  // Steps of experiments that group findings, besides as many as the run has; 0: by rules alone.
  std::uint64_t causes_steps = kStepsOfPrograms;
  bool leaks = false;
  bool full_names = false;
  std::vector<std::string> ignore;  // patterns of files
  std::vector<std::string> expect;  // files
  std::string write_expect;         // a file; empty: none
  int error_exit_code = 66;
  int unsupported_exit_code = kCannot;
  std::string against;   // gpu; empty: launches are compared with no other device
  TraceArguments trace;  // without a file: nothing is traced
  ProfileArguments profile;
  ReportOptions reports;
};

// Returns whether --check names a check, or all that are on by default.
bool asks_for(const ExecArguments& arguments, std::string_view check) {
  const auto& checks = arguments.checks;
  if (checks.empty()) return check == kDefaultChecks;
  return std::ranges::find(checks, check) != checks.end();
}

Settings settings_of(const ExecArguments& arguments) {
  Settings settings;
  if (arguments.warp_model == "lockstep") settings.warp_model = vgpu::WarpModel::lockstep;
  for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
    settings.checkers.*row.enabled =
        (row.by_default && asks_for(arguments, kDefaultChecks)) || asks_for(arguments, row.name);
  }
  settings.checkers.portable = arguments.portable;
  settings.checkers.volatile_is_weak = arguments.volatile_accesses == kVolatileNames[1].second;
  settings.checkers.strict_init = arguments.init == "strict";
  settings.limits.steps_max = arguments.steps_max;
  settings.limits.compile = arguments.compile.value();
  return settings;
}

bool compares_outputs(const ExecArguments& arguments) {
  return arguments.runs > 1 &&
         (asks_for(arguments, kDefaultChecks) || asks_for(arguments, kOutputCheck));
}

// The names of devices, and the compute capability of each, 90 for sm_90.  A device has the
// features of its architecture and of its family: sm_90a names the same device as sm_90.
std::map<std::string, unsigned> devices_by_name() {
  constexpr unsigned kFirstWithFeatures = 90, kFirstWithFamily = 100;
  std::map<std::string, unsigned> devices{{kNewest, 0}};
  for (const auto& capability : cudart::virtual_gpu::kCapabilities) {
    const unsigned sm = capability.sm();
    devices[fmt::format("sm_{}", sm)] = sm;
    if (sm >= kFirstWithFeatures) devices[fmt::format("sm_{}a", sm)] = sm;
    if (sm >= kFirstWithFamily) devices[fmt::format("sm_{}f", sm)] = sm;
  }
  return devices;
}

// 0: the compute capability of the program's newest PTX.
unsigned device_of(const ExecArguments& arguments) {
  return devices_by_name().at(arguments.device);
}

std::set<std::string> device_names() {
  std::set<std::string> names;
  for (const auto& [name, sm] : devices_by_name()) names.insert(name);
  return names;
}

// Unless a strategy is named, the first of several runs has the default schedule. The other runs
// have schedules of the strategy (if none is named, of the strategies of a search in turn), each
// with its own seed.
struct RunSchedule {
  std::string strategy;
  std::uint64_t seed = 0;
};

RunSchedule schedule_of(const ExecArguments& arguments, int run) {
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
        settings_(settings_of(arguments)),
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
                     compares_outputs(arguments) && settings_.checkers.finds_unwritten_values()},
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
      if (!first_failing_ && report_.errors() != errors && heap == 0 && !is_cut) {
        first_failing_ = {.number = i,
                          .run = run,
                          .seconds = took.count(),
                          .cpu_seconds = cpu_seconds_of_children() - cpu_begin};
      }
      if (compares_outputs(arguments_)) comparison_.add(output_of(run));
      if (is_cut) comparison_.leave_out(i);
      if (run.timed_out) break;
      // Ctrl-C ends all runs, also if only the program received it.
      if (run.signal == SIGINT || run.signal == SIGQUIT) break;
    }
    if (report_.runs < arguments_.runs) report_.is_complete = false;
    const bool is_cut = supervisor_.is_stopped() || report_.timed_out;
    if (compares_outputs(arguments_) && !is_cut) compare_outputs();
    if (first_failing_ && !is_cut && arguments_.causes_steps != 0) {
      explain(report_, *first_failing_, settings_of_run(first_failing_->number),
              arguments_.causes_steps, supervisor_, runner_);
    }
    return tell();
  }

 private:
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
            .device = device_of(arguments_),
            .leaks = arguments_.leaks,
            .host_bytes = compares_outputs(arguments_),
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
    std::vector<vgpu::Finding> findings;
    for (const ProgramReport::Found& found : report_.findings) findings.push_back(found.finding);
    const std::string name = std::filesystem::path(report_.program).filename().string();
    const std::size_t added =
        add_expectations(arguments_.write_expect, name, findings, source_lines());
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

  int tell() {
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
    write([&] { arguments_.trace.end(); });
    if (files.profile) {
      write([&] {
        std::fputs(prefixed_lines(arguments_.profile.write(*files.profile)).c_str(), stderr);
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
                                      : arguments_.sparse          ? kSparseMemoryBytes
                                                          : cudart::device_memory_of_host();
  Settings settings_;
  const ptx::Edits edits_ = read_edits(arguments_.edits);
  Supervisor& supervisor_;
  ProgramRunner runner_;
  std::optional<FailingRun> first_failing_;
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

template <class Names>
std::set<std::string> names_of(const Names& rows) {
  std::set<std::string> names;
  for (const auto& [value, name] : rows) names.emplace(name);
  return names;
}

void add_search_options(CLI::App& command, ExecArguments& arguments) {
  command.add_option("PROGRAM", arguments.command, "The program and its arguments, after --")
      ->required()
      ->expected(1, -1)
      ->type_name("ARG...");
  std::set<std::string> checks = names_of(kCheckerNames);
  checks.insert({kOutputCheck, kDefaultChecks});
  std::vector<std::string_view> off;
  for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
    if (!row.by_default) off.push_back(row.name);
  }
  command
      .add_option(
          "--check", arguments.checks,
          fmt::format("What to look for (default: everything but {}; {} stands for that): {}, "
                      "{} (compares several runs)",
                      fmt::join(off, " and "), kDefaultChecks, vgpu::checkers_help(), kOutputCheck))
      ->delimiter(',')
      ->check(CLI::IsMember(checks));
  command.add_option("--warp-model", arguments.warp_model, "What orders the lanes of a warp")
      ->check(CLI::IsMember(names_of(kWarpModelNames)))
      ->capture_default_str();
  add_volatile_option(command, arguments.volatile_accesses);
  command
      .add_option("--init", arguments.init,
                  "Unwritten values to report: those that decide something or reach the host, or "
                  "also those that only reach device memory")
      ->check(CLI::IsMember({"deciding", "strict"}))
      ->capture_default_str();
  std::set<std::string> strategies;
  for (const vgpu::StrategyRow& row : vgpu::strategies()) strategies.emplace(row.name);
  command
      .add_option("--strategy", arguments.strategy,
                  "What decides which warp runs next: " + vgpu::strategies_help())
      ->check(CLI::IsMember(strategies))
      ->capture_default_str();
  command
      .add_option("--seed", arguments.seed,
                  "Seed of the strategy; further runs take the next seeds")
      ->capture_default_str();
  command
      .add_option("--runs", arguments.runs,
                  "Run the program this many times, each under another schedule")
      ->check(positive_number)
      ->capture_default_str();
  command
      .add_option("--limit", arguments.steps_max,
                  "Stop a launch after this many warp instructions (default: none; a launch that "
                  "cannot end is reported in any case)")
      ->check(positive_number);
  command
      .add_option("--timeout", arguments.timeout_s,
                  "End a run of the program after this many seconds, and report its findings")
      ->check(positive_number)
      ->type_name("SECONDS");
}

void add_device_options(CLI::App& command, ExecArguments& arguments) {
  command
      .add_option(
          "--device", arguments.device,
          "Compute capability of the device; newest: the one of the newest PTX in the program")
      ->check(CLI::IsMember(device_names()))
      ->capture_default_str();
  command.add_option("--devices", arguments.devices, "Number of devices")
      ->check(CLI::Range(1u, vgpu::kDevicesMax))
      ->capture_default_str();
  command
      .add_option("--jobs", arguments.jobs,
                  "Threads that run the blocks of a launch (default: one a core); the report does "
                  "not depend on their number")
      ->check(CLI::Range(1u, kJobsMax));
  command.add_flag(
      "--prove", arguments.prove,
      "Say of each kernel without findings for which schedules and data its code proves "
      "that there are none (docs/use/proofs.md)");
  command.add_flag(
      "--sparse", arguments.sparse,
      "Of huge launches run only the first and last blocks, and those around powers of "
      "two of what their indices are made of");
  command
      .add_option(
          "--budget", arguments.budget_s,
          "Sample launches that would take too long: a second is 10 million instructions of "
          "warps, shared by all launches")
      ->check(positive_number)
      ->type_name("SECONDS");
  arguments.compile.add_to(command);
  command
      .add_option("--edits", arguments.edits,
                  "An experiment: run the device code with the changes in this file "
                  "(docs/use/fix.md)")
      ->type_name("FILE");
  command
      .add_option("--causes", arguments.causes_steps,
                  "Steps of experiments with changed code that find the cause of findings, besides "
                  "as many as the run has; 0: findings are grouped by rules")
      ->type_name("STEPS")
      ->capture_default_str();
  command
      .add_option("--against", arguments.against,
                  "Run each launch on a real GPU, too, from the same memory, and compare what both "
                  "leave (docs/use/real-gpu.md)")
      ->check(CLI::IsMember({"gpu"}));
  command
      .add_option("--memory", arguments.memory_bytes,
                  "Memory of each device, for example 512M or 16G")
      ->transform(CLI::Validator(to_size, ""))
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 40))
      ->type_name("BYTES")
      ->default_str("a quarter of what is free");
  command
      .add_option("--fresh", arguments.fresh, "Initial content of managed and page-locked memory")
      ->check(CLI::IsMember({"zeros", "pattern"}))
      ->capture_default_str();
  command
      .add_option("--heap", arguments.heap,
                  "Fill memory of the host's malloc() with this byte; 0: with none (default: some "
                  "of several --runs fill it)")
      ->check(CLI::Range(0u, 254u))
      ->type_name("BYTE");
}

void add_report_options(CLI::App& command, ExecArguments& arguments) {
  command
      .add_option("--ignore", arguments.ignore,
                  "Do not report findings whose lines are all in files that match, for example "
                  "'*/cub/*'")
      ->type_name("GLOB");
  command
      .add_option("--expect", arguments.expect,
                  "Findings that are known and accepted: do not report those that FILE names "
                  "(docs/use/expected-findings.md)")
      ->type_name("FILE");
  command
      .add_option("--write-expect", arguments.write_expect,
                  "Add what was found, and is not expected, to FILE, for --expect")
      ->type_name("FILE");
  command.add_flag("--portable", arguments.portable,
                   "Note code that only devices from sm_70 on allow");
  command.add_flag("--leaks", arguments.leaks, "Report memory that is not freed at exit");
  command.add_flag(
      "--full-names", arguments.full_names,
      "Print the whole names of kernels: of long ones, template arguments are left out "
      "otherwise");
  command
      .add_option("--error-exitcode", arguments.error_exit_code, "Exit status if errors were found")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  command
      .add_option("--unsupported-exitcode", arguments.unsupported_exit_code,
                  "Exit status if something is not supported")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  arguments.reports.add_for_programs_to(command);
}

void add_exec_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ExecArguments>();
  add_search_options(command, *arguments);
  add_device_options(command, *arguments);
  add_report_options(command, *arguments);
  arguments->profile.add_to(command);
  arguments->trace.add_for_programs_to(command);
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
