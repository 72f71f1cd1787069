// Tests the whole path: nvcc's host objects, both builds, both warp models, findings and schedules.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/cuda_test_kernels.hpp"
#include "vgpu/cudart/testing/tested_ways.hpp"
#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::cudart {
namespace {

std::vector<int> first_numbers(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

class Cuda : public testing::TestWithParam<TestedWay> {
 protected:
  static TrialSettings settings() { return GetParam().settings(); }
  static void expect_clean(const TrialResult& result) {
    EXPECT_TRUE(result.refusals.empty()) << result.refusals.front();
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
};

INSTANTIATE_TEST_SUITE_P(Builds, Cuda, tested_ways(), name_of_way);

TEST_P(Cuda, ConstantsAndGridsOfTwoDimensions) {
  begin_trial(settings());
  const std::vector<int> out = cuda_test::weigh(first_numbers(100));
  expect_clean(end_trial());
  const int weights[4] = {2, 3, 5, 7};
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(out[static_cast<std::size_t>(i)], (i + 1) * weights[i % 4] + i);
}

TEST_P(Cuda, TemplatesAndDynamicSharedMemory) {
  begin_trial(settings());
  EXPECT_EQ(cuda_test::reverse({1.5, 2.5, 3.5}), (std::vector{3.5, 2.5, 1.5}));
  const TrialResult result = end_trial();
  const std::vector<std::string> kernels = launched_kernels();
  expect_clean(result);  // which makes calls
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_NE(kernels[0].find("reverse_kernelIdE"), std::string::npos) << kernels[0];
}

TEST_P(Cuda, VariablesStartAfreshInEveryTrial) {
  for (int trial = 0; trial < 3; ++trial) {
    begin_trial(settings());
    EXPECT_EQ(cuda_test::count_threads(70), 210);
    const TrialResult result = end_trial();
    expect_clean(result);
    EXPECT_EQ(result.launches, 3u);
  }
}

TEST_P(Cuda, TheRaceIsFoundWithBothSidesInTheSource) {
  begin_trial(settings());
  cuda_test::racy_scan(first_numbers(33));
  const TrialResult result = end_trial();
  ASSERT_FALSE(result.findings.empty());
  const vgpu::Finding& race = result.findings.front();
  EXPECT_EQ(race.kind, vgpu::FindingKind::data_race);
  EXPECT_EQ(race.space, "shared");
  ASSERT_EQ(race.accesses.size(), 2u);
  for (const vgpu::AccessSide& side : race.accesses) {
    EXPECT_NE(side.file.find("cuda_test_kernels.cu"), std::string::npos) << side.file;
    EXPECT_EQ(side.line, 36u);
  }
}

TEST_P(Cuda, ARandomScheduleMakesTheRaceAWrongResultAndReplaysIt) {
  const std::vector<int> input(3, 1), right{1, 2, 3};
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto strategy = vgpu::make_strategy("random", seed);
    TrialSettings with_strategy = settings();
    with_strategy.strategy = strategy.get();
    begin_trial(with_strategy);
    const std::vector<int> out = cuda_test::racy_scan(input);
    const TrialResult recorded = end_trial();
    wrong += out != right;

    vgpu::Replay replay(recorded.schedule);
    with_strategy.strategy = &replay;
    begin_trial(with_strategy);
    EXPECT_EQ(cuda_test::racy_scan(input), out);
    const TrialResult replayed = end_trial();
    EXPECT_EQ(replayed.schedule, recorded.schedule);
    EXPECT_EQ(replayed.findings, recorded.findings);
    EXPECT_EQ(replayed.decisions_ignored, 0u);
  }
  EXPECT_GE(wrong, 2);
}

TEST_P(Cuda, TheHashIsOfTheBuild) {
  begin_trial(settings());
  cuda_test::count_threads(1);
  const std::uint64_t hash = end_trial().ptx_hash;
  begin_trial(settings());
  cuda_test::count_threads(2);
  EXPECT_EQ(end_trial().ptx_hash, hash);
  TrialSettings other = settings();
  other.build = other.build == Build::optimized ? Build::unoptimized : Build::optimized;
  begin_trial(other);
  cuda_test::count_threads(1);
  EXPECT_NE(end_trial().ptx_hash, hash);
}

TEST(CudaDeathTest, APlainProgramIsToldItsFindingsWhenItExits) {
  const auto plain_program = [] {
    cuda_test::racy_scan(first_numbers(33));
    cudaDestroyExternalMemory(nullptr);
    std::exit(3);
  };
  EXPECT_EXIT(
      plain_program(), testing::ExitedWithCode(3),
      "warpcheck: refused: cudaDestroyExternalMemory is not supported by the virtual device\n"
      "warpcheck: data-race on shared memory: share.*\n"
      "  \\(1\\) .*cuda_test_kernels.cu:36 .*\n"
      "(.*\n)*warpcheck: 1 finding\n");
}

}  // namespace
}  // namespace warpcheck::cudart
