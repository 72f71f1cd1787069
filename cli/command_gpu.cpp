// --engine gpu, and the hidden command `gpu-worker` that its processes run.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/cli.hpp"
#include "cli/gpu_command.hpp"
#include "harness/case/case_file.hpp"
#include "harness/case/stored_cases.hpp"
#include "harness/gpu/gpu_run.hpp"
#include "harness/gpu/sanitizer.hpp"
#include "harness/pair/project.hpp"
#include "harness/pair/registry.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

GpuOptions options_of(const EngineOptions& engine) {
  GpuOptions options;
  options.runtime = engine.runtime;
  options.sanitizer = engine.sanitizer;
  options.seconds_per_trial = engine.time_limit_seconds;
  options.stop = watch_interrupts();
  return options;
}

// For each stored case, because a race does not show in every run.
constexpr std::uint64_t kRunsOfStored = 100;

GpuJob job_of_case(const std::string& path, std::uint64_t runs) {
  const CaseRecord record = read_case(path, Registry::global());
  return {.pair = record.a_case.pair,
          .property = record.a_case.property,
          .case_path = path,
          .first = 0,
          .count = runs};
}

// Prints reports when they arrive, and computes the exit status.
class GpuReporter {
 public:
  GpuReporter(std::vector<GpuJob> jobs, GpuOptions options, const EngineOptions& engine)
      : jobs_(std::move(jobs)), options_(std::move(options)), engine_(engine) {}

  // directory: for the cases of failures; empty: the cases are files already.
  int run(std::string_view command, const std::string& directory, const ReportOptions& reports) {
    reports.check();
    run_.command = command;
    try {
      run_on_gpu(
          jobs_, options_, [&](const std::string& device) { print_engine(device); },
          [&](std::size_t job, const GpuOutcome& outcome) {
            report(jobs_[job], outcome, directory);
          });
    } catch (const GpuError& error) {
      complain(fmt::format("--engine gpu: {}", error.what()));
      no_gpu_ = true;
    }
    // Findings before a device was lost for good are still written.
    if (!run_.engine.empty()) reports.write(run_);
    if (*options_.stop != 0) return kInterrupted;
    if (no_gpu_) return engine_.require_gpu ? kFindings : kCannot;
    if (cannot_) return kCannot;
    return run_.reports.empty() ? kNothingFound : kFindings;
  }

 private:
  void print_engine(const std::string& device) {
    run_.engine = device;
    print(fmt::format("engine: {}{}{}\n", device, options_.sanitizer.empty() ? "" : ", under ",
                      options_.sanitizer));
  }

  void report(const GpuJob& job, const GpuOutcome& outcome, const std::string& directory) {
    const bool is_case = !job.case_path.empty();
    const std::string title =
        job.property.empty() ? job.pair->name() : job.pair->name() + "." + job.property;
    Claim claim{.pair = job.pair->name(),
                .property = job.property,
                .case_file = job.case_path,
                .expects = job.pair->expects(),
                .trials = outcome.trials,
                .verdict = "ok"};
    if (!outcome.refusal.empty()) {
      claim.status = Claim::Status::cannot_run;
      claim.verdict = outcome.refusal;
      run_.claims.push_back(std::move(claim));
      complain(
          fmt::format("{} cannot be run: {}", is_case ? job.case_path : title, outcome.refusal));
      cannot_ = true;
      return;
    }
    if (outcome.failure) {
      claim.status = Claim::Status::failed;
      claim.verdict = "FAIL";
      claim.found = failure_kinds(outcome.failure->verdict);
    }
    run_.claims.push_back(std::move(claim));
    if (!outcome.failure) {
      print(
          fmt::format("PASS {}   {}\n", title, counted(outcome.trials, is_case ? "run" : "trial")));
      return;
    }
    Report report{.a_case = outcome.failure->a_case,
                  .verdict = outcome.failure->verdict,
                  .search = std::nullopt,
                  .replay_path = job.case_path};
    if (is_case) {
      print(fmt::format("in run {} of at most {}:\n", outcome.failure->trial, job.count));
    } else {
      report.search = Report::Search{.trials = outcome.failure->trial};
      if (!save_case(report, directory)) cannot_ = true;
    }
    print(report_text(report));
    if (!report.replay_path.empty()) {
      print(fmt::format("        {} replay --engine gpu {}\n", project().program,
                        shell_word(report.replay_path)));
    }
    run_.add(std::move(report));
  }

