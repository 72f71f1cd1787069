#include "harness/search/check.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <unordered_map>

#include "harness/adaptors/rapidcheck_adaptor.hpp"
#include "harness/search/search_loop.hpp"

namespace warpcheck {
namespace {

constexpr int kDrawsForTimes = 200;
constexpr int kRunsForTimes = 5;

class NoListener final : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

// Draws a case for each RapidCheck trial and passes it to `body`, which returns whether to
// continue.
void for_each_trial(const AnyPair& pair, std::string_view property, const CheckOptions& options,
                    const std::function<bool(const Case&)>& body, DrawCount* count = nullptr) {
  const rc::Gen<Case> cases = [&](const rc::Random& random, int size) {
    Tape tape = tape_of(random);
    const std::size_t which = tape.below(options.settings.size());
    return rc::shrinkable::just(
        draw_case(pair, property, options.settings[which], std::move(tape), size, count));
  };
  rc::detail::TestParams params;
  params.seed = options.seed;
  params.maxSuccess = options.trials;
  params.maxSize = options.size_max;
  params.disableShrinking = true;
  // RapidCheck catches exceptions of its body; ours must leave the whole search.
  std::exception_ptr error;
  NoListener listener;
  bool go_on = true;
  const auto testable = [&] {
    try {
      go_on = go_on && body(*cases);  // RapidCheck runs a failed trial again
    } catch (...) {
      go_on = false;
      error = std::current_exception();
    }
    if (!go_on) throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Failure, "failed");
  };
  rc::detail::checkTestable(testable, rc::detail::TestMetadata{}, params, listener,
                            std::unordered_map<std::string, rc::detail::Reproduce>{});
  if (error) std::rethrow_exception(error);
}

// Draws until every class that the pair requires has occurred, or kDrawsForClasses times.
std::vector<HealthProblem> problems_of_classes(const AnyPair& pair, CheckOptions options) {
  if (pair.required_classes().empty()) return {};
  CaseStatistics statistics(pair);
  options.trials = std::max(options.trials, kDrawsForClasses);
  try {
    for_each_trial(pair, "", options, [&](const Case& a_case) {
      statistics.add(a_case);
      return !statistics.missing().empty();
    });
  } catch (const DomainError& error) {
    return {{"discards", error.what()}};
  }
  return health_problems(statistics);
}

bool stopped(const CheckOptions& options) { return options.stop != nullptr && *options.stop != 0; }

}  // namespace

CheckOptions options_of_rapidcheck() {
  try {
    const rc::detail::TestParams& params = rc::detail::configuration().testParams;
    CheckOptions options;
    options.seed = params.seed;
    options.trials = params.maxSuccess;
    options.size_max = params.maxSize;
    return options;
  } catch (const rc::detail::ConfigurationException& error) {
    throw std::runtime_error(std::string("RC_PARAMS: ") + error.what());
  }
}

std::string claim_title(const AnyPair& pair, std::string_view property) {
  return property.empty() ? pair.name() : pair.name() + "." + std::string(property);
}

ShrunkCase ShrunkFailures::shrink(const Failure& failure, TrialRunner& runner,
                                  const ShrinkOptions& options) {
  const FailureClass wanted = failure_class(failure.verdict);
  for (const ShrunkCase& known : shrunk_) {
    if (!keeps(wanted, failure_class(known.verdict))) continue;
    ShrunkCase same = known;
    same.a_case.property = failure.a_case.property;
    same.verdict = runner.run(same.a_case);
    if (failure_class(same.verdict) == failure_class(known.verdict)) return same;
  }
  ShrunkCase shrunk = warpcheck::shrink(failure.a_case, runner, options);
  if (shrunk.kept) shrunk_.push_back(shrunk);
  return shrunk;
}

CheckOutcome check_claim(const AnyPair& pair, std::string_view property,
                         const CheckOptions& options, TrialRunner& runner, ShrunkFailures* shrunk) {
  CheckOutcome outcome;
  FailureLog log;
  SearchLoop loop({.end = SearchEnd::all_expected,
                   .expected = pair.expects(),
                   .on_failure = [&](const Failure& failure) { log.add(failure); },
                   .on_trial = options.on_trial,
                   .stop = options.stop});
  const auto take = [&](const Case& a_case) {
    return loop.take([&] { return TriedCase{a_case, runner.run(a_case)}; });
  };
  try {
    for_each_trial(pair, property, options, take, &loop.seen().draws);
  } catch (const DomainError& error) {
    outcome.problems.push_back({"discards", error.what()});
  }
  outcome.trials = loop.trials();
  outcome.for_every_schedule = loop.seen().for_every_schedule;
  if (const auto& refused = loop.refused()) {
    outcome.failures.push_back({.a_case = refused->a_case,
                                .verdict = refused->verdict,
                                .search = std::nullopt,
                                .replay_path = {}});
  }
  if (!loop.failed() && !loop.refused() && outcome.problems.empty() && !loop.is_stopped()) {
    outcome.problems = health_problems(property, loop.seen());
    if (property.empty())
      std::ranges::move(problems_of_classes(pair, options), std::back_inserter(outcome.problems));
  }
  outcome.kinds = log.kinds();
  if (!options.shrink_failures) return outcome;
  ShrunkFailures own;
  if (shrunk == nullptr) shrunk = &own;
  for (const Failure* failure : log.worth_reporting()) {
    ShrunkCase smallest = shrunk->shrink(*failure, runner, options.shrink);
    outcome.failures.push_back({.a_case = std::move(smallest.a_case),
                                .verdict = std::move(smallest.verdict),
                                .search = Report::Search{.trials = failure->trial,
                                                         .shrinks = smallest.shrinks,
                                                         .complete = smallest.complete},
                                .replay_path = {}});
  }
  return outcome;
}

void for_each_case(const AnyPair& pair, std::string_view property, const CheckOptions& options,
                   const std::function<bool(const Case&)>& body) {
  for_each_trial(pair, property, options, body);
}

TrialSeconds quickest_times(const AnyPair& pair, const CheckOptions& options, Engine& engine) {
  CheckOptions few = options;
  few.trials = std::min(options.trials, kDrawsForTimes);
  std::optional<Case> largest;
  for_each_case(pair, "", few, [&](const Case& drawn) {
    const auto elements = [](const Case& a_case) { return size_of(a_case, {}).elements; };
    if (!largest || elements(*largest) < elements(drawn)) largest = drawn;
    return true;
  });
  TrialSeconds quickest;
  if (!largest) return quickest;
  largest->schedule = vgpu::Schedule{};
  for (int i = 0; i < kRunsForTimes && !stopped(options); ++i) {
    TrialRunner runner(engine);  // a used runner would have cached the reference
    runner.run(*largest);
    const TrialSeconds& seconds = runner.seconds();
    quickest = i == 0 ? seconds
                      : TrialSeconds{.kernel = std::min(quickest.kernel, seconds.kernel),
                                     .reference = std::min(quickest.reference, seconds.reference)};
  }
  return quickest;
}

void add_drawn_cases(CaseStatistics& statistics, const CheckOptions& options) {
  for_each_trial(statistics.pair(), "", options, [&](const Case& a_case) {
    statistics.add(a_case);
    return !stopped(options);
  });
}

}  // namespace warpcheck
