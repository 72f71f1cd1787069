// warpcheck exec and warpcheck libdir: programs that nvcc built, as they are, on the virtual GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "harness/cli.hpp"
#include "harness/program_file.hpp"
#include "harness/program_report.hpp"
#include "harness/program_run.hpp"
#include "harness/report_options.hpp"
#include "vgpu/cudart/virtual_gpu.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

constexpr const char* kNewest = "newest";

struct ExecArguments {
  std::vector<std::string> command;  // the program and its arguments
  std::vector<std::string> checks;   // empty: all
  std::string warp_model = "independent";
  std::string strategy = "default";
  std::uint64_t seed = 1;
  int runs = 1;
  std::uint64_t steps_max = vgpu::kNoLimit;
  std::string device = kNewest;  // or sm_NN
  bool portable = false;
  std::uint64_t memory_bytes = vgpu::kMemoryBytes;
  std::string fresh = "zeros";  // or pattern
  bool leaks = false;
  std::vector<std::string> ignore;  // patterns of files
  int error_exit_code = 66;
  ReportOptions reports;
};

Settings settings_of(const ExecArguments& arguments) {
  Settings settings;
  if (arguments.warp_model == "lockstep") settings.warp_model = vgpu::WarpModel::lockstep;
  const auto& checks = arguments.checks;
  for (const auto& [checker, name] : kCheckerNames) {
    settings.checkers.*checker = checks.empty() || std::ranges::find(checks, name) != checks.end();
  }
  settings.checkers.portable = arguments.portable;
  settings.limits.steps_max = arguments.steps_max;
  return settings;
}

std::string name_of(const cudart::virtual_gpu::Capability& capability) {
  return fmt::format("sm_{}", capability.sm());
}

// The compute capability, 90 for sm_90; 0: of the program's newest PTX.
unsigned device_of(const ExecArguments& arguments) {
  for (const auto& capability : cudart::virtual_gpu::kCapabilities) {
    if (arguments.device == name_of(capability)) return capability.sm();
  }
  return 0;
}

std::set<std::string> device_names() {
  std::set<std::string> names{kNewest};
  for (const auto& capability : cudart::virtual_gpu::kCapabilities) {
    names.insert(name_of(capability));
  }
  return names;
}

// The first of several runs has the default schedule unless a strategy is named; the others have
// schedules of the strategy (if none is named, random ones), each with a seed of its own.
struct RunSchedule {
  std::string strategy;
  std::uint64_t seed = 0;
};

RunSchedule schedule_of(const ExecArguments& arguments, int run) {
  const bool is_named = arguments.strategy != "default";
  if (!is_named && run == 1) return {"default", 0};
  const auto further = static_cast<std::uint64_t>(is_named ? run - 1 : run - 2);
  return {is_named ? arguments.strategy : "random", arguments.seed + further};
}

void require_our_runtime(const ProgramFile& program) {
  const auto refuse = [&](std::string_view why) {
    throw ProgramError(fmt::format("{}: {}", program.path, why));
  };
  if (!program.unsupported.empty()) refuse(fmt::format("{}", fmt::join(program.unsupported, "; ")));
  if (!program.toolkit_libraries.empty()) {
    refuse(fmt::format(
        "its library {} has the toolkit's static CUDA runtime inside, so it would look for a real "
        "GPU; link that again with `nvcc -L {}` (or with `nvcc -cudart shared`)",
        program.toolkit_libraries.front(), drop_in_directory()));
  }
  if (program.runtime == ProgramFile::Runtime::toolkit) {
    refuse(fmt::format(
        "the toolkit's static CUDA runtime is linked in, so it would look for a real GPU; link it "
        "again with `nvcc -L {}` (or with `nvcc -cudart shared`)",
        drop_in_directory()));
  }
  const std::string& needed = program.needed_library;
  if (!needed.empty() && needed != "libcudart.so.13" && needed != "libcudart.so.12") {
    refuse(fmt::format("it needs {}; there are libcudart.so.13 and libcudart.so.12", needed));
  }
}

int exit_status(const ExecArguments& arguments, const ProgramReport& report, int own_status) {
  if (!report.refusals.empty()) return kCannot;
  return report.errors() != 0 ? arguments.error_exit_code : own_status;
}

