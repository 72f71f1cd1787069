// For tests: an engine without a real or virtual GPU, and two pairs to run on it.
//
// It simulates one kernel, the in-place Hillis-Steele scan without a barrier between a round's
// reads and writes: in each round every warp reads and writes at once, one warp after the other,
// and a decision can hold lanes of a warp back until the others have written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/input/fields.hpp"
#include "harness/input/launch_config.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

class FakeEngine final : public Engine {
 public:
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override;

  // For the kernels of fake pairs: the engine whose trial is running.
  static FakeEngine& current();

  // Scans `data` with one thread an element, reporting races by the rules of the warp model.
  void racy_scan(std::vector<int>& data);
  // Asks the strategy at one access of one warp, and records its decision.
  std::uint32_t held_lanes(vgpu::WarpId warp, std::uint64_t index, std::uint32_t active);
  void report(vgpu::FindingKind kind, std::string kernel, std::uint32_t line);
  // Takes `steps`, or as many as the trial allows, and then reports a hang.
  void spin(std::uint64_t steps);
  void refuse(std::string reason) { result_.refusals.push_back(std::move(reason)); }

  // The hash of the simulated device code; a test may change it to simulate an edit.
  std::uint64_t ptx_hash = 0x1234;

 private:
  const TrialSettings* settings_ = nullptr;
  TrialResult result_;
};

struct FakeInput {
  std::vector<int> values;
  LaunchConfig launch;
};
FIELDS(FakeInput, values, launch);

}  // namespace warpcheck
