#include "harness/search/health.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

constexpr double kSecondsWorthAWord = 1;

}  // namespace

void TrialsSeen::add(const Verdict& verdict) {
  ++trials;
  launches += verdict.launches;
  claims += verdict.claims;
  for_every_schedule += verdict.for_every_schedule ? 1 : 0;
}

std::vector<HealthProblem> health_problems(std::string_view property, const TrialsSeen& seen) {
  std::vector<HealthProblem> problems;
  const auto [drawn, discarded] = seen.draws;
  if (drawn >= kDrawsToJudge &&
      static_cast<double>(discarded) > kDiscardsMax * static_cast<double>(drawn)) {
    problems.push_back({"discards", fmt::format("{} of {} inputs that .arbitrary drew were outside "
                                                ".domain; draw them so that they are in it",
                                                discarded, drawn)});
  }
  if (seen.trials == 0) return problems;
  if (seen.launches == 0) {
    problems.push_back({"no-launch", property.empty()
                                         ? "no trial launched a kernel; .kernel has to launch it"
                                         : "no trial launched a kernel; call run(in), or launch "
                                           "one in the property"});
  }
  if (seen.claims == 0 && property.empty()) {
    problems.push_back({"no-comparison",
                        "the outputs of all trials were empty, and so were the references; draw "
                        "inputs that have an output"});
  }
  if (seen.claims == 0 && !property.empty()) {
    problems.push_back({"no-expectation",
                        "no trial evaluated an expectation; say what is claimed with EXPECT_* or "
                        "ASSERT_*"});
  }
  return problems;
}

std::vector<HealthProblem> health_problems(const CaseStatistics& statistics) {
  const std::vector<std::string> missing = statistics.missing();
  if (missing.empty()) return {};
  return {{"required-class",
           fmt::format("{} drawn inputs had none of the required {} '{}'; change .arbitrary "
                       "so that it draws them",
                       statistics.cases(), noun_of(missing.size(), "class"),
                       fmt::join(missing, "', '"))}};
}

std::vector<HealthProblem> health_problems(const TrialSeconds& quickest) {
  if (quickest.reference < kSlowSecondsMin || quickest.reference <= kSlowFactor * quickest.kernel) {
    return {};
  }
  return {{"slow-reference",
           fmt::format("the reference takes more than {} times as long as its kernel does on a "
                       "virtual GPU, for one of the largest inputs drawn; make it faster, or the "
                       "inputs smaller",
                       kSlowFactor)}};
}

std::optional<std::string> slow_reference(const TrialSeconds& seconds) {
  if (seconds.reference < kSecondsWorthAWord || seconds.reference <= seconds.kernel)
    return std::nullopt;
  return fmt::format(
      "its reference took {:.1f} s, its kernel {:.1f} s on a virtual GPU: a faster reference, or "
      "smaller inputs, would leave time for more trials",
      seconds.reference, seconds.kernel);
}

std::string health_text(std::string_view title, std::uint64_t trials,
                        const std::vector<HealthProblem>& problems) {
  std::string text = fmt::format("UNHEALTHY {}   {}\n", title, counted(trials, "trial"));
  for (const HealthProblem& problem : problems) {
    text += fmt::format("  {}: {}\n", problem.check, problem.message);
  }
  return text;
}

}  // namespace warpcheck
