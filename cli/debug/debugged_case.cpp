#include "cli/debug/debugged_case.hpp"

#include <fmt/format.h>

#include <system_error>

#include "cli/debug/session.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/search/replay.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/cudart/debug/agent.hpp"
#include "vgpu/schedule/replay.hpp"

namespace warpcheck::debug {

DebuggedCase::DebuggedCase(const std::string& file, const std::string& build) try {
  CaseRecord record = read_case(file, Registry::global());
  if (!build.empty()) {
    record.a_case.settings.build =
        build == "unoptimized" ? cudart::Build::unoptimized : cudart::Build::optimized;
  }
  TrialRunner runner;
  ReplayOutcome outcome = replay(record, runner);
  verdict_ = std::move(outcome.report.verdict);
  case_ = std::move(outcome.report.a_case);
  if (!verdict_.refusals.empty()) {
    throw DebugError(fmt::format("{} cannot be run: {}", file, verdict_.refusals.front()));
  }
} catch (const DebugError&) {
  throw;
} catch (const std::exception& error) {
  throw DebugError(error.what());
}

int DebuggedCase::run(const std::string& path) const {
  try {
    cudart::DebugAgent agent(path, [] {});
    FirstTrialWatched engine(virtual_gpu(), agent,
                             [&](const vgpu::Finding& finding) { agent.found(finding); });
    vgpu::Replay recorded(verdict_.schedule);
    static_cast<void>(TrialRunner(engine).run(*case_, recorded));
    for (const vgpu::Finding& finding : verdict_.findings) {
      if (finding.accesses.empty()) agent.found(finding);  // made after the run, by its output
    }
    agent.end();
  } catch (const std::system_error&) {
    return 2;  // the debugger is gone
  }
  return verdict_.failed() ? 1 : 0;
}

}  // namespace warpcheck::debug
