// Every instruction that a launch executes lies in the runs that the machine counts: the executions
// that follow from the runs add up to the launch's warp instructions.
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/litmus/litmus.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::litmus {
namespace {

class Executions final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override {
    vgpu::Watched watched = vgpu::Watched::rare();
    watched.tallies = true;
    return watched;
  }
  void on_tally(const vgpu::Program& program, std::span<const vgpu::InstrTally> tally) override {
    auto& runs = runs_[&program];
    for (std::uint32_t pc = 0; pc < tally.size(); ++pc) {
      if (tally[pc].runs() == 0 && tally[pc].lanes() == 0) continue;
      runs[pc].runs += tally[pc].runs();
      runs[pc].lanes += tally[pc].lanes();
    }
  }
  // Returns the sum over all instructions, and checks that no run is left.
  [[nodiscard]] std::uint64_t total() const {
    std::int64_t sum = 0;
    for (const auto& [program, runs] : runs_) {
      Count running;
      for (const auto& [pc, count] : runs) {
        running.runs += count.runs;
        running.lanes += count.lanes;
        EXPECT_GE(running.runs, 0);
        EXPECT_GE(running.lanes, running.runs);
        EXPECT_LE(running.lanes, 32 * running.runs);
        const auto next = runs.upper_bound(pc);
        if (next != runs.end()) sum += running.runs * static_cast<std::int64_t>(next->first - pc);
      }
      EXPECT_EQ(running.runs, 0);
      EXPECT_EQ(running.lanes, 0);
    }
    return static_cast<std::uint64_t>(sum);
  }

 private:
  struct Count {
    std::int64_t runs = 0, lanes = 0;
  };
  using Runs = std::map<std::uint32_t, Count>;  // by pc
  std::map<const vgpu::Program*, Runs> runs_;
};

class Runs : public testing::TestWithParam<vgpu::Compile> {};

TEST_P(Runs, ContainEveryInstruction) {
  for (const cudart::Build build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
    for (const Program& program : programs()) {
      SCOPED_TRACE(program.name);
      Executions executions;
      cudart::TrialSettings settings;
      settings.build = build;
      settings.limits.compile = GetParam();
      settings.limits.steps_max = 100'000;
      settings.extra_observer = &executions;
      settings.checkers = vgpu::no_checkers();
      cudart::begin_trial(settings);
      program.run();
      release_all();
      const cudart::TrialResult result = cudart::end_trial();
      EXPECT_EQ(executions.total(), result.steps);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, Runs,
                         testing::Values(vgpu::Compile::never, vgpu::Compile::at_once));

}  // namespace
}  // namespace warpcheck::litmus
