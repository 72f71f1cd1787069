#include "harness/search/hunt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <set>
#include <utility>

#include "harness/case/case_file.hpp"
#include "harness/process/workers.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/search/search.hpp"
#include "harness/search/search_loop.hpp"
#include "harness/search/statistics.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

using Clock = std::chrono::steady_clock;

// The settings under which every pair runs, those that show most first.
constexpr std::array<std::pair<cudart::Build, vgpu::WarpModel>, 4> kConfigurations{{
    {cudart::Build::optimized, vgpu::WarpModel::independent},
    {cudart::Build::optimized, vgpu::WarpModel::lockstep},
    {cudart::Build::unoptimized, vgpu::WarpModel::independent},
    {cudart::Build::unoptimized, vgpu::WarpModel::lockstep},
}};

constexpr std::array kBuilds{cudart::Build::optimized, cudart::Build::unoptimized};

// --- in a worker: one pair under one configuration ----------------------------------------------

class Hunter {
 public:
  Hunter(const AnyPair& pair, const Settings& settings, const HuntOptions& options,
         Clock::time_point deadline, const Emit& emit)
      : pair_(pair),
        settings_(settings),
        options_(options),
        deadline_(deadline),
        emit_(emit),
        engine_(options.coverage),
        runner_(engine_.engine()) {}

  // The trials of a pair do not depend on what it declares.
  void run() {
    std::uint64_t first = 0;
    try {
      do {
        search("", first, options_.trials);
        for (const PropertyEntry& property : pair_.properties()) {
          search(property.name, first, options_.property_trials);
        }
        if (first == 0) look_for_classes();
        if (first == 0) prove_some();
        first += options_.trials;
      } while (!failed_ && !stopped_ && Clock::now() < deadline_);
    } catch (const DomainError& error) {
      record("", first, {{"discards", error.what()}});
    }
    emit_(TrialsMessage{trials_});
    emit_(EveryScheduleMessage{for_every_schedule_});
    if (const auto coverage = engine_.coverage()) emit_(LinesMessage{*coverage});
  }

 private:
  // Trials of a claim; a failure does not end them, because there may be others.
  void search(const std::string& property, std::uint64_t first, std::uint64_t count) {
    if (stopped_) return;
    FailureLog log;
    SearchLoop loop({.on_failure =
                         [&](Failure failure) {
                           failure.trial += first;
                           log.add(failure);
                         },
                     .on_trial = [&](std::uint64_t) { ++trials_; }});
    std::uint64_t next = first;
    loop.run(count, [&] {
      Case a_case = nth_case(pair_, property, settings_, options_.seed, next++, &loop.seen().draws);
      Verdict verdict = runner_.run(a_case);
      return TriedCase{std::move(a_case), std::move(verdict)};
    });
    if (const auto& refused = loop.refused()) {
      for (const std::string& refusal : refused->verdict.refusals) emit_(RefusalMessage{refusal});
      stopped_ = true;
    }
    for_every_schedule_ += loop.seen().for_every_schedule;
    report(log);
    failed_ = failed_ || loop.failed();
    if (!stopped_ && !loop.failed()) {
      record(property, loop.trials(), health_problems(property, loop.seen()));
    }
  }

  [[nodiscard]] bool is_first_configuration() const {
    return settings_.build == kConfigurations.front().first &&
           settings_.warp_model == kConfigurations.front().second;
  }

  // Draws until every class that the pair requires has occurred; the result is the same under all
  // settings.
  void look_for_classes() {
    if (!is_first_configuration() || failed_ || stopped_ || pair_.required_classes().empty())
      return;
    CaseStatistics statistics(pair_);
    for (int i = 0; i < kDrawsForClasses && (i == 0 || !statistics.missing().empty()); ++i) {
      statistics.add(nth_case(pair_, "", settings_, options_.seed, static_cast<std::uint64_t>(i)));
    }
    record("", 0, health_problems(statistics));
  }

