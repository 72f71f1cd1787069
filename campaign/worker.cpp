#include "campaign/worker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

#include "campaign/coverage.hpp"
#include "fuzz/entry.hpp"
#include "fuzz/libfuzzer.hpp"
#include "harness/case/case_file.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::campaign {
namespace {

// The message for the current exception.
Message message_of_exception() {
  try {
    throw;
  } catch (const CaseFileError& error) {
    return ErrorMessage{error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    return ErrorMessage{error.what()};
  } catch (const fuzz::UnsupportedError& error) {
    return RefusalMessage{error.what()};
  } catch (const std::exception& error) {
    return InternalErrorMessage{internal_error(error.what())};
  } catch (...) {
    return InternalErrorMessage{internal_error("an exception that says nothing")};
  }
}

// --- search -------------------------------------------------------------------------------------

// A slot lasts at least this many times as long as its corpus took to run.
constexpr double kSearchShare = 4;
// Seconds between looks for corpus entries of others.
constexpr double kLookSeconds = 0.5;

class Search {
 public:
  Search(const SearchTask& task, WorkerMemory& memory, const Emit& emit)
      : task_(task),
        memory_(memory),
        emit_(emit),
        corpus_(std::filesystem::absolute(task.directory->corpus(task.pair->name()))),
        known_(task.known),
        runner_(*task.pair, fuzz::libfuzzer_counters()),
        search_({.on_failure = [this](const Failure& failure) { report(failure); }}) {
    fuzz::set_mutation_shape(runner_.shape());
  }

  // The names of the corpus, shortest entries first, which libFuzzer runs first.  Those that then
  // cover nothing new are dropped: greedy set cover by size.  An entry is only dropped in favour of
  // shorter ones, so workers that do this at the same time do not drop each other's shorter
  // entries.
  std::vector<std::string> begin_with_corpus() {
    Corpus corpus = read_corpus(*task_.directory, task_.pair->name());
    for (std::string& remark : corpus.messages) emit_(RemarkMessage{std::move(remark)});
    std::vector<std::string> names;
    for (const CorpusEntry& entry : corpus.entries) {
      names.push_back(entry.path.filename().string());
    }
    known_names_.insert(names.begin(), names.end());
    to_begin_with_ = known_names_;
    return names;
  }

  // An error (a kernel that cannot be run, a full disk, one of warpcheck) ends the search.
  void run_input(std::span<const std::uint8_t> bytes) {
    try {
      keep_or_drop(bytes, run_trial(bytes));
    } catch (...) {
      end_with_exception();
    }
    memory_.used_seconds = used_seconds();
    if (is_searching_ && memory_.used_seconds >= end_seconds_) end();
  }

  // Returns entries that other workers or nodes add to the corpus while this search runs.  None is
  // dropped here, because their owner may be dropping similar ones.
  std::optional<std::vector<std::uint8_t>> next_of_others() {
    const double used = used_seconds();
    if (!std::exchange(is_searching_, true)) {
      end_seconds_ = used + std::max(static_cast<double>(task_.seconds), kSearchShare * used);
    }
    try {
      if (used >= next_look_) {
        next_look_ = used + kLookSeconds;
        look_for_others();
      }
      while (!others_.empty()) {
        const std::filesystem::path path = std::move(others_.back());
        others_.pop_back();
        std::vector<std::uint8_t> bytes = bytes_unless_gone(path);
        if (bytes.empty() || bytes.size() > kCorpusBytesMax) continue;
        is_of_others_ = true;
        return bytes;
      }
    } catch (...) {
      end_with_exception();
    }
    return std::nullopt;
  }

  [[noreturn]] void end_with_exception() {
    emit_(message_of_exception());
    end();
  }

  [[noreturn]] void end() {
    emit_(SearchedMessage{static_cast<std::int64_t>(coverage_.features()),
                          static_cast<std::int64_t>(entries_)});
    emit_(DoneMessage{});
    std::_Exit(0);  // static objects belong to the parent
  }

 private:
  // Returns the number of new features.
  std::size_t run_trial(std::span<const std::uint8_t> bytes) {
    memory_.begin_input(bytes);
    ++memory_.executions;  // also for a trial that ends the search
    search_.take([&] { return runner_.try_input(bytes); });
    memory_.for_every_schedule = search_.seen().for_every_schedule;
    fuzz::require_runnable(search_);
    return coverage_.add(fuzz::libfuzzer_counters());
  }

  // CPU time: other work on the machine makes slots longer, but not more numerous.
  static double used_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }

  void keep_or_drop(std::span<const std::uint8_t> bytes, std::size_t features) {
    if (std::exchange(is_of_others_, false)) {
      entries_ += features != 0 ? 1 : 0;
      return;
    }
    if (!is_searching_ && to_begin_with_.erase(corpus_name(bytes)) != 0) {
      std::error_code gone;
      if (features == 0) std::filesystem::remove(corpus_ / corpus_name(bytes), gone);
      entries_ += features != 0 ? 1 : 0;
      return;
    }
    if (features == 0) return;
    save_corpus_entry(corpus_, bytes);
    known_names_.insert(corpus_name(bytes));
    ++entries_;
    memory_.features += features;
    ++memory_.entries;
  }

  // Another worker may have dropped it in the meantime.
  static std::vector<std::uint8_t> bytes_unless_gone(const std::filesystem::path& path) {
    try {
      return read_corpus_bytes(path);
    } catch (const CaseFileError&) {
      if (std::filesystem::exists(path)) throw;
      return {};
    }
  }

  void look_for_others() {
    for (const std::filesystem::path& path : files_in(corpus_)) {
      const std::string name = path.filename().string();
      if (!name.ends_with(".tmp") && known_names_.insert(name).second) others_.push_back(path);
    }
  }

  void report(const Failure& failed) {
    if (!known_.add(failed.verdict)) return;
    emit_(FoundMessage{.pair = task_.pair->name(),
                       .case_text = case_text(record_of(failed.a_case, failed.verdict)),
                       .executions = static_cast<std::int64_t>(runner_.executions()),
                       .findings = shown_findings(failed.verdict)});
  }

  const SearchTask& task_;
  WorkerMemory& memory_;
  const Emit& emit_;
  std::filesystem::path corpus_;
  KnownFailures known_;
  fuzz::InputRunner runner_;
  SearchLoop search_;
  Coverage coverage_;
  std::size_t entries_ = 0;
  std::set<std::string> to_begin_with_{};  // names of the corpus that are not yet run
  std::set<std::string> known_names_{};    // all that this search has seen
  std::vector<std::filesystem::path> others_{};
  bool is_of_others_ = false;  // whether the current input is of another worker or node
  bool is_searching_ = false;  // the corpus has been run
  double end_seconds_ = 0, next_look_ = 0;
};

// libFuzzer's callback and atexit functions have no context argument.
Search* the_search = nullptr;

// --- shrink and confirm -------------------------------------------------------------------------

// The virtual GPU, with a heartbeat for each trial.
class BeatingEngine final : public Engine {
 public:
  explicit BeatingEngine(WorkerMemory& memory) : memory_(memory) {}
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    ++memory_.executions;
    return virtual_gpu().run(settings, body);
  }

