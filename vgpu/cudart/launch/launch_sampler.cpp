#include "vgpu/cudart/launch/launch_sampler.hpp"

#include <fmt/format.h>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/launch/sparse_blocks.hpp"
#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {
namespace {

// With a budget: launches of fewer blocks run whole.
constexpr std::uint64_t kBudgetBlocksMin = 16;
// Of a trial's sampled launch: those of fewer blocks run whole.
constexpr std::uint64_t kSampledBlocksMin = 32;
// A launch may use this part of what is left of the budget, so that later ones get some of it.
constexpr std::uint64_t kShareOfLaunch = 8;

// Whether blocks may wait for others.
bool may_communicate(const vgpu::Launch& launch) {
  return vgpu::find_order_source(*launch.program).pc != ptx::kNone || launch.cooperative ||
         launch.explicit_cluster || launch.program->uses_clusters;
}

std::vector<std::uint32_t> blocks_of(const vgpu::Launch& launch) {
  return sparse_blocks(launch.grid, launch.block,
                       possible_factors(launch.program->parameters, launch.parameters));
}

}  // namespace

std::optional<vgpu::BlockSample> LaunchSampler::sample_of(const vgpu::Launch& launch) {
  const TrialSettings& settings = trial_.settings();
  const bool has_budget = settings.steps_budget != 0;
  if (trial_.sampled()) return sample_of_trial(launch);
  if (!settings.sparse && !has_budget) return std::nullopt;
  if (launch.grid.count() <= (has_budget ? kBudgetBlocksMin : kWholeBlocksMax)) return std::nullopt;
  if (may_communicate(launch)) {
    note(launch, fmt::format("all {} blocks of a launch ran: they may wait for each other",
                             launch.grid.count()));
    return std::nullopt;
  }
  vgpu::BlockSample sample{blocks_of(launch)};
  if (settings.steps_budget > spent_) {
    sample.steps_budget = (settings.steps_budget - spent_) / kShareOfLaunch;
  }
  return sample;
}

std::optional<vgpu::BlockSample> LaunchSampler::sample_of_trial(const vgpu::Launch& launch) {
  findings_.checkers().on_unknown_writes();
  if (launch.grid.count() <= kSampledBlocksMin || may_communicate(launch)) return std::nullopt;
  std::set<std::uint32_t> blocks;
  for (const std::uint32_t block : *trial_.sampled()) {
    if (block < launch.grid.count()) blocks.insert(block);
  }
  for (const std::uint32_t block : blocks_of(launch)) blocks.insert(block);
  return vgpu::BlockSample{.blocks = {blocks.begin(), blocks.end()}};
}

void LaunchSampler::ended(const vgpu::Launch& launch, const vgpu::Outcome& outcome) {
  spent_ += outcome.steps;
  if (outcome.blocks == launch.grid.count()) return;
  findings_.checkers().on_unknown_writes();
  note(launch, fmt::format("{} of {} blocks of a launch ran, so its results, and what is computed "
                           "from them, mean nothing",
                           outcome.blocks, launch.grid.count()));
}

void LaunchSampler::note(const vgpu::Launch& launch, std::string_view what) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !noted_.insert(launch.program->kernel).second) return;
  session->not_checked(
      fmt::format("kernel {}: {}", vgpu::kernel_name(launch.program->kernel), what));
}

}  // namespace warpcheck::cudart
