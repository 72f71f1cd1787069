#include "harness/gpu/gpu_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/gpu/sanitizer.hpp"
#include "harness/process/worker_pool.hpp"
#include "vgpu/text/file_text.hpp"
#include "vgpu/text/trimmed.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

// A sanitizer's log is of a whole process, and does not name the trial.
constexpr std::uint64_t kTrialsPerLog = 64;

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (fs::temp_directory_path() / "warpcheck-gpu.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw GpuError(fmt::format("cannot make a directory in {}: {}",
                                 fs::temp_directory_path().string(), std::strerror(errno)));
    }
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

vgpu::Finding finding_of(vgpu::FindingKind kind, std::string message) {
  vgpu::Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  return finding;
}

std::vector<vgpu::Finding> findings_of(const std::vector<GpuFinding>& list) {
  std::vector<vgpu::Finding> findings;
  for (const GpuFinding& told : list) {
    findings.push_back(finding_of(told.kind, told.message));
    findings.back().kernel = told.kernel;
    findings.back().lack = told.lack;
  }
  return findings;
}

// Receives the messages of one worker about its jobs, which it runs in order.
class JobListener final : public WorkerListener {
 public:
  using TakeDevice = std::function<void(const std::string&)>;
  using TakeOutcome = std::function<void(GpuOutcome)>;

  JobListener(WorkerPool& pool, const std::vector<GpuJob>& jobs, const GpuOptions& options,
              TakeDevice take_device, TakeOutcome end_job)
      : pool_(pool),
        jobs_(jobs),
        options_(options),
        take_device_(std::move(take_device)),
        end_job_(std::move(end_job)) {}

  void on_message(std::size_t worker, const Message& message) override {
    const bool known = std::visit(
        Overloaded{[&](const ErrorMessage& error) { return error_ = error.text, true; },
                   [&](const GpuDeviceMessage& device) { return take_device_(device.text), true; },
                   [&](const GpuTrialMessage& trial) { return take(trial); },
                   [&](const RefusalMessage& refusal) { return take(refusal); },
                   [&](const GpuFailureMessage& failure) { return take(failure); },
                   [&](const TrialsMessage& trials) { return take(trials); },
                   [](const auto&) { return false; }},
        message);
    if (!known) on_unreadable(worker, unexpected(message));
  }

  // Nothing of this worker's messages can be trusted: it ends with its pool.
  void on_unreadable(std::size_t, const ProtocolError& error) override {
    throw GpuError(fmt::format("the process that uses the GPU {}", error.what()));
  }

  void on_end(std::size_t, const WorkerEnd& end) override { end_ = end; }

  // Call after the worker has ended by itself.
  void finish() {
    if (!error_.empty()) throw GpuError(error_);
    if (!latest_) {
      throw GpuError(
          end_.silent
              ? fmt::format("the GPU did not get ready within {} s", options_.seconds_to_start)
              : fmt::format("the process that was to use the GPU {}", how_it_ended()));
    }
    // It ended during a job; otherwise it lost the device with the failure that it reported.
    if (ended_ < jobs_.size() && latest_->job >= ended_) end_job_(outcome_of_unfinished());
  }

 private:
  bool take(const GpuTrialMessage& trial) {
    if (trial.job != ended_ || trial.job >= jobs_.size()) return false;
    latest_ = trial;
    pool_.give_time(0, options_.seconds_per_trial);
    return true;
  }

  bool take(const RefusalMessage& refusal) {
    if (ended_ == jobs_.size()) return false;
    current_.refusal = refusal.reason;
    return true;
  }

  bool take(const GpuFailureMessage& failure) {
    if (ended_ == jobs_.size()) return false;
    Verdict verdict;
    verdict.findings = findings_of(failure.findings);
    verdict.launches = failure.launches;
    current_.failure = failure_of(failure.trial, std::move(verdict));
    return true;
  }

  bool take(const TrialsMessage& trials) {
    if (ended_ == jobs_.size()) return false;
    current_.trials = trials.count;
    ++ended_;
    end_job_(std::exchange(current_, {}));
    return true;
  }