  // Once, for both builds: a proof for independent threads also holds in lockstep.
  void prove_some() {
    if (!is_first_configuration() || !pair_.clean() || failed_ || stopped_) return;
    emit_(ProofMessage{prove_sample(pair_, options_.seed, kBuilds)});
  }

  void record(const std::string& property, std::uint64_t trials,
              const std::vector<HealthProblem>& problems) {
    for (const HealthProblem& problem : problems) {
      emit_(UnhealthyMessage{.property = property,
                             .of_trials = trials,
                             .check = problem.check,
                             .message = problem.message});
    }
  }

  void report(const FailureLog& log) {
    emit_(KindsMessage{log.kinds()});
    for (const Failure* failure : log.worth_reporting()) {
      const ShrunkCase shrunk = shrink(failure->a_case, runner_, options_.shrink);
      emit_(FailureMessage{.case_text = case_text(record_of(shrunk.a_case, shrunk.verdict)),
                           .path = {},
                           .trials = failure->trial,
                           .shrinks = shrunk.shrinks,
                           .complete = shrunk.complete});
    }
  }

  const AnyPair& pair_;
  const Settings& settings_;
  const HuntOptions& options_;
  Clock::time_point deadline_;
  const Emit& emit_;
  CoveredEngine engine_;
  TrialRunner runner_;
  std::uint64_t trials_ = 0, for_every_schedule_ = 0;
  bool failed_ = false;
  bool stopped_ = false;  // the pair cannot be run
};

// --- in the parent: the workers' results ---------------------------------------------------------

// Merges the results of one pair's configurations; a failure that an earlier configuration shows
// equally well is not reported twice.
class Merge {
 public:
  explicit Merge(const AnyPair& pair) { outcome_.pair = &pair; }

  void add(const TaskResult& result, const Settings& settings) {
    for (const Message& message : result.messages) add_message(message, settings);
    for (const std::string& error : result.unreadable) outcome_.errors.push_back(error);
    const bool is_reached = result.finished || !result.failure.empty();
    if (is_reached) ++reached_;
    if (!is_reached || result.interrupted) {
      ++unended_;
    } else if (!result.finished) {
      outcome_.errors.push_back(result.failure);
    }
  }

  PairOutcome finish() {
    outcome_.found.assign(kinds_.begin(), kinds_.end());
    outcome_.errors.erase(std::unique(outcome_.errors.begin(), outcome_.errors.end()),
                          outcome_.errors.end());
    if (unended_ != 0) {
      using Hunted = PairOutcome::Hunted;
      outcome_.hunted = reached_ != 0 ? Hunted::in_part : Hunted::not_at_all;
    }
    return std::move(outcome_);
  }

 private:
  void add_message(const Message& message, const Settings& settings) {
    std::visit(Overloaded{[&](const TrialsMessage& trials) { outcome_.trials += trials.count; },
                          [&](const EveryScheduleMessage& those) {
                            outcome_.beyond.for_every_schedule += those.trials;
                          },
                          [&](const RefusalMessage& refusal) {
                            outcome_.errors.push_back("cannot run: " + refusal.reason);
                          },
                          [&](const KindsMessage& kinds) {
                            kinds_.insert(kinds.kinds.begin(), kinds.kinds.end());
                          },
                          [&](const ProofMessage& proof) { outcome_.beyond.proved = proof.of; },
                          [&](const LinesMessage& lines) {
                            if (!outcome_.coverage) outcome_.coverage.emplace();
                            outcome_.coverage->add(lines.coverage);
                          },
                          [&](const UnhealthyMessage& unhealthy) { add_problem(unhealthy); },
                          [&](const FailureMessage& failure) { add_failure(failure, settings); },
                          [&](const auto&) {
                            outcome_.errors.push_back(internal_error(unexpected(message)));
                          }},
               message);
  }

