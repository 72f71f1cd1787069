#include "vgpu/cudart/device/trial.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/cudart/launch/print_buffer.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::cudart {
namespace {

vgpu::Program kernel_named(std::string name) {
  vgpu::Program program;
  program.kernel = std::move(name);
  return program;
}

TEST(Trial, IsOneThenHasJustEnded) {
  Trial trial;
  EXPECT_FALSE(trial.in_trial() || trial.in_ambient() || trial.has_just_ended());
  trial.begin({});
  EXPECT_TRUE(trial.in_trial());
  trial.end();
  EXPECT_TRUE(trial.has_just_ended());
  EXPECT_FALSE(trial.in_trial());
  trial.begin_ambient({}, virtual_gpu::kCapabilities.back());
  EXPECT_TRUE(trial.in_ambient());
  EXPECT_FALSE(trial.has_just_ended());
  EXPECT_EQ(&trial.capability(), &virtual_gpu::kCapabilities.back());
  trial.begin({});
  EXPECT_EQ(&trial.capability(), &virtual_gpu::kTrialCapability);
}

// Both may be destroyed after the end of the trial.
TEST(Trial, ForgetsStrategyAndObserverAtItsEnd) {
  vgpu::DefaultPolicy strategy;
  vgpu::Observer observer;
  Trial trial;
  trial.begin({.strategy = &strategy, .extra_observer = &observer});
  EXPECT_EQ(&trial.strategy(), &strategy);
  trial.end();
  EXPECT_NE(&trial.strategy(), &strategy);
  EXPECT_EQ(trial.settings().extra_observer, nullptr);
}

TEST(Trial, NumbersLaunchesAndKernels) {
  const vgpu::Program first = kernel_named("first"), second = kernel_named("second");
  Trial trial;
  trial.begin({});
  const std::uint64_t before = trial.result().ptx_hash;
  EXPECT_EQ(trial.launch(first, 7).kernel, 0u);
  EXPECT_EQ(trial.launch(second, 8).kernel, 1u);
  const std::uint64_t after = trial.result().ptx_hash;
  EXPECT_NE(after, before);
  const Trial::LaunchNumber again = trial.launch(first, 7);
  EXPECT_EQ(again.launch, 2u);
  EXPECT_EQ(again.kernel, 0u);
  EXPECT_EQ(trial.kernels(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(trial.result().launches, 3u);
  EXPECT_EQ(trial.result().ptx_hash, after);
}

TEST(Trial, CountsWhatLaunchesDid) {
  vgpu::Outcome outcome;
  outcome.steps = 3;
  outcome.lane_steps = 50;
  outcome.decisions.resize(2);
  Trial trial;
  trial.begin({});
  trial.count(outcome);
  trial.count(outcome);
  EXPECT_EQ(trial.result().steps, 6u);
  EXPECT_EQ(trial.result().lane_steps, 100u);
  EXPECT_EQ(trial.result().schedule.decisions.size(), 4u);
  trial.begin({});
  EXPECT_EQ(trial.result().steps, 0u);
  EXPECT_TRUE(trial.result().schedule.decisions.empty());
}

TEST(Trial, TakesTheTextOfDeviceCode) {
  PrintBuffer prints;
  prints.set_capacity(100);
  vgpu::Print print;
  print.text = "one\n";
  print.record_bytes = 60;
  Trial trial;
  trial.begin({});
  prints.on_print(print);
  trial.bring_out(prints);
  print.text = "two\n";
  prints.on_print(print);
  prints.on_print(print);
  trial.bring_out(prints);
  EXPECT_EQ(trial.result().output, "one\ntwo\n");
  EXPECT_EQ(trial.result().prints_lost, 1u);
}

}  // namespace
}  // namespace warpcheck::cudart