  [[nodiscard]] Failure failure_of(std::uint64_t trial, Verdict verdict) const {
    return {case_of(jobs_[ended_], trial, options_.check), std::move(verdict), trial + 1};
  }

  // The end of the worker is a failure of its current trial.
  [[nodiscard]] GpuOutcome outcome_of_unfinished() const {
    Verdict verdict;
    verdict.findings.push_back(
        end_.silent ? finding_of(vgpu::FindingKind::deadlock,
                                 fmt::format("the trial did not end within {} s",
                                             options_.seconds_per_trial))
                    : finding_of(vgpu::FindingKind::trap, "the trial's process " + how_it_ended()));
    return {.trials = latest_->trial - jobs_[ended_].first + 1,
            .failure = failure_of(latest_->trial, std::move(verdict)),
            .refusal = {}};
  }

  [[nodiscard]] std::string how_it_ended() const {
    if (end_.finished) return "ended before its work was done";
    return (end_.signal == 0 ? "" : "was ") + end_.failure;
  }

  WorkerPool& pool_;
  const std::vector<GpuJob>& jobs_;
  const GpuOptions& options_;
  TakeDevice take_device_;
  TakeOutcome end_job_;
  std::size_t ended_ = 0;  // jobs
  GpuOutcome current_;     // of the running job
  std::optional<GpuTrialMessage> latest_;
  std::string error_;
  WorkerEnd end_;
};

class Runner {
 public:
  Runner(const std::vector<GpuJob>& jobs, const GpuOptions& options,
         const std::function<void(const std::string&)>& on_device)
      : jobs_(jobs), options_(options), on_device_(on_device) {
    if (options.sanitizer.empty()) return;
    sanitizer_ = find_compute_sanitizer();
    if (sanitizer_.empty()) {
      throw GpuError(
          "compute-sanitizer is not installed: it was looked for on PATH and in /usr/local/cuda");
    }
  }

  GpuRun run(const std::function<void(std::size_t, const GpuOutcome&)>& on_outcome) {
    const auto end = [&](GpuOutcome outcome) {
      run_.outcomes.push_back(std::move(outcome));
      if (on_outcome) on_outcome(run_.outcomes.size() - 1, run_.outcomes.back());
    };
    while (run_.outcomes.size() < jobs_.size() && !stopped_) {
      const std::size_t next = run_.outcomes.size();
      if (sanitizer_.empty()) {
        run_worker({jobs_.begin() + static_cast<std::ptrdiff_t>(next), jobs_.end()}, {}, end);
      } else if (GpuOutcome outcome = under_sanitizer(jobs_[next]); !stopped_) {
        end(std::move(outcome));
      }
    }
    return std::move(run_);
  }

