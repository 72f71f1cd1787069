// warpcheck kernel: trials of kernels in a file, without pairs and without host code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "cli/all_sizes/kernel_proof.hpp"
#include "cli/cli.hpp"
#include "cli/kernel/assumptions.hpp"
#include "cli/kernel/conditions.hpp"
#include "cli/kernel/kernel_options.hpp"
#include "cli/kernel/kernel_text.hpp"
#include "cli/report_options.hpp"
#include "harness/causes/find_causes.hpp"
#include "harness/input/json.hpp"
#include "harness/kernel/kernel_pair.hpp"
#include "harness/pair/project.hpp"
#include "harness/process/progress.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/search/check.hpp"
#include "harness/shrink/shrink.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

// Warp instructions: a first verdict comes within a minute.
constexpr std::uint64_t kStepsOfShrinking = 40'000'000;

struct KernelArguments {
  const CLI::App* command = nullptr;
  KernelOptions kernel;
  int trials = 300;
  std::uint64_t seed = 1;
  bool prove = false, limits = false;
  std::string smt;
  std::string cases = "fuzz/cases";
  ConfigurationOptions configuration;
  CompileOption compile;
  ReportOptions reports;

  [[nodiscard]] bool is_warp_model_given() const { return command->count("--warp-model") != 0; }
  [[nodiscard]] bool is_volatile_given() const { return command->count("--volatile") != 0; }
};

std::string assumptions_text(const Assumptions& assumed, const std::string& signature) {
  std::string text = fmt::format("{}   {}\n", signature, assumed.kernel.file);
  const auto add = [&](std::string_view what, const std::vector<std::string>& values) {
    if (!values.empty()) text += fmt::format("  {}: {}\n", what, fmt::join(values, "; "));
  };
  add("assumed", assumed.scalars);
  text += fmt::format("  launches: {}\n", assumed.launch);
  std::vector<std::string> conditions;
  for (const Expression& condition : assumed.kernel.conditions) {
    conditions.push_back(condition.text());
  }
  add("required", conditions);
  add("lengths", assumed.lengths);
  for (const std::string& note : assumed.notes) text += fmt::format("  note: {}\n", note);
  return text;
}

std::vector<Settings> settings_of_kernel(const KernelArguments& arguments,
                                         const KernelDescription& kernel) {
  std::vector<Settings> all = arguments.configuration.settings();
  std::erase_if(all, [&](const Settings& settings) {
    const bool is_optimized = settings.build == cudart::Build::optimized;
    return (is_optimized ? kernel.optimized : kernel.unoptimized).empty();
  });
  if (all.empty()) {
    throw UsageError(
        fmt::format("{} has no PTX of the {} build", kernel.file, arguments.configuration.build));
  }
  return all;
}

class KernelRun {
 public:
  explicit KernelRun(const KernelArguments& arguments)
      : arguments_(arguments), covered_(arguments.reports.wants_coverage()) {
    run_.command = "kernel";
  }

  int run() {
    arguments_.reports.check();
    const CompiledKernels compiled = compiled_kernels(arguments_.kernel);
    std::vector<std::string> names = arguments_.kernel.names;
    if (names.empty()) names.emplace_back();
    // All are found, and what to assume of them, before the first one runs.
    std::vector<AssumedKernel> kernels;
    for (const std::string& name : names) {
      kernels.push_back(assumed_kernel(compiled, arguments_.kernel, name));
    }
    int status = kNothingFound;
    for (const AssumedKernel& kernel : kernels) {
      if (status == kInterrupted) break;
      status = std::max(status, run(kernel, compiled, kernels.size() > 1));
    }
    run_.coverage = covered_.coverage();
    arguments_.reports.write(run_);
    return status;
  }

 private:
  int run(const AssumedKernel& kernel, const CompiledKernels& compiled, bool is_one_of_several) {
    const KernelPair& pair = begin(kernel);
    CheckOutcome outcome = tried(pair, kernel);
    std::optional<Failing> clearest;  // of those with other blocks
    for (const Condition& condition : conditions_of(compiled, kernel, outcome.failures)) {
      auto other = assumed_with(compiled, kernel, condition);
      if (!other) continue;
      const KernelPair& other_pair = pairs_.emplace_back(other->assumptions.kernel);
      CheckOutcome passed = tried(other_pair, *other);
      if (*watch_interrupts() != 0) continue;
      if (!passed.passed()) {
        if (condition.options.block == arguments_.kernel.block) continue;
        const std::size_t places = places_of(passed.failures).size();
        if (passed.failures.empty() || places >= places_of(outcome.failures).size()) continue;
        if (clearest && places >= places_of(clearest->outcome.failures).size()) continue;
        clearest.emplace(
            Failing{&other_pair, *std::move(other), std::move(passed), condition.options.block});
        continue;
      }
      if (!save_case(outcome.failures.front(), arguments_.cases)) return kCannot;
      other->assumptions.conditions.push_back(condition.text);
      print(condition_text(pair, outcome.failures.front(), condition));
      print(assumptions_text(other->assumptions, other->signature));
      add_assumed(other_pair, *other, is_one_of_several);
      return conclude(other_pair, *other, std::move(passed));
    }
    if (clearest) {
      print(
          fmt::format("{0} fails with all blocks that were tried, in the fewest places with {1} "
                      "threads of one (--block {1}):\n",
                      pair.name(), clearest->block));
      print(assumptions_text(clearest->kernel.assumptions, clearest->kernel.signature));
      add_assumed(*clearest->pair, clearest->kernel, is_one_of_several);
      return conclude(*clearest->pair, clearest->kernel, std::move(clearest->outcome));
    }
    add_assumed(pair, kernel, is_one_of_several);
    return conclude(pair, kernel, std::move(outcome));
  }

