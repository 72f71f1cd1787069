#include "cli/exec/exec_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string_view>

#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

constexpr const char* kNewest = "newest";          // of --device
constexpr const char* kOutputCheck = "output";     // for several runs; not a checker
constexpr const char* kDefaultChecks = "default";  // all checks that are on by default

// Returns whether --check names a check, or all that are on by default.
bool asks_for(const ExecArguments& arguments, std::string_view check) {
  const auto& checks = arguments.checks;
  if (checks.empty()) return check == kDefaultChecks;
  return std::ranges::find(checks, check) != checks.end();
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

std::set<std::string> device_names() {
  std::set<std::string> names;
  for (const auto& [name, sm] : devices_by_name()) names.insert(name);
  return names;
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
      ->check(CLI::Range(1u, kExecJobsMax));
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
                  "Steps of experiments: with changed code, which find the cause of findings (as "
                  "many as the run has are added), and under other schedules, if a run shows no "
                  "error; 0: none")
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

}  // namespace

void ExecArguments::add_to(CLI::App& exec) {
  add_search_options(exec, *this);
  add_device_options(exec, *this);
  add_report_options(exec, *this);
  profile.add_to(exec);
  trace.add_for_programs_to(exec);
}

Settings ExecArguments::settings() const {
  Settings all;
  if (warp_model == "lockstep") all.warp_model = vgpu::WarpModel::lockstep;
  for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
    all.checkers.*row.enabled =
        (row.by_default && asks_for(*this, kDefaultChecks)) || asks_for(*this, row.name);
  }
  all.checkers.portable = portable;
  all.checkers.volatile_is_weak = volatile_accesses == kVolatileNames[1].second;
  all.checkers.strict_init = init == "strict";
  all.limits.steps_max = steps_max;
  all.limits.compile = compile.value();
  return all;
}

bool ExecArguments::compares_outputs() const {
  return runs > 1 && (asks_for(*this, kDefaultChecks) || asks_for(*this, kOutputCheck));
}

unsigned ExecArguments::compute_capability() const { return devices_by_name().at(device); }

}  // namespace warpcheck
