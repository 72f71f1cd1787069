#include "harness/causes/find_causes.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/causes/cause_search.hpp"
#include "harness/causes/changes.hpp"
#include "harness/input/json.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/experiment_engine.hpp"
#include "harness/trial/schedule_search.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

// How many of the schedules that a search tries first a change has to help under, besides that of
// the case; if the case shows on weak memory alone, those of weak memory among so many.
constexpr std::uint64_t kSchedules = 9, kSchedulesOfWeakMemory = 800;
constexpr std::uint64_t kSeed = 1;
// Trials of the pair, with which the change has to help where they launch the changed code: sizes
// that are drawn early, so that they are not large.
constexpr std::array<std::uint64_t, 6> kDrawn{2, 5, 9, 14, 20, 27};

// The kernels of a case, in the order of their first launches.
class Launches final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override {
    return {.accesses = false, .blocks = false, .memory = false};
  }
  void on_sync(const vgpu::Sync& sync) override {
    if (sync.kind != vgpu::Sync::Kind::kernel_start) return;
    const auto threads = static_cast<std::uint32_t>(sync.block.count());
    for (LaunchedKernel& known : kernels_) {
      if (known.program != sync.program) continue;
      known.threads = std::max(known.threads, threads);
      return;
    }
    kernels_.push_back({sync.program, threads});
  }
  [[nodiscard]] const std::vector<LaunchedKernel>& kernels() const { return kernels_; }

 private:
  std::vector<LaunchedKernel> kernels_;
};

class CaseCauses final : public CauseSearch {
 public:
  CaseCauses(const Case& a_case, const Verdict& verdict, Engine& engine)
      : CauseSearch(verdict.findings, verdict.steps + kStepsAlways),
        case_(a_case),
        verdict_(verdict),
        engine_(engine) {
    case_.schedule = verdict.schedule;
  }

  Causes run() {
    collect_kernels();
    // A recorded order of the case's own kernels that an edit changes: nothing is known of it.
    if (kernels_.kernels().empty() || case_.settings.edits != nullptr) return {};
    return CauseSearch::run(changes_for(verdict_.findings, kernels_.kernels(),
                                        case_.property.empty() && case_.pair->has_reference()));
  }

 private:
  void collect_kernels() {
    FirstTrialWatched engine(engine_, kernels_);
    Settings settings = case_.settings;
    settings.checkers = vgpu::no_checkers();
    Case plain = case_;
    plain.settings = settings;
    TrialRunner runner(engine);
    pay(runner.run(plain).steps);
    for (const LaunchedKernel& kernel : kernels_.kernels())
      text_bytes_ = std::max<std::uint64_t>(text_bytes_, kernel.program->ptx.size());
  }

