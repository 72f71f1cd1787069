#include "fuzz/fuzz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "fuzz/entry.hpp"
#include "fuzz/libfuzzer.hpp"
#include "harness/case/case_file.hpp"
#include "harness/process/workers.hpp"

namespace warpcheck {
namespace {

using fuzz::case_directory;
using fuzz::InputRunner;

// One job: the context of libFuzzer's callback.
class Job {
 public:
  Job(const FuzzOptions& options, const Emit& emit)
      : options_(options),
        emit_(emit),
        runner_(*options.pair, fuzz::libfuzzer_counters(),
                {options.build, options.warp_model, options.feedback, options.coverage}),
        search_({.end = options.stop_when_found ? SearchEnd::all_expected : SearchEnd::never,
                 .expected = options.pair->expects(),
                 .on_failure = [this](const Failure& failure) { take(failure); }}) {
    fuzz::set_mutation_shape(runner_.shape());
  }

  // An error, such as a kernel that cannot be run, ends the job.
  void run_input(std::span<const std::uint8_t> bytes) {
    try {
      if (search_.take([&] { return runner_.try_input(bytes); })) return tell_trials(kTrialsAtOnce);
      fuzz::require_runnable(search_);
    } catch (const fuzz::UnsupportedError& error) {
      end_with(error.what());
    } catch (const std::exception& error) {
      end_with(internal_error(error.what()));
    }
    end();
  }

  // Ends the process; static objects belong to the parent.
  [[noreturn]] void end() {
    if (const auto coverage = runner_.coverage()) emit_(LinesMessage{*coverage});
    tell_trials(0);
    emit_(DoneMessage{});
    std::_Exit(0);
  }

 private:
  static constexpr std::uint64_t kTrialsAtOnce = 250;

  // Tells of the trials since the last time, if there are `least`; an interrupted job has no end.
  void tell_trials(std::uint64_t least) {
    const std::uint64_t trials = runner_.executions() - trials_told_;
    if (trials < least) return;
    const std::uint64_t for_every_schedule = search_.seen().for_every_schedule;
    emit_(TrialsMessage{trials});
    emit_(EveryScheduleMessage{for_every_schedule - for_every_schedule_told_});
    trials_told_ += trials;
    for_every_schedule_told_ = for_every_schedule;
  }

  [[noreturn]] void end_with(std::string error) {
    emit_(ErrorMessage{std::move(error)});
    end();
  }

  void take(const Failure& failure) {
    if (!known_.add(failure.verdict)) return;
    const auto& [report, not_saved] =
        fuzz::shrink_and_save(failure, case_directory(options_.cases, *options_.pair),
                              runner_.executions(), runner_.plain_runner(), options_.shrink);
    if (!not_saved.empty()) emit_(ErrorMessage{not_saved});
    const bool is_saved = !report.replay_path.empty();
    emit_(FailureMessage{
        .case_text = is_saved ? "" : case_text(record_of(report.a_case, report.verdict)),
        .path = report.replay_path,
        .trials = report.search->trials,
        .shrinks = report.search->shrinks,
        .complete = report.search->complete});
    known_.add(report.verdict);
    tell_trials(0);
  }

  const FuzzOptions& options_;
  const Emit& emit_;
  InputRunner runner_;
  KnownFailures known_;
  SearchLoop search_;
  std::uint64_t trials_told_ = 0, for_every_schedule_told_ = 0;
};

// libFuzzer's callback and atexit functions have no context argument.
Job* the_job = nullptr;

[[noreturn]] void run_job(const FuzzOptions& options, std::size_t number, const Emit& emit) {
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

// Merges the messages of all jobs.  Case files are named by their failure, so jobs with the same
// failure wrote the same file; the job that found it first counts.
class Merge {
 public:
  explicit Merge(const FuzzOptions& options) : options_(options) {}

  void add(const TaskResult& job) {
    for (const Message& message : job.messages) add(message);
    outcome_.errors.insert(outcome_.errors.end(), job.unreadable.begin(), job.unreadable.end());
    if (job.finished) return;
    if (options_.stop != nullptr && *options_.stop != 0) {
      is_interrupted_ = true;
      return;
    }
    outcome_.errors.push_back(
        job.threw ? job.failure
                  : fmt::format("a job {}; libFuzzer saved the input in {}", job.failure,
                                case_directory(options_.cases, *options_.pair).string()));
  }

  FuzzOutcome finish() {
    if (is_interrupted_) outcome_.errors.emplace_back("interrupted");
    TrialRunner runner;
    KnownFailures known;
    const auto report = [&](Case a_case, const Report::Search& search, const std::string& path) {
      Verdict verdict = runner.run(a_case);
      if (!known.add(verdict) && path.empty()) return;
      outcome_.reports.push_back({std::move(a_case), std::move(verdict), search, path});
    };
    for (const auto& [path, search] : cases_) {
      report(read_case(path, Registry::global()).a_case, search, path);
    }
    for (const auto& [text, search] : unsaved_) {
      report(parse_case(text, options_.pair->name(), Registry::global()).a_case, search, "");
    }
    return std::move(outcome_);
  }

 private:
  void add(const Message& message) {
    std::visit(
        Overloaded{
            [&](const FailureMessage& found) {
              const Report::Search search{found.trials, found.shrinks, found.complete};
              if (found.path.empty()) {
                unsaved_.emplace_back(found.case_text, search);
                return;
              }
              const auto [known, is_new] = cases_.try_emplace(found.path, search);
              if (!is_new && search.trials < known->second.trials) known->second = search;
            },
            [&](const ErrorMessage& error) { outcome_.errors.push_back(error.text); },
            [&](const LinesMessage& lines) {
              if (!outcome_.coverage) outcome_.coverage.emplace();
              outcome_.coverage->add(lines.coverage);
            },
            [&](const TrialsMessage& trials) { outcome_.executions += trials.count; },
            [&](const EveryScheduleMessage& those) {
              outcome_.beyond.for_every_schedule += those.trials;
            },
            [&](const auto&) { outcome_.errors.push_back(internal_error(unexpected(message))); }},
        message);
  }

  const FuzzOptions& options_;
  FuzzOutcome outcome_;
  bool is_interrupted_ = false;
  std::map<std::string, Report::Search> cases_;                  // by path
  std::vector<std::pair<std::string, Report::Search>> unsaved_;  // with the text of the case
};

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
  make_directory(case_directory(options.cases, *options.pair));
  if (!options.corpus.empty()) make_directory(options.corpus);
  const auto tasks = run_tasks(
      options.jobs, options.jobs,
      [&](std::size_t job, const Emit& emit) { run_job(options, job, emit); }, options.stop, {},
      options.on_wait);
  if (options.on_done) options.on_done();
  std::error_code not_empty;
  std::filesystem::remove(case_directory(options.cases, *options.pair), not_empty);
  Merge merge(options);
  for (const TaskResult& task : tasks) merge.add(task);
  return merge.finish();
}

}  // namespace warpcheck
