#include "harness/causes/find_causes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/causes/changes.hpp"
#include "harness/input/json.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/watched_engine.hpp"
#include "harness/trial/watched_run.hpp"
#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

// How many schedules of a search a change has to help under, besides that of the case.
constexpr std::uint64_t kSchedules = 8;

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

std::string key_of(const vgpu::Finding& finding) {
  return vgpu::class_of(finding) + std::string(vgpu::name_of(finding.severity));
}

std::set<std::string> keys_of(const Verdict& verdict) {
  std::set<std::string> keys;
  for (const vgpu::Finding& finding : verdict.findings) keys.insert(key_of(finding));
  return keys;
}

// What the harness says of results is a consequence where the device shows what is wrong.
bool is_of_results(const vgpu::Finding& finding) {
  return finding.kind == vgpu::FindingKind::mismatch ||
         finding.kind == vgpu::FindingKind::schedule_dependent ||
         finding.kind == vgpu::FindingKind::api_error;
}

class Experiment {
 public:
  Experiment(const Case& a_case, const Verdict& verdict, Engine& engine)
      : case_(a_case), verdict_(verdict), engine_(engine), keys_(keys_of(verdict)) {
    case_.schedule = verdict.schedule;
    budget_ = verdict.steps + kStepsAlways;
  }

  Causes run() {
    collect_kernels();
    // A recorded order of the case's own kernels that an edit changes: nothing is known of it.
    if (kernels_.kernels().empty() || case_.settings.edits != nullptr) return {};
    const std::vector<Change> changes =
        changes_for(verdict_.findings, kernels_.kernels(),
                    case_.property.empty() && case_.pair->has_reference());
    causes_.known = static_cast<std::uint32_t>(changes.size());
    for (const Change& change : changes) {
      if (causes_.tried == kChangesMax || budget_ == 0) break;
      Helpful helpful{&change, vanished_with(change)};
      if (helpful.findings.empty()) continue;
      helpful_.push_back(std::move(helpful));
      // Nothing can help more, and what follows is not preferred.
      if (helpful_.back().findings.size() == verdict_.findings.size() && confirm(change)) {
        choose(helpful_.back());
        return std::move(causes_);
      }
    }
    choose_by_number();
    causes_.budget_used_up = budget_ == 0;
    return std::move(causes_);
  }

 private:
  struct Helpful {
    const Change* change = nullptr;
    std::vector<std::size_t> findings;  // ascending
  };

  void collect_kernels() {
    FirstTrialWatched engine(engine_, kernels_);
    Settings settings = case_.settings;
    settings.checkers = vgpu::no_checkers();
    Case plain = case_;
    plain.settings = settings;
    TrialRunner runner(engine);
    pay(runner.run(plain).steps);
    for (const LaunchedKernel& kernel : kernels_.kernels()) code_ += kernel.program->code.size();
  }

  void pay(std::uint64_t steps) { budget_ -= std::min(budget_, steps); }

  // Empty: it could not be run.
  std::optional<Verdict> try_case(const Change& change,
                                  std::variant<vgpu::Schedule, StrategyChoice> schedule) {
    Case tried = case_;
    tried.schedule = std::move(schedule);
    tried.settings.edits = std::make_shared<const ptx::Edits>(change.edits);
    tried.settings.limits.steps_max =
        std::min({tried.settings.limits.steps_max, 8 * verdict_.steps + 20'000, budget_});
    TrialRunner runner(engine_);
    Verdict verdict = runner.run(tried);
    pay(std::max<std::uint64_t>(verdict.steps, 1) * runner.trials());
    const bool changed = verdict.edited_places != 0;
    if (!verdict.refusals.empty() || !changed) return std::nullopt;
    return verdict;
  }

  // Indices of findings; none if others appear.
  std::vector<std::size_t> vanished_with(const Change& change) {
    ++causes_.tried;
    pay(code_ * kStepsOfInstruction);
    if (budget_ == 0) return {};
    const std::optional<Verdict> verdict = try_case(change, verdict_.schedule);
    if (!verdict) return {};
    const std::set<std::string> left = keys_of(*verdict);
    if (brings_others(*verdict)) return {};
    std::vector<std::size_t> vanished;
    for (std::size_t i = 0; i < verdict_.findings.size(); ++i) {
      if (!left.contains(key_of(verdict_.findings[i]))) vanished.push_back(i);
    }
    const bool has_error = std::ranges::any_of(vanished, [&](std::size_t i) {
      return verdict_.findings[i].severity == vgpu::Severity::error;
    });
    return has_error ? vanished : std::vector<std::size_t>{};
  }

  [[nodiscard]] bool brings_others(const Verdict& verdict) const {
    return std::ranges::any_of(verdict.findings, [&](const vgpu::Finding& finding) {
      return finding.severity == vgpu::Severity::error && !keys_.contains(key_of(finding));
    });
  }

  // Whether no other schedule shows the findings that it removes, or others.
  bool confirm(const Change& change) {
    const auto removed = std::ranges::find(helpful_, &change, &Helpful::change);
    std::set<std::string> keys;
    for (const std::size_t i : removed->findings) keys.insert(key_of(verdict_.findings[i]));
    for (std::uint64_t turn = 0; turn < kSchedules; ++turn) {
      if (budget_ == 0) return false;
      const std::string name(vgpu::searched_strategy(turn).name);
      const std::optional<Verdict> verdict = try_case(change, StrategyChoice{name, turn});
      if (!verdict || brings_others(*verdict)) return false;
      for (const vgpu::Finding& finding : verdict->findings) {
        if (keys.contains(key_of(finding))) return false;
      }
    }
    return true;
  }

  // Of those that are left, each time the change with which most findings vanish.
  void choose_by_number() {
    std::vector<Helpful> left = helpful_;
    while (!left.empty()) {
      const auto best = std::ranges::max_element(left, [](const Helpful& a, const Helpful& b) {
        return a.findings.size() < b.findings.size();
      });
      if (best->findings.empty()) return;
      const Helpful chosen = *best;
      left.erase(best);
      if (!confirm(*chosen.change)) continue;
      choose(chosen);
      for (Helpful& other : left) {
        std::erase_if(other.findings, [&](std::size_t i) {
          return std::ranges::find(chosen.findings, i) != chosen.findings.end();
        });
        const bool has_error = std::ranges::any_of(other.findings, [&](std::size_t i) {
          return verdict_.findings[i].severity == vgpu::Severity::error;
        });
        if (!has_error) other.findings.clear();
      }
    }
  }

  void choose(const Helpful& helpful) {
    HelpfulChange change{helpful.change->text, helpful.findings};
    const auto is_later = [&](std::size_t i) {
      const vgpu::Finding& finding = verdict_.findings[i];
      return std::pair(finding.severity == vgpu::Severity::note, is_of_results(finding));
    };
    std::ranges::stable_sort(change.findings, {}, is_later);
    causes_.found.push_back(std::move(change));
  }

  Case case_;
  const Verdict& verdict_;
  Engine& engine_;
  std::set<std::string> keys_;
  Launches kernels_;
  std::uint64_t budget_ = 0, code_ = 0;
  std::vector<Helpful> helpful_;
  Causes causes_;
};

// --- between the two processes
// --------------------------------------------------------------------

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

}  // namespace

Causes causes_of(const Case& a_case, const Verdict& verdict, Engine& engine) {
  if (!verdict.failed() || !verdict.refusals.empty()) return {};
  return Experiment(a_case, verdict, engine).run();
}

void find_causes(Report& report, Engine& engine) {
  report.causes = {};
  if (!report.verdict.failed() || !report.verdict.refusals.empty()) return;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
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
