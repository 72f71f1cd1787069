// Decides which blocks of a launch run if not all do (TrialSettings::sparse and
// steps_budget, and SampledLaunches), and says what was left out.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "vgpu/machine/block_sample.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::cudart {

class Findings;
class Trial;

class LaunchSampler {
 public:
  LaunchSampler(const Trial& trial, Findings& findings) : trial_(trial), findings_(findings) {}

  // Returns nothing if all blocks run: nobody wants a sample, the launch is small, or its blocks
  // communicate, so that those of a sample could wait for others.
  std::optional<vgpu::BlockSample> sample_of(const vgpu::Launch& launch);
  // A launch of a sample has ended.  What its other blocks would have written counts as written.
  void ended(const vgpu::Launch& launch, const vgpu::Outcome& outcome);

 private:
  std::optional<vgpu::BlockSample> sample_of_trial(const vgpu::Launch& launch);
  void note(const vgpu::Launch& launch, std::string_view what);

  const Trial& trial_;
  Findings& findings_;
  std::uint64_t spent_ = 0;      // warp instructions of sampled launches
  std::set<std::string> noted_;  // kernels
};

}  // namespace warpcheck::cudart