  // With a block that the code's constants name.
  struct Failing {
    const KernelPair* pair;
    AssumedKernel kernel;
    CheckOutcome outcome;
    std::string block;
  };

  // Where it fails: kinds and lines.
  static std::set<std::string> places_of(const std::vector<Report>& failures) {
    std::set<std::string> places;
    for (const Report& failure : failures) {
      for (const vgpu::Finding& finding : failure.verdict.findings) {
        if (finding.severity != vgpu::Severity::error) continue;
        std::string place(vgpu::name_of(finding.kind));
        for (const vgpu::AccessSide& side : finding.accesses) {
          place += fmt::format(" {}:{}", side.file, side.line);
        }
        places.insert(std::move(place));
      }
    }
    return places;
  }

  // Prints what is assumed.
  const KernelPair& begin(const AssumedKernel& kernel) {
    print(assumptions_text(kernel.assumptions, kernel.signature));
    if (kernel.has_lockstep_warps && !arguments_.is_warp_model_given()) {
      print("  warps: their lanes run in lockstep (--warp-sync=32, or shuffles without a mask)\n");
    }
    if (kernel.has_weak_volatile && !arguments_.is_volatile_given()) {
      print("  volatile accesses: like plain ones, as GPUVerify takes them (--volatile strong)\n");
    }
    return pairs_.emplace_back(kernel.assumptions.kernel);
  }

  void add_assumed(const KernelPair& pair, const AssumedKernel& kernel, bool is_one_of_several) {
    for (const std::string& line : lines_of(kernel.assumptions)) {
      run_.assumed.push_back(is_one_of_several ? fmt::format("{}: {}", pair.name(), line) : line);
    }
  }

  // With what a kernel that fails may pass.
  struct Condition {
    KernelOptions options;  // that say it
    std::string text;       // "no two elements of perm are equal"
    std::string without;    // "where elements of perm are equal"
  };

  [[nodiscard]] std::vector<Condition> conditions_of(const CompiledKernels& compiled,
                                                     const AssumedKernel& kernel,
                                                     const std::vector<Report>& failures) const {
    std::vector<Condition> conditions;
    const auto add = [&](std::string text, std::string without) -> KernelOptions& {
      return conditions
          .emplace_back(Condition{arguments_.kernel, std::move(text), std::move(without)})
          .options;
    };
    for (const std::string& name : indices_that_may_differ(compiled, kernel, failures)) {
      add(fmt::format("no two elements of {} are equal", name),
          fmt::format("where elements of {} are equal", name))
          .lets.push_back(name + "=distinct");
    }
    if (failures.empty()) return conditions;
    if (kernel.assumptions.has_blocks_by_ticket) {
      add("the grid has one block", "with several blocks").grid = "1";
    }
    for (const std::string& block : blocks_of_constants(compiled, kernel)) {
      add(fmt::format("a block has {} threads", block), "with other blocks").block = block;
    }
    return conditions;
  }