  // Configurations report the same problem of a claim with other numbers.
  void add_problem(const UnhealthyMessage& told) {
    auto claim = std::ranges::find(outcome_.unhealthy, told.property, &UnhealthyClaim::property);
    if (claim == outcome_.unhealthy.end()) {
      claim = outcome_.unhealthy.insert(claim,
                                        {.property = told.property, .trials = 0, .problems = {}});
    }
    claim->trials = std::max(claim->trials, told.of_trials);
    if (std::ranges::count(claim->problems, told.check, &HealthProblem::check) != 0) return;
    claim->problems.push_back({told.check, told.message});
  }

  // The worker sends the case alone; running it again gives the verdict.
  void add_failure(const FailureMessage& failure, const Settings& settings) {
    const CaseRecord record =
        parse_case(failure.case_text, outcome_.pair->name(), Registry::global());
    Report report{.a_case = record.a_case,
                  .verdict = runner_.run(record.a_case),
                  .search = Report::Search{.trials = failure.trials,
                                           .shrinks = failure.shrinks,
                                           .complete = failure.complete},
                  .replay_path = {}};
    // Another configuration is reported if it shows another class, or a case that is not as small:
    // both say something about the configuration.
    const CaseSize size = size_of(report.a_case, report.verdict.schedule);
    const std::string of_class = fmt::format(
        "{}|{}", report.a_case.property, fmt::join(failure_class(report.verdict).signatures, ","));
    const std::string same_case =
        fmt::format("{}|{} {} {}", of_class, size.elements, size.threads, size.decisions);
    const std::string same_class = fmt::format("{}|{}", of_class, name_of(settings.warp_model));
    const bool is_known = !reported_.insert(same_case).second;
    const bool is_known_class = !reported_.insert(same_class).second;
    if (!is_known && !is_known_class) outcome_.reports.push_back(std::move(report));
  }

  PairOutcome outcome_;
  std::size_t reached_ = 0, unended_ = 0;  // searches
  std::set<vgpu::FindingKind> kinds_;
  std::set<std::string> reported_;
  TrialRunner runner_;
};

// "3 of 4 pairs as expected"; "3 of 3 hunted pairs as expected; interrupted: 1 pair hunted in part,
// 107 not reached"
std::string summary(const std::vector<PairOutcome>& outcomes) {
  using Hunted = PairOutcome::Hunted;
  const auto count = [&](Hunted hunted) {
    return static_cast<std::size_t>(std::ranges::count(outcomes, hunted, &PairOutcome::hunted));
  };
  const auto as_expected = std::ranges::count_if(outcomes, &PairOutcome::as_expected);
  const std::size_t wholly = count(Hunted::wholly);
  if (wholly == outcomes.size()) {
    return fmt::format("{} of {} as expected\n", as_expected, counted(wholly, "pair"));
  }
  const std::string hunted = wholly == 0 ? ""
                                         : fmt::format("{} of {} as expected; ", as_expected,
                                                       counted(wholly, "hunted pair"));
  return fmt::format("{}interrupted: {} hunted in part, {} not reached\n", hunted,
                     counted(count(Hunted::in_part), "pair"), count(Hunted::not_at_all));
}

Settings settings_of(std::size_t configuration) {
  Settings settings;
  settings.build = kConfigurations[configuration].first;
  settings.warp_model = kConfigurations[configuration].second;
  return settings;
}

}  // namespace

bool PairOutcome::as_expected() const {
  return hunted == Hunted::wholly && errors.empty() && unhealthy.empty() &&
         found == pair->expects();
}

bool PairOutcome::is_undecided() const {
  return hunted != Hunted::wholly && errors.empty() && unhealthy.empty() &&
         std::ranges::includes(pair->expects(), found);
}