 private:
  WorkerMemory& memory_;
};

Case case_of(const StoredFinding& finding) {
  return parse_case(finding.case_text, finding.key.hash + ".case", Registry::global()).a_case;
}

bool shows(const Verdict& verdict, const std::string& hash) {
  return std::ranges::any_of(verdict.findings, [&](const vgpu::Finding& finding) {
    return finding.severity == vgpu::Severity::error && vgpu::hash_of(finding) == hash;
  });
}

}  // namespace

std::vector<ShownFinding> shown_findings(const Verdict& verdict) {
  std::vector<ShownFinding> shown;
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.severity != vgpu::Severity::error) continue;
    ShownFinding one{vgpu::hash_of(finding), std::string(vgpu::name_of(finding.kind)),
                     vgpu::class_of(finding)};
    if (std::ranges::find(shown, one.hash, &ShownFinding::hash) == shown.end()) {
      shown.push_back(std::move(one));
    }
  }
  return shown;
}

void search(const SearchTask& task, WorkerMemory& memory, const Emit& emit) {
  Search search(task, memory, emit);
  the_search = &search;
  std::atexit([] { the_search->end(); });
  std::vector<std::string> arguments = fuzz::search_arguments(task.seed);
  arguments.push_back(fmt::format("-max_total_time={}", kWaitingMax * task.seconds));
  arguments.emplace_back("-shuffle=0");  // the corpus in its order
  // A crash ends the process by its signal; the parent reads the input from the shared memory.
  for (const char* signal : {"segv", "bus", "abrt", "ill", "fpe"}) {
    arguments.push_back(fmt::format("-handle_{}=0", signal));
  }
  try {
    const std::filesystem::path corpus = task.directory->corpus(task.pair->name());
    make_directory(corpus);
    const std::vector<std::string> seeds = search.begin_with_corpus();
    if (task.executions != 0) {
      arguments.push_back(fmt::format("-runs={}", task.executions + seeds.size()));
    }
    if (!seeds.empty()) arguments.push_back(fmt::format("-seed_inputs={}", fmt::join(seeds, ",")));
    // Names of entries contain no comma; the path to them may.
    std::filesystem::current_path(corpus);
  } catch (...) {
    search.end_with_exception();
  }
  fuzz::silence_libfuzzer();
  fuzz::set_input_source([] { return the_search->next_of_others(); });
  fuzz::run_libfuzzer(arguments,
                      [](std::span<const std::uint8_t> bytes) { the_search->run_input(bytes); });
}

