#include "harness/trial/watched_run.hpp"

#include <fmt/format.h>

#include <exception>

#include "vgpu/check/checker_set.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck {

WatchedRun run_watched(const Case& a_case, Engine& engine, vgpu::Observer& observer,
                       const bool* enough, vgpu::Strategy* strategy) {
  vgpu::DefaultPolicy policy;
  TrialSettings settings{.build = a_case.settings.build,
                         .warp_model = a_case.settings.warp_model,
                         .checkers = vgpu::no_checkers(),
                         .limits = a_case.settings.limits,
                         .strategy = strategy != nullptr ? strategy : &policy,
                         .edits = a_case.settings.edits,
                         .extra_observer = &observer};
  settings.limits.enough = enough;
  WatchedRun run;
  engine.run(settings, [&] {
    try {
      run.output = a_case.pair->run_kernel(a_case.input);
    } catch (const std::exception& error) {
      run.error = error.what();
    }
  });
  return run;
}

WatchedRun run_reference_kernel(const Case& a_case, Engine& engine) {
  vgpu::DefaultPolicy policy;
  const TrialSettings settings{.build = a_case.settings.build,
                               .warp_model = a_case.settings.warp_model,
                               .limits = a_case.settings.limits,
                               .strategy = &policy};
  WatchedRun run;
  const TrialResult result = engine.run(settings, [&] {
    try {
      run.output = a_case.pair->reference_kernel()->run_kernel(a_case.input);
    } catch (const std::exception& error) {
      run.error = error.what();
    }
  });
  if (!result.refusals.empty()) run.error = result.refusals.front();
  for (const vgpu::Finding& finding : result.findings) {
    if (finding.severity != vgpu::Severity::error) continue;
    run.error = fmt::format("{}: {}", vgpu::name_of(finding.kind), finding.message);
    break;
  }
  if (!run.error.empty()) run.output = nullptr;
  return run;
}

}  // namespace warpcheck