  // The same kernel with a condition; nothing: there is no such input.
  [[nodiscard]] static std::optional<AssumedKernel> assumed_with(const CompiledKernels& compiled,
                                                                 const AssumedKernel& kernel,
                                                                 const Condition& condition) {
    try {
      return assumed_kernel(compiled, condition.options, kernel.assumptions.kernel.mangled);
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }

  static std::string condition_text(const KernelPair& pair, const Report& failure,
                                    const Condition& condition) {
    std::string text = fmt::format("  {}: {}", condition.without, failure_text(failure));
    if (!failure.replay_path.empty()) {
      text += fmt::format("  replay: {} replay {}\n", project().program,
                          shell_word(failure.replay_path));
    }
    return text + fmt::format("{}, if {}:\n", pair.name(), condition.text);
  }

  // "data-race at scatter.cu:4; nothing says that there are such\n"
  static std::string failure_text(const Report& failure) {
    std::string text;
    if (!failure.verdict.findings.empty()) {
      const vgpu::Finding& finding = failure.verdict.findings.front();
      text += vgpu::name_of(finding.kind);
      if (!finding.accesses.empty()) {
        const vgpu::AccessSide& side = finding.accesses.front();
        text += fmt::format(" at {}:{}", side.file.substr(side.file.rfind('/') + 1), side.line);
      }
      text += "; ";
    }
    return text + "nothing says that there are such\n";
  }

  static std::vector<std::string> lines_of(const Assumptions& assumed) {
    std::vector<std::string> lines = assumed.scalars;
    lines.push_back(assumed.launch);
    for (const std::string& length : assumed.lengths) lines.push_back("length of " + length);
    for (const Expression& condition : assumed.kernel.conditions) {
      lines.push_back("required: " + condition.text());
    }
    for (const std::string& condition : assumed.conditions) lines.push_back("if " + condition);
    lines.insert(lines.end(), assumed.notes.begin(), assumed.notes.end());
    return lines;
  }

  CheckOutcome tried(const KernelPair& pair, const AssumedKernel& kernel) {
    CheckOptions options;
    options.seed = arguments_.seed;
    options.trials = arguments_.trials;
    options.shrink.steps_max = kStepsOfShrinking;
    options.settings = settings_of(pair, kernel);
    options.stop = watch_interrupts();
    Progress progress;
    options.on_trial = [&](std::uint64_t trials) {
      progress.show([&] {
        return fmt::format("checking {}: {} of {} trials", pair.name(), trials, options.trials);
      });
    };
    TrialRunner runner(covered_.engine());
    CheckOutcome outcome = check_claim(pair, "", options, runner);
    progress.clear();
    return outcome;
  }

  int conclude(const KernelPair& pair, const AssumedKernel& kernel, CheckOutcome outcome) {
    Claim& claim = run_.claims.emplace_back(Claim{.pair = pair.name()});
    claim.trials = outcome.trials;
    claim.beyond.for_every_schedule = outcome.for_every_schedule;
    claim.found = outcome.kinds;
    claim.verdict = "ok";
    if (!outcome.problems.empty()) return add_health(claim, outcome);
    if (!outcome.failures.empty()) return add_failures(claim, std::move(outcome.failures));
    if (*watch_interrupts() != 0 &&
        outcome.trials < static_cast<std::uint64_t>(arguments_.trials)) {
      claim.status = Claim::Status::cannot_run;
      claim.verdict = fmt::format("interrupted after {}", counted(outcome.trials, "trial"));
      complain(fmt::format("{}: {}", pair.name(), claim.verdict));
      return kInterrupted;
    }
    const std::vector<Settings> all_settings = settings_of(pair, kernel);
    std::vector<cudart::Build> builds;
    for (const Settings& settings : all_settings) {
      if (std::ranges::find(builds, settings.build) == builds.end())
        builds.push_back(settings.build);
    }
    // Certificates are of independent lanes.
    const bool is_lockstep = std::ranges::all_of(all_settings, [](const Settings& one) {
      return one.warp_model == vgpu::WarpModel::lockstep;
    });
    if (!is_lockstep) claim.beyond.proved = prove_sample(pair, arguments_.seed, builds);
    print(fmt::format("PASS {}   {}{}{}\n", pair.name(), counted(claim.trials, "trial"),
                      claim.beyond.text(),
                      text_of_conditions("; ", kernel.assumptions.conditions)));
    return arguments_.prove || arguments_.limits ? prove(pair, kernel, all_settings)
                                                 : kNothingFound;
  }

  [[nodiscard]] std::vector<Settings> settings_of(const KernelPair& pair,
                                                  const AssumedKernel& kernel) const {
    std::vector<Settings> all = settings_of_kernel(arguments_, pair.kernel());
    for (Settings& one : all) {
      if (kernel.has_lockstep_warps && !arguments_.is_warp_model_given()) {
        one.warp_model = vgpu::WarpModel::lockstep;
      }
      if (kernel.has_weak_volatile && !arguments_.is_volatile_given()) {
        one.checkers.volatile_is_weak = true;
      }
    }
    return all;
  }

  // Every size at once; a case that a run confirms is a failure like any other.
  int prove(const KernelPair& pair, const AssumedKernel& kernel,
            const std::vector<Settings>& settings) {
    const PairOfAllSizes proof = prove_kernel_file(
        pair, kernel, settings,
        {.limits = arguments_.limits,
         .is_only_size_proved = has_one_size(kernel) && run_.claims.back().beyond.proved &&
                                run_.claims.back().beyond.proved->proof == Proof::all_data,
         .on_question = question_files(arguments_.smt),
         .less_optimized = [&] { return less_optimized_text(); }});
    print(all_sizes_text(proof));
    run_.every_size = all_sizes_json({proof});
    if (!keep_limits(proof, arguments_.cases)) return kCannot;
    if (!proof.failure) return kNothingFound;
    Claim& claim = run_.claims.back();
    TrialRunner runner(covered_.engine());
    ShrunkCase shrunk = shrunk_failure(*proof.failure, runner);
    Report report{.a_case = std::move(shrunk.a_case),
                  .verdict = std::move(shrunk.verdict),
                  .search = Report::Search{.trials = claim.trials,
                                           .shrinks = shrunk.shrinks,
                                           .complete = shrunk.complete},
                  .replay_path = {}};
    claim.found = failure_kinds(report.verdict);
    std::vector<Report> failures;
    failures.push_back(std::move(report));
    return add_failures(claim, std::move(failures));
  }

  const std::optional<std::string>& less_optimized_text() {
    if (!less_optimized_) {
      less_optimized_ = less_optimized(arguments_.kernel.file, arguments_.kernel.compilation());
    }
    return *less_optimized_;
  }

  int add_health(Claim& claim, const CheckOutcome& outcome) {
    print(health_text(claim.pair, outcome.trials, outcome.problems));
    claim.status = Claim::Status::failed;
    claim.verdict = "UNHEALTHY: " + outcome.problems.front().message;
    run_.health = Json::array();
    run_.add_health(claim.pair, "", outcome.problems);
    return kFindings;
  }

  int add_failures(Claim& claim, std::vector<Report> failures) {
    int status = kFindings;
    for (Report& report : failures) {
      const std::vector<std::string>& refusals = report.verdict.refusals;
      claim.status = refusals.empty() ? Claim::Status::failed : Claim::Status::cannot_run;
      if (refusals.empty()) {
        if (!save_case(report, arguments_.cases)) status = kCannot;
        find_causes(report);
        print(report_text(report));
        claim.verdict = "FAIL: " + show_kinds(claim.found);
      } else {
        complain(fmt::format("{} cannot be run: {}", claim.pair, refusals.front()));
        claim.verdict = "cannot run: " + refusals.front();
        status = kCannot;
      }
      run_.add(std::move(report));
    }
    return status;
  }

  const KernelArguments& arguments_;
  CoveredEngine covered_;
  std::deque<KernelPair> pairs_;                              // of which run_ has reports
  std::optional<std::optional<std::string>> less_optimized_;  // compiled when it is wanted
  RunReport run_;
};

void add_kernel_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<KernelArguments>();
  arguments->command = &command;
  arguments->configuration.build = kBoth;
  arguments->kernel.add_to(command);
  command.add_option("--trials", arguments->trials, "Trials")
      ->check(positive_number)
      ->capture_default_str();
  command.add_option("--seed", arguments->seed, "Seed; the same seed gives the same trials")
      ->capture_default_str();
  command.add_flag("--prove", arguments->prove,
                   "After the trials, every size and launch at once: proved, refuted by a run, or "
                   "not decided because of a line");
  command.add_flag("--limits", arguments->limits,
                   "As --prove, and for each integer the largest value up to which the kernel is "
                   "right, with the case above");
  command.add_option("--smt", arguments->smt,
                     "Directory for the solver's questions, as SMT-LIB files (with --prove)");
  command.add_option("--cases", arguments->cases, "Directory for the cases of failures")
      ->capture_default_str();
  arguments->configuration.add_to(command);
  add_volatile_option(command, arguments->configuration.volatile_accesses);
  arguments->compile.add_to(command);
  arguments->reports.add_to(command);
  command.footer(
      "Needs no pair and no host code: inputs are drawn from the kernel's signature, and lengths\n"
      "of arrays are those that trial runs need.  What is assumed is shown first; options and\n"
      "comments in the source (// requires: n % 4 == 0) say it otherwise.\n"
      "\n"
      "Examples:\n"
      "  warpcheck kernel saxpy.cu\n"
      "  warpcheck kernel scans.cu up_sweep down_sweep\n"
      "  warpcheck kernel scan.cu scan --block 128 --grid 1 --let n=0..256 --length out=n\n"
      "  warpcheck kernel sort.cu --instantiate 'sort<int, 256>' --nvcc '-I include'\n"
      "\n"
      "Exit status: 0 nothing found, 1 findings, 2 bad usage, a file that cannot be compiled, or "
      "a\n"
      "kernel that cannot be run, 130 interrupted (Ctrl-C, SIGTERM).");
  command.callback(
      [&run, arguments] { run = [arguments] { return KernelRun(*arguments).run(); }; });
}

const RegisteredCommand kKernelCommand{{.rank = 25,
                                        .name = "kernel",
                                        .help = "Try kernels in a file, without pairs or a main()",
                                        .add = add_kernel_to}};

}  // namespace
}  // namespace warpcheck