std::string verdict_text(const PairOutcome& outcome) {
  if (outcome.as_expected()) return "ok";
  if (outcome.is_undecided()) {
    return outcome.hunted == PairOutcome::Hunted::in_part ? "interrupted"
                                                          : "interrupted: not hunted";
  }
  if (!outcome.errors.empty()) return outcome.errors.front();
  const auto without = [](const auto& kinds, const auto& others) {
    std::vector<vgpu::FindingKind> rest;
    std::ranges::set_difference(kinds, others, std::back_inserter(rest));
    return rest;
  };
  // A search that was interrupted could still have found what is missing.
  const bool is_whole = outcome.hunted == PairOutcome::Hunted::wholly;
  const auto missing =
      is_whole ? without(outcome.pair->expects(), outcome.found) : std::vector<vgpu::FindingKind>{};
  const auto unexpected = without(outcome.found, outcome.pair->expects());
  std::vector<std::string> kinds;
  if (!missing.empty()) kinds.push_back("NOT FOUND: " + show_kinds(missing));
  if (!unexpected.empty()) kinds.push_back("UNEXPECTED: " + show_kinds(unexpected));
  if (!kinds.empty()) return fmt::format("{}", fmt::join(kinds, "; "));
  std::set<std::string> checks;
  for (const UnhealthyClaim& claim : outcome.unhealthy) {
    for (const HealthProblem& problem : claim.problems) checks.insert(problem.check);
  }
  return fmt::format("UNHEALTHY: {}", fmt::join(checks, ", "));
}

std::string beyond_trials_text(const PairOutcome& outcome) {
  return outcome.as_expected() ? outcome.beyond.text() : "";
}

std::vector<PairOutcome> hunt(const HuntOptions& options, const volatile std::sig_atomic_t* stop) {
  constexpr std::size_t kPerPair = kConfigurations.size();
  // Specimens first: an interrupted hunt has then found most defects.
  std::vector<const AnyPair*> order = options.pairs;
  // Not std::ranges: Clang 14 cannot compile its return value.
  std::stable_partition(order.begin(), order.end(),
                        [](const AnyPair* pair) { return !pair->clean(); });
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(options.seconds));
  const auto work = [&](std::size_t task, const Emit& emit) {
    // Divides the remaining time by the remaining searches.
    const auto left = static_cast<double>(order.size() * kPerPair - task);
    const auto share = (end - Clock::now()) * (options.jobs / left);
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
    const Settings settings = settings_of(task % kPerPair);
    Hunter(*order[task / kPerPair], settings, options, deadline, emit).run();
  };
  std::size_t done = 0;
  const auto on_wait = [&] {
    if (options.on_wait) options.on_wait(done, order.size() * kPerPair);
  };
  const std::vector<TaskResult> results = run_tasks(
      order.size() * kPerPair, options.jobs, work, stop, [&](std::size_t) { ++done; }, on_wait);
  std::vector<PairOutcome> outcomes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Merge merge(*order[i]);
    for (std::size_t j = 0; j < kPerPair; ++j) {
      merge.add(results[i * kPerPair + j], settings_of(j));
    }
    outcomes.push_back(merge.finish());
  }
  std::ranges::sort(outcomes, {}, [](const PairOutcome& outcome) { return outcome.pair->name(); });
  return outcomes;
}

std::string hunt_table(const std::vector<PairOutcome>& outcomes) {
  std::vector<std::array<std::string, 5>> rows{{"pair", "expects", "found", "trials", "verdict"}};
  const auto kinds = [](const std::vector<vgpu::FindingKind>& list, std::string_view none) {
    return list.empty() ? std::string(none) : show_kinds(list);
  };
  for (const PairOutcome& outcome : outcomes) {
    if (outcome.hunted == PairOutcome::Hunted::not_at_all) continue;
    rows.push_back({outcome.pair->name(), kinds(outcome.pair->expects(), "clean"),
                    kinds(outcome.found, "-"), fmt::format("{}", outcome.trials),
                    verdict_text(outcome) + beyond_trials_text(outcome)});
  }
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& [pair, expects, found, trials, verdict] : rows) {
    text += fmt::format("{:{}}  {:{}}  {:{}}  {:>{}}  {}\n", pair, widths[0], expects, widths[1],
                        found, widths[2], trials, widths[3], verdict);
  }
  return text + summary(outcomes);
}

}  // namespace warpcheck
