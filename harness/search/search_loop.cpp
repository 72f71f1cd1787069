#include "harness/search/search_loop.hpp"

#include <algorithm>
#include <utility>

#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {

bool SearchLoop::take(Trial trial) {
  std::optional<TriedCase> tried = trial();
  if (!tried) return !is_over();
  ++trials_;
  if (rules_.on_trial) rules_.on_trial(trials_);
  if (!tried->verdict.refusals.empty()) {
    refused_ = std::move(tried);
    return false;
  }
  seen_.add(tried->verdict);
  if (tried->verdict.failed()) {
    failed_ = true;
    for (const vgpu::FindingKind kind : failure_kinds(tried->verdict)) kinds_.insert(kind);
    if (rules_.on_failure) {
      // A guided strategy would decide differently the next time, so its decisions are recorded.
      const auto* choice = std::get_if<StrategyChoice>(&tried->a_case.schedule);
      if (choice != nullptr && vgpu::find_strategy(choice->name)->make_guided != nullptr) {
        tried->a_case.schedule = tried->verdict.schedule;
      }
      rules_.on_failure({std::move(tried->a_case), std::move(tried->verdict), trials_});
    }
  }
  return !is_over();
}

void SearchLoop::run(std::uint64_t count, Trial trial) {
  for (std::uint64_t i = 0; i < count && take(trial); ++i) {
  }
}

bool SearchLoop::is_over() const {
  if (refused_ || is_stopped()) return true;
  switch (rules_.end) {
    case SearchEnd::never: return false;
    case SearchEnd::first_failure: return failed();
    case SearchEnd::all_expected: return failed() && std::ranges::includes(kinds_, rules_.expected);
  }
  return false;
}

}  // namespace warpcheck
