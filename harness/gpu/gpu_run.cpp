#include "harness/gpu/gpu_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "harness/gpu/sanitizer.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Under a sanitizer a log says what happened in a whole process, and not in which trial.
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

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// How a worker ended.
struct WorkerEnd {
  GpuProgress progress;
  bool hung = false;
  bool stopped = false;
  int status = 0;  // of waitpid
};

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) throw GpuError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (process > 0) return process;
  ::setpgid(0, 0);  // a group of its own, to be ended together with what it starts
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // what kernels print is no report
  ::execv(arguments.front(), arguments.data());
  ::_exit(127);
}

// What a worker writes while it runs.
class WorkerFiles {
 public:
  explicit WorkerFiles(const GpuTask& task) : task_(task) {}

  [[nodiscard]] GpuProgress progress() const {
    GpuProgress progress;
    std::ifstream stream(task_.progress(), std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(&progress), sizeof progress)) return {};
    return progress;
  }

  // Each line once; not the beginning of one.
  void for_each_new_line(const std::function<void(const Json&)>& take) {
    std::ifstream stream(task_.results());
    stream.seekg(read_);
    for (std::string line; std::getline(stream, line) && !stream.eof();) {
      read_ += static_cast<std::streamoff>(line.size() + 1);
      try {
        take(Json::parse(line));
      } catch (const Json::exception& error) {
        throw GpuError(
            fmt::format("the process that uses the GPU wrote '{}': {}", line, error.what()));
      }
    }
  }

 private:
  const GpuTask& task_;
  std::streamoff read_ = 0;
};

// Until the process ends, hangs, or is to be stopped.  It is ended when take_line throws.
WorkerEnd watch(pid_t process, const GpuTask& task, const GpuOptions& options,
                const std::function<void(const Json&)>& take_line) {
  WorkerFiles files(task);
  WorkerEnd end;
  auto last_news = Clock::now();
  while (::waitpid(process, &end.status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    try {
      files.for_each_new_line(take_line);
    } catch (const GpuError&) {
      ::kill(-process, SIGKILL);
      ::waitpid(process, &end.status, 0);
      throw;
    }
    const GpuProgress now = files.progress();
    if (now.begun != end.progress.begun) last_news = Clock::now();
    end.progress = now;
    const std::chrono::duration<double> silence = Clock::now() - last_news;
    end.hung =
        silence.count() > (now.begun == 0 ? options.seconds_to_start : options.seconds_per_trial);
    end.stopped = options.stop != nullptr && *options.stop != 0;
    if (!end.hung && !end.stopped) continue;
    ::kill(-process, SIGKILL);
    ::waitpid(process, &end.status, 0);
    break;
  }
  end.progress = files.progress();
  files.for_each_new_line(take_line);
  return end;
}

vgpu::Finding finding_of(vgpu::FindingKind kind, std::string message) {
  vgpu::Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  return finding;
}

std::vector<vgpu::Finding> findings_of(const Json& list) {
  std::vector<vgpu::Finding> findings;
  for (const Json& json : list) {
    vgpu::FindingKind kind{};
    if (!vgpu::find_kind(json.at("kind").get<std::string>(), kind)) {
      throw Json::other_error::create(501, "no such kind of finding", &json);
    }
    findings.push_back(finding_of(kind, json.at("message")));
    findings.back().kernel = json.at("kernel");
    if (!vgpu::find_lack(json.at("lack").get<std::string>(), findings.back().lack)) {
      throw Json::other_error::create(501, "no such lack", &json);
    }
  }
  return findings;
}

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
  using TakeOutcome = std::function<void(GpuOutcome)>;

  // Hands over the jobs that one worker brings to an end, in order, as it does so; at least the
  // first, unless stopped.
  void run_worker(const std::vector<GpuJob>& jobs, const fs::path& log,
                  const TakeOutcome& end_job) {
    const GpuTask task{scratch_.path() / fmt::format("task{}", ++tasks_)};
    write_task(task, jobs, options_);
    std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(), "gpu-worker",
                                     task.file.string()};
    if (!log.empty()) {
      command.insert(command.begin(), {sanitizer_, "--tool", options_.sanitizer,
                                       "--target-processes", "all", "--log-file", log.string()});
    }
    std::size_t ended = 0;
    GpuOutcome current;
    std::string error;
    const WorkerEnd end = watch(start(command), task, options_, [&](const Json& line) {
      if (line.contains("error")) {
        error = line.at("error");
      } else if (ended == jobs.size()) {
        throw Json::other_error::create(501, "a line of no job", &line);
      } else if (take_line(line, jobs[ended], current)) {
        ++ended;
        end_job(std::exchange(current, {}));
      }
    });
    if (!error.empty()) throw GpuError(error);
    stopped_ = end.stopped;
    // Not in the middle of a job: it lost the device with the failure that it told.
    if (stopped_ || ended == jobs.size() || end.progress.job < ended) return;
    end_job(outcome_of_unfinished(end, jobs));
  }

  // Returns whether the line ends the job.
  bool take_line(const Json& line, const GpuJob& job, GpuOutcome& current) {
    if (line.contains("device")) {
      const bool first = run_.device.empty();
      run_.device = line.at("device");
      if (first && on_device_) on_device_(run_.device);
    } else if (line.contains("refusal")) {
      current.refusal = line.at("refusal");
    } else if (line.contains("findings")) {
      const std::uint64_t trial = line.at("trial");
      Verdict verdict;
      verdict.findings = findings_of(line.at("findings"));
      verdict.launches = line.at("launches");
      current.failure = Failure{case_of(job, trial, options_.check), std::move(verdict), trial + 1};
    } else if (line.contains("trials")) {
      current.trials = line.at("trials");
      return true;
    } else {
      throw Json::other_error::create(501, "no such line", &line);
    }
    return false;
  }

  // The worker ended in the middle of a job: that is a failure of the trial it was at.
  GpuOutcome outcome_of_unfinished(const WorkerEnd& end, const std::vector<GpuJob>& jobs) {
    if (end.progress.begun == 0) {
      throw GpuError(
          end.hung ? fmt::format("the GPU did not get ready within {} s", options_.seconds_to_start)
                   : fmt::format("the process that was to use the GPU {}", how(end)));
    }
    const GpuJob& job = jobs.at(end.progress.job);
    const std::uint64_t trial = end.progress.trial;
    Verdict verdict;
    verdict.findings.push_back(
        end.hung ? finding_of(
                       vgpu::FindingKind::deadlock,
                       fmt::format("the trial did not end within {} s", options_.seconds_per_trial))
                 : finding_of(vgpu::FindingKind::trap, "the trial's process " + how(end)));
    return {.trials = trial - job.first + 1,
            .failure = Failure{case_of(job, trial, options_.check), std::move(verdict), trial + 1},
            .refusal = {}};
  }

  static std::string how(const WorkerEnd& end) {
    if (WIFSIGNALED(end.status)) {
      return fmt::format("was killed by signal {} ({})", WTERMSIG(end.status),
                         ::strsignal(WTERMSIG(end.status)));
    }
    return fmt::format("ended with status {}", WEXITSTATUS(end.status));
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

  // Looks for the trial that a log is about by halves.
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
    const std::string text = text_of(log);
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
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.find_first_not_of("= ") != std::string::npos) last = line;
    }
    return last;
  }

  // The tool's findings first; an error that the run itself met is their consequence, but what is
  // wrong with a result is not.
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