int run_exec(const ExecArguments& arguments) {
  arguments.reports.check();
  if (!arguments.reports.lcov.empty()) throw UsageError("exec: --lcov is of pairs");
  const ProgramFile program = find_program(arguments.command.front());
  require_our_runtime(program);
  const std::string libraries = drop_in_directory();
  const Settings settings = settings_of(arguments);

  ProgramReport report;
  report.program = arguments.command.front();
  report.arguments.assign(arguments.command.begin() + 1, arguments.command.end());
  report.ignore = arguments.ignore;
  int own_status = 0;
  for (int i = 1; i <= arguments.runs; ++i) {
    const RunSchedule schedule = schedule_of(arguments, i);
    cudart::ExecSettings child{.records = {},
                               .checkers = settings.checkers,
                               .warp_model = settings.warp_model,
                               .strategy = schedule.strategy,
                               .seed = schedule.seed,
                               .steps_max = settings.limits.steps_max,
                               .memory_bytes = arguments.memory_bytes,
                               .fresh_pattern = arguments.fresh == "pattern",
                               .device = device_of(arguments),
                               .leaks = arguments.leaks};
    const ProgramRun run = run_program(program.path, report.arguments, child, libraries);
    report.add(run);
    if (own_status == 0) own_status = run.status;
    if (run.signal != 0) {
      complain(fmt::format("{} was killed by signal {}", report.program, run.signal));
      break;
    }
  }
  const std::string text = exec_text(report, [&](int run) {
    const RunSchedule schedule = schedule_of(arguments, run);
    return fmt::format("--strategy {} --seed {}", schedule.strategy, schedule.seed);
  });
  std::fputs(text.c_str(), stderr);
  RunReport files = run_report(report, settings);
  arguments.reports.write(files);
  if (program.runtime == ProgramFile::Runtime::shared && !report.runtime_loaded &&
      own_status == 0) {
    complain(fmt::format("{}: another {} was loaded than the one in {}; has the program an RPATH?",
                         report.program, program.needed_library, libraries));
    return kCannot;
  }
  return exit_status(arguments, report, own_status);
}

template <class Names>
std::set<std::string> names_of(const Names& rows) {
  std::set<std::string> names;
  for (const auto& [value, name] : rows) names.emplace(name);
  return names;
}

void add_options(CLI::App& command, ExecArguments& arguments) {
  command.add_option("PROGRAM", arguments.command, "The program and its arguments, behind --")
      ->required()
      ->expected(1, -1)
      ->type_name("ARG...");
  command.add_option("--check", arguments.checks, "What to look for (default: everything)")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of(kCheckerNames)));
  command.add_option("--warp-model", arguments.warp_model, "What orders the lanes of a warp")
      ->check(CLI::IsMember(names_of(kWarpModelNames)))
      ->capture_default_str();
  const auto strategies = vgpu::strategy_names();
  command.add_option("--strategy", arguments.strategy, "Who runs next")
      ->check(CLI::IsMember(std::set<std::string>(strategies.begin(), strategies.end())))
      ->capture_default_str();
  command.add_option("--seed", arguments.seed, "Of the strategy; of further runs the next ones")
      ->capture_default_str();
  command.add_option("--runs", arguments.runs, "Run the program so often, under other schedules")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--limit", arguments.steps_max,
                  "Warp instructions after which a launch is stopped (default: none; one that "
                  "cannot end is found anyway)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--device", arguments.device,
                  "Compute capability of the device; newest: that of the newest PTX in the program")
      ->check(CLI::IsMember(device_names()))
      ->capture_default_str();
  command.add_option("--memory", arguments.memory_bytes, "Memory of the device, 512M or 16G")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 40))
      ->type_name("BYTES")
      ->default_str("4G");
  command
      .add_option("--fresh", arguments.fresh,
                  "What managed and page-locked memory holds before anything is written")
      ->check(CLI::IsMember({"zeros", "pattern"}))
      ->capture_default_str();
  command
      .add_option("--ignore", arguments.ignore,
                  "Do not report findings whose lines are all in files that match, '*/cub/*'")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command.add_flag("--portable", arguments.portable,
                   "Note what only devices from sm_70 on allow");
  command.add_flag("--leaks", arguments.leaks, "Memory that is not freed at exit is a finding");
  command
      .add_option("--error-exitcode", arguments.error_exit_code,
                  "Exit status where there are errors")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  arguments.reports.add_to(command);
}

}  // namespace

void add_exec_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("exec", "Run a CUDA program on the virtual GPU");
  const auto arguments = std::make_shared<ExecArguments>();
  add_options(*command, *arguments);
  command->footer(
      "The program is one that nvcc built, with `-cudart shared`, or with `-L DIR` where\n"
      "`warpcheck libdir` prints DIR.  Give nvcc -lineinfo as well, for source lines.\n"
      "\n"
      "Examples:\n"
      "  nvcc -lineinfo -cudart shared scan.cu -o scan && warpcheck exec -- ./scan\n"
      "  warpcheck exec --runs 10 --sarif scan.sarif -- ./scan 1000\n"
      "\n"
      "Exit status: the program's own (128 + n: killed by signal n); --error-exitcode where\n"
      "something was found; 2 bad usage, or something that the virtual GPU does not support.");
  command->callback([&run, arguments] { run = [arguments] { return run_exec(*arguments); }; });
}

void add_libdir_command(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("libdir", "Print where the virtual GPU's CUDA runtime libraries are");
  command->footer(
      "A program that is linked with -L and this directory runs on the virtual GPU.\n"
      "\n"
      "Examples:\n"
      "  nvcc -lineinfo -L \"$(warpcheck libdir)\" scan.cu -o scan\n"
      "\n"
      "Exit status: 0 printed, 2 not found.");
  command->callback([&run] {
    run = [] {
      print(drop_in_directory() + "\n");
      return kNothingFound;
    };
  });
}

}  // namespace warpcheck