  std::vector<GpuJob> jobs_;
  GpuOptions options_;
  const EngineOptions& engine_;
  RunReport run_;
  bool cannot_ = false, no_gpu_ = false;
};

}  // namespace

void EngineOptions::add_to(CLI::App& command) {
  command.add_option("--engine", engine, "vgpu: the virtual GPU; gpu: a real one")
      ->check(CLI::IsMember({"vgpu", "gpu"}))
      ->capture_default_str();
  command.add_flag("--require-gpu", require_gpu,
                   "With --engine gpu: exit with status 1, not 2, if there is no device");
  command
      .add_option("--sanitizer", sanitizer,
                  "With --engine gpu: run under this tool of compute-sanitizer")
      ->check(
          CLI::IsMember(std::vector<std::string>(kSanitizerTools.begin(), kSanitizerTools.end())));
  command.add_option("--runtime", runtime,
                     "With --engine gpu: the CUDA runtime library (default: libcudart.so.13)");
  command
      .add_option("--time-limit", time_limit_seconds,
                  "With --engine gpu: seconds after which a trial counts as hanging")
      ->check(positive_number)
      ->capture_default_str();
}

bool EngineOptions::gpu() const {
  if (engine == "gpu") return true;
  if (require_gpu || !sanitizer.empty() || !runtime.empty()) {
    throw UsageError("--require-gpu, --sanitizer and --runtime need --engine gpu");
  }
  return false;
}

int check_on_gpu(const GpuCheck& check, const EngineOptions& engine) {
  GpuOptions options = options_of(engine);
  options.check.seed = check.seed;
  options.check.trials = check.trials;
  std::vector<GpuJob> jobs;
  const auto add = [&](const AnyPair* pair, const std::string& property) {
    jobs.push_back({.pair = pair,
                    .property = property,
                    .case_path = {},
                    .first = 0,
                    .count = static_cast<std::uint64_t>(check.trials)});
  };
  // Stored failures before new trials.
  for (const AnyPair* pair : check.pairs) {
    if (check.database.empty()) break;
    for (const std::string& path : stored_cases(check.database, pair->name())) {
      jobs.push_back(job_of_case(path, engine.sanitizer.empty() ? kRunsOfStored : 1));
    }
  }
  for (const AnyPair* pair : check.pairs) {
    add(pair, "");
    for (const PropertyEntry& property : pair->properties()) add(pair, property.name);
  }
  return GpuReporter(std::move(jobs), std::move(options), engine)
      .run("check", check.cases, check.reports);
}

int replay_on_gpu(const std::vector<std::string>& cases, int runs, const ReportOptions& reports,
                  const EngineOptions& engine) {
  std::vector<GpuJob> jobs;
  for (const std::string& path : cases) {
    jobs.push_back(
        job_of_case(path, engine.sanitizer.empty() ? static_cast<std::uint64_t>(runs) : 1));
  }
  return GpuReporter(std::move(jobs), options_of(engine), engine).run("replay", "", reports);
}

namespace {

void add_gpu_worker_to(CLI::App& command, Run& run) {
  const auto task = std::make_shared<std::string>();
  command.add_option("TASK", *task, "File of the task")->required();
  command.callback([&run, task] { run = [task] { return run_gpu_worker(*task); }; });
}

const RegisteredCommand kGpuWorkerCommand{{.rank = 140,
                                           .name = "gpu-worker",
                                           .help = "Runs trials for --engine gpu",
                                           .add = add_gpu_worker_to,
                                           .is_hidden = true}};

}  // namespace
}  // namespace warpcheck
