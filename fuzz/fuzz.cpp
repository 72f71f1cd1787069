#include "fuzz/fuzz.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>

#include "fuzz/entry.hpp"
#include "fuzz/libfuzzer.hpp"
#include "harness/case/case_file.hpp"
#include "harness/process/workers.hpp"

namespace warpcheck {
namespace {

using fuzz::case_directory;
using fuzz::InputRunner;
using fuzz::KnownFailures;

// Tags of the lines that a job emits.
constexpr char kCase = 'c';        // path of a case file, behind executions, shrinks, completeness
constexpr char kExecutions = 'n';  // at the end: how many
constexpr char kLines = 'l';       // at the end: coverage, where it is wanted
constexpr char kError = 'e';       // why the job cannot go on

// One job: what the callback of libFuzzer works on.
class Job {
 public:
  Job(const FuzzOptions& options, const Emit& emit)
      : options_(options),
        emit_(emit),
        runner_(*options.pair, fuzz::libfuzzer_counters(),
                {options.build, options.warp_model, options.feedback, options.coverage}) {
    fuzz::set_mutation_shape(runner_.shape());
  }

  // An error (a kernel that cannot be run, a case that cannot be written) ends the job.
  void run_input(std::span<const std::uint8_t> bytes) {
    try {
      run_trial(bytes);
    } catch (const fuzz::UnsupportedError& error) {
      end_with(error.what());
    } catch (const CaseFileError& error) {
      end_with(error.what());
    } catch (const std::exception& error) {
      end_with(internal_error(error.what()));
    }
  }

  // Leaves the process; static objects belong to the parent.
  [[noreturn]] void end() {
    if (const auto coverage = runner_.coverage()) emit_(kLines + to_json(*coverage).dump());
    emit_(fmt::format("{}{}", kExecutions, runner_.executions()));
    std::_Exit(0);
  }

 private:
  [[noreturn]] void end_with(std::string_view error) {
    emit_(fmt::format("{}{}", kError, error));
    end();
  }

  void run_trial(std::span<const std::uint8_t> bytes) {
    const auto failed = runner_.run(bytes);
    if (!failed || !known_.add(failed->verdict)) return;
    const Report report =
        fuzz::shrink_and_save(*failed, case_directory(options_.cases, *options_.pair),
                              runner_.executions(), runner_.plain_runner(), options_.shrink);
    emit_(fmt::format("{}{} {} {:d} {}", kCase, report.search->trials, report.search->shrinks,
                      report.search->complete, report.replay_path));
    known_.add(report.verdict);
    for (const vgpu::FindingKind kind : failure_kinds(failed->verdict)) kinds_.insert(kind);
    if (options_.stop_when_found && std::ranges::includes(kinds_, options_.pair->expects())) {
      end();
    }
  }