  // Of the case with a change: far more than it takes, and few where threads wait for ever.
  [[nodiscard]] std::uint64_t steps_max() const { return 4 * verdict_.steps + 5'000; }

  // Empty: it could not be run.
  std::optional<Verdict> try_case(const Change& change, const Case& of,
                                  std::variant<vgpu::Schedule, StrategyChoice> schedule,
                                  std::uint64_t steps_max = vgpu::kNoLimit) {
    Case tried = of;
    tried.schedule = std::move(schedule);
    const bool is_of_host = change.edits.empty();
    if (!is_of_host) tried.settings.edits = std::make_shared<const ptx::Edits>(change.edits);
    tried.settings.limits.steps_max = std::min({of.settings.limits.steps_max, steps_max, budget()});
    ExperimentEngine engine(engine_);
    engine.suppose(change.supposed);
    TrialRunner runner(engine);
    Verdict verdict = runner.run(tried);
    pay(std::max<std::uint64_t>(verdict.steps, 1) * runner.trials());
    const bool changed = is_of_host || verdict.edited_places != 0;
    if (!verdict.refusals.empty() || !changed) return std::nullopt;
    return verdict;
  }

  std::optional<Findings> findings_with(const Change& change) override {
    if (!change.edits.empty()) pay(text_bytes_ / kBytesOfStep);
    if (budget() == 0) return std::nullopt;
    std::optional<Verdict> verdict = try_case(change, case_, verdict_.schedule, steps_max());
    if (!verdict) return std::nullopt;
    return std::move(verdict->findings);
  }

  // Whether no other schedule shows the findings that it removes, or others.
  bool holds(const Change& change, const std::set<std::string>& removed) override {
    for (auto schedule = schedules().begin(); schedule != schedules_.end(); ++schedule) {
      if (budget() == 0) return false;
      const std::optional<Verdict> verdict = try_case(change, case_, *schedule, steps_max());
      if (verdict && !brings_others(verdict->findings) && !shows(verdict->findings, removed))
        continue;
      // What has refuted one change is likely to refute the next one.
      std::rotate(schedules_.begin(), schedule, schedule + 1);
      return false;
    }
    for (const Drawn& drawn : drawn_cases()) {
      if (budget() == 0) break;
      const std::optional<Verdict> verdict = try_case(change, drawn.a_case, drawn.a_case.schedule);
      if (!verdict) continue;
      const bool is_worse = std::ranges::any_of(verdict->findings, [&](const auto& finding) {
        const std::string key = key_of(finding);
        const bool is_removed = removed.contains(key) && !is_of_results(finding);
        const bool is_new = finding.severity == vgpu::Severity::error && !drawn.keys.contains(key);
        return is_removed || is_new;
      });
      if (is_worse) return false;
    }
    return true;
  }

  std::vector<StrategyChoice>& schedules() {
    if (!schedules_.empty()) return schedules_;
    for (std::uint64_t i = 0; i < kSchedules; ++i) schedules_.push_back(policy(i));
    for (std::uint64_t i = kSchedules; is_of_weak_memory() && i < kSchedulesOfWeakMemory; ++i) {
      const StrategyChoice choice = policy(i);
      if (vgpu::make_strategy(choice.name, choice.seed)->chooses_past(0))
        schedules_.push_back(choice);
    }
    return schedules_;
  }

  [[nodiscard]] bool is_of_weak_memory() const {
    return std::ranges::any_of(verdict_.schedule.decisions, [](const vgpu::Decision& decision) {
      return decision.point == vgpu::Decision::Point::past;
    });
  }

  // A trial of the pair, and what it shows without a change.
  struct Drawn {
    Case a_case;
    std::set<std::string> keys;
  };

  const std::vector<Drawn>& drawn_cases() {
    if (has_drawn_) return drawn_;
    has_drawn_ = true;
    for (const std::uint64_t trial : kDrawn) {
      try {
        Case drawn = nth_case(*case_.pair, case_.property, case_.settings, kSeed, trial);
        drawn.settings.limits.steps_max = std::min(drawn.settings.limits.steps_max, budget());
        TrialRunner runner(engine_);
        const Verdict verdict = runner.run(drawn);
        pay(verdict.steps * runner.trials());
        if (budget() == 0) break;
        if (verdict.refusals.empty())
          drawn_.push_back({std::move(drawn), keys_of(verdict.findings)});
      } catch (const DomainError&) {
        break;
      }
    }
    return drawn_;
  }

  Case case_;
  const Verdict& verdict_;
  Engine& engine_;
  Launches kernels_;
  std::uint64_t text_bytes_ = 0;
  std::vector<StrategyChoice> schedules_;  // those that have refuted a change first
  std::vector<Drawn> drawn_;
  bool has_drawn_ = false;
};

// --- between the two processes --------------------------------------------------------------

std::string text_of(const Causes& causes) {
  Json found = Json::array();
  for (const HelpfulChange& change : causes.found)
    found.push_back({{"text", change.text}, {"findings", change.findings}});
  return Json{{"found", found},
              {"tried", causes.tried},
              {"known", causes.known},
              {"budget_used_up", causes.budget_used_up}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Causes causes_in(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return {};  // the process died
  Causes causes;
  for (const Json& change : json["found"])
    causes.found.push_back(
        {change["text"].get<std::string>(), change["findings"].get<std::vector<std::size_t>>()});
  causes.tried = json["tried"].get<std::uint32_t>();
  causes.known = json["known"].get<std::uint32_t>();
  causes.budget_used_up = json["budget_used_up"].get<bool>();
  return causes;
}

void write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    at += static_cast<std::size_t>(count);
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t count = ::read(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

// What a case prints was printed when it failed.
void be_silent() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

}  // namespace

Causes causes_of(const Case& a_case, const Verdict& verdict, Engine& engine) {
  if (!verdict.failed() || !verdict.refusals.empty()) return {};
  return CaseCauses(a_case, verdict, engine).run();
}

void find_causes(Report& report, Engine& engine) {
  report.causes = {};
  if (!report.verdict.failed() || !report.verdict.refusals.empty()) return;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    be_silent();
    std::string text;
    try {
      text = text_of(causes_of(report.a_case, report.verdict, engine));
    } catch (const std::exception&) {
      text.clear();  // by rules
    }
    write_all(ends[1], text);
    ::_exit(0);
  }
  ::close(ends[1]);
  if (child > 0) {
    report.causes = causes_in(read_all(ends[0]));
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
}

}  // namespace warpcheck