void shrink_finding(const StoredFinding& finding, const ShrinkOptions& options,
                    WorkerMemory& memory, const Emit& emit) {
  BeatingEngine engine(memory);
  TrialRunner runner(engine);
  ShrinkOptions all = options;
  all.places = {finding.place};
  const ShrunkCase shrunk = shrink(case_of(finding), runner, all);
  ShrunkMessage message{.kept = shrunk.kept,
                        .case_text = {},
                        .shrinks = static_cast<std::int64_t>(shrunk.shrinks),
                        .complete = shrunk.complete,
                        .findings = shown_findings(shrunk.verdict)};
  if (shrunk.kept) message.case_text = case_text(record_of(shrunk.a_case, shrunk.verdict));
  emit(message);
}

void confirm_finding(const StoredFinding& finding, WorkerMemory& memory, const Emit& emit) {
  constexpr std::int64_t kSchedules = 20;
  constexpr std::uint64_t kStepsMax = 100'000'000;  // a hang takes as many as it may
  BeatingEngine engine(memory);
  TrialRunner runner(engine);
  Case a_case = case_of(finding);
  ConfirmedMessage message;
  message.confirmed = shows(runner.run(a_case), finding.key.hash);
  std::uint64_t steps = 0;
  for (std::int64_t i = 0; i < kSchedules && steps < kStepsMax; ++i) {
    // The default schedule, then those of a search in turn.
    a_case.schedule = vgpu::Schedule{};
    if (i > 0) {
      const auto seed = static_cast<std::uint64_t>(i);
      const vgpu::StrategyRow& row = vgpu::searched_strategy(seed);
      a_case.schedule = StrategyChoice{std::string(vgpu::strategy_of_seed(row, seed).name), seed};
    }
    const Verdict verdict = runner.run(a_case);
    steps += verdict.steps;
    ++message.schedules;
    message.shown += shows(verdict, finding.key.hash) ? 1 : 0;
  }
  emit(message);
}

}  // namespace warpcheck::campaign