  const FuzzOptions& options_;
  const Emit& emit_;
  InputRunner runner_;
  KnownFailures known_;
  std::set<vgpu::FindingKind> kinds_;
};

// libFuzzer's callback and the end of the process know no context.
Job* the_job = nullptr;

[[noreturn]] void run_job(const FuzzOptions& options, std::size_t number, const Emit& emit) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Job job(options, emit);
  the_job = &job;
  std::atexit([] { the_job->end(); });
  fuzz::silence_libfuzzer();
  std::vector<std::string> arguments =
      fuzz::search_arguments(std::uint64_t{options.seed} * options.jobs + number);
  arguments.push_back(
      fmt::format("-artifact_prefix={}/", case_directory(options.cases, *options.pair).string()));
  if (options.seconds != 0) {
    arguments.push_back(fmt::format("-max_total_time={}", options.seconds));
  }
  if (options.executions != 0) arguments.push_back(fmt::format("-runs={}", options.executions));
  if (!options.corpus.empty()) arguments.push_back(options.corpus);
  fuzz::run_libfuzzer(arguments,
                      [](std::span<const std::uint8_t> bytes) { the_job->run_input(bytes); });
}

[[noreturn]] void throw_unknown(const std::string& line) {
  throw std::runtime_error(internal_error(fmt::format("a job wrote '{}'", line)));
}

Report report_of(const std::string& line, Registry& registry, TrialRunner& runner) {
  unsigned long long trials = 0, shrinks = 0;
  int complete = 0, length = 0;
  if (std::sscanf(line.c_str(), "%llu %llu %d %n", &trials, &shrinks, &complete, &length) != 3) {
    throw_unknown(line);
  }
  Report report;
  report.replay_path = line.substr(static_cast<std::size_t>(length));
  report.a_case = read_case(report.replay_path, registry).a_case;
  report.verdict = runner.run(report.a_case);
  report.search = Report::Search{trials, shrinks, complete != 0};
  return report;
}

void take_line(const std::string& line, std::set<std::string>& cases, FuzzOutcome& outcome) {
  const std::string text = line.empty() ? "" : line.substr(1);
  switch (line.empty() ? '\0' : line.front()) {
    case kCase: cases.insert(text); return;
    case kError: outcome.errors.push_back(text); return;
    case kLines:
      if (!outcome.coverage) outcome.coverage.emplace();
      outcome.coverage->add(line_coverage_from(Json::parse(text)));
      return;
    case kExecutions: {
      std::uint64_t executions = 0;
      const char* const last = text.data() + text.size();
      if (std::from_chars(text.data(), last, executions).ptr != last) break;
      outcome.executions += executions;
      return;
    }
    default: break;
  }
  throw_unknown(line);
}

// Case files are named by what they show, so jobs that found the same wrote the same file.
void take_lines(const TaskResult& task, const FuzzOptions& options, std::set<std::string>& cases,
                FuzzOutcome& outcome) {
  for (const std::string& line : task.lines) take_line(line, cases, outcome);
  const bool ended = !task.lines.empty() && task.lines.back().starts_with(kExecutions);
  if (ended) return;
  const bool interrupted = options.stop != nullptr && *options.stop != 0;
  outcome.errors.push_back(
      interrupted ? task.failure
                  : fmt::format("a job {}; libFuzzer saved the input in {}", task.failure,
                                case_directory(options.cases, *options.pair).string()));
}

}  // namespace

std::vector<vgpu::FindingKind> FuzzOutcome::kinds() const {
  std::set<vgpu::FindingKind> kinds;
  for (const Report& report : reports) {
    for (const vgpu::FindingKind kind : failure_kinds(report.verdict)) kinds.insert(kind);
  }
  return {kinds.begin(), kinds.end()};
}

FuzzOutcome run_fuzz(const FuzzOptions& options) {
  if (options.pair == nullptr) throw std::invalid_argument("fuzz: no pair");
  if (options.seconds == 0 && options.executions == 0 && !options.stop_when_found) {
    throw std::invalid_argument("fuzz: neither seconds nor executions end the search");
  }
  std::filesystem::create_directories(case_directory(options.cases, *options.pair));
  if (!options.corpus.empty()) std::filesystem::create_directories(options.corpus);
  const auto tasks = run_tasks(
      options.jobs, options.jobs,
      [&](std::size_t job, const Emit& emit) { run_job(options, job, emit); }, options.stop, {},
      options.on_wait);
  if (options.on_done) options.on_done();
  std::error_code not_empty;
  std::filesystem::remove(case_directory(options.cases, *options.pair), not_empty);
  FuzzOutcome outcome;
  std::set<std::string> cases;
  for (const TaskResult& task : tasks) take_lines(task, options, cases, outcome);
  TrialRunner runner;
  std::set<std::string> seen;
  for (const std::string& line : cases) {
    Report report = report_of(line, Registry::global(), runner);
    if (seen.insert(report.replay_path).second) outcome.reports.push_back(std::move(report));
  }
  std::ranges::sort(outcome.reports, {}, &Report::replay_path);
  return outcome;
}

}  // namespace warpcheck