 private:
  // Passes on the jobs that one worker finishes, in order, when each ends; at least the first,
  // unless stopped.
  void run_worker(const std::vector<GpuJob>& jobs, const fs::path& log,
                  const JobListener::TakeOutcome& end_job) {
    const GpuTask task{scratch_.path() / fmt::format("task{}", ++tasks_)};
    write_task(task, jobs, options_);
    std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(), "gpu-worker",
                                     task.file.string()};
    if (!log.empty()) {
      command.insert(command.begin(), {sanitizer_, "--tool", options_.sanitizer,
                                       "--target-processes", "all", "--log-file", log.string()});
    }
    WorkerPool pool;
    JobListener listener(
        pool, jobs, options_, [&](const std::string& device) { take_device(device); }, end_job);
    pool.start_program(0, command, task.messages());
    pool.give_time(0, options_.seconds_to_start);
    while (pool.running() > 0) {
      stopped_ = options_.stop != nullptr && *options_.stop != 0;
      if (stopped_) {
        pool.stop_all(listener);
      } else {
        pool.wait(200, listener);
      }
    }
    if (!stopped_) listener.finish();
  }

  void take_device(const std::string& device) {
    const bool first = run_.device.empty();
    run_.device = device;
    if (first && on_device_) on_device_(device);
  }

  // --- compute-sanitizer ------------------------------------------------------------------------

  GpuOutcome under_sanitizer(const GpuJob& job) {
    GpuOutcome total;
    GpuJob part = job;
    while (total.trials < job.count && !stopped_) {
      part.first = job.first + total.trials;
      part.count = std::min(kTrialsPerLog, job.count - total.trials);
      GpuOutcome outcome = first_failure(part);
      total.trials += outcome.trials;
      if (outcome.failure || !outcome.refusal.empty()) {
        total.failure = std::move(outcome.failure);
        total.refusal = std::move(outcome.refusal);
        break;
      }
      if (outcome.trials == 0) break;
    }
    return total;
  }

  // Finds the trial that a log belongs to by bisection.
  GpuOutcome first_failure(const GpuJob& job) {
    const fs::path log = scratch_.path() / fmt::format("log{}", ++logs_);
    GpuOutcome outcome;
    run_worker({job}, log, [&](GpuOutcome ended) { outcome = std::move(ended); });
    if (stopped_) return {};
    std::vector<vgpu::Finding> findings = findings_in(log);
    if (findings.empty() || !outcome.refusal.empty()) return outcome;
    if (job.count == 1 || !job.case_path.empty()) {
      add_findings(outcome, job, std::move(findings));
      return outcome;
    }
    GpuJob left = job, right = job;
    left.count = job.count / 2;
    right.first += left.count;
    right.count -= left.count;
    GpuOutcome first = first_failure(left);
    if (first.failure || stopped_) return first;
    GpuOutcome second = first_failure(right);
    second.trials += first.trials;
    if (!second.failure && second.refusal.empty() && !stopped_) {
      for (vgpu::Finding& finding : findings) {
        finding.message +=
            fmt::format("{}seen once in trials {} to {}, and not again",
                        finding.message.empty() ? "" : "; ", job.first + 1, job.first + job.count);
      }
      add_findings(second, job, std::move(findings));
    }
    return second;
  }

  [[nodiscard]] std::vector<vgpu::Finding> findings_in(const fs::path& log) const {
    const std::string text = text_of_file(log);
    std::vector<vgpu::Finding> findings = parse_sanitizer_log(text);
    const long errors = sanitizer_errors(text);
    if (errors < 0) {
      throw GpuError(fmt::format("compute-sanitizer did not run to its end: {}",
                                 text.empty() ? "it wrote no log" : last_line(text)));
    }
    if (errors > 0 && findings.empty()) {
      findings.push_back(finding_of(
          vgpu::FindingKind::trap,
          fmt::format("{} counts {} errors and says nothing of them that is understood here",
                      options_.sanitizer, errors)));
    }
    return findings;
  }

  static std::string last_line(const std::string& text) {
    std::string last;
    for (const std::string_view line : split(text, '\n')) {
      if (line.find_first_not_of("= ") != std::string_view::npos) last = line;
    }
    return last;
  }

  // The tool's findings come first.  An error that the run itself met is their consequence, but a
  // wrong result is not.
  void add_findings(GpuOutcome& outcome, const GpuJob& job,
                    std::vector<vgpu::Finding> findings) const {
    if (!outcome.failure) {
      outcome.failure = Failure{case_of(job, job.first, options_.check), {}, job.first + 1};
    }
    Verdict& verdict = outcome.failure->verdict;
    for (vgpu::Finding& finding : verdict.findings) {
      if (finding.kind == vgpu::FindingKind::mismatch && finding.lack != vgpu::Lack::output) {
        findings.push_back(std::move(finding));
      }
    }
    verdict.findings = std::move(findings);
  }

  const std::vector<GpuJob>& jobs_;
  const GpuOptions& options_;
  const std::function<void(const std::string&)>& on_device_;
  ScratchDirectory scratch_;
  std::string sanitizer_;
  GpuRun run_;
  int tasks_ = 0, logs_ = 0;
  bool stopped_ = false;
};

}  // namespace

GpuRun run_on_gpu(const std::vector<GpuJob>& jobs, const GpuOptions& options,
                  const std::function<void(const std::string&)>& on_device,
                  const std::function<void(std::size_t, const GpuOutcome&)>& on_outcome) {
  return Runner(jobs, options, on_device).run(on_outcome);
}

}  // namespace warpcheck
