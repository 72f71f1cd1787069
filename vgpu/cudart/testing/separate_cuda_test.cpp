// Separate compilation: source that nvcc compiles, and its device linker's list.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/separate_test_kernels.hpp"
#include "vgpu/cudart/testing/tested_ways.hpp"

namespace warpcheck::cudart {
namespace {

class Separate : public testing::TestWithParam<TestedWay> {};

INSTANTIATE_TEST_SUITE_P(Builds, Separate, tested_ways(), name_of_way);

TEST_P(Separate, FunctionsAndVariablesOfAnotherFile) {
  for (int trial = 0; trial < 2; ++trial) {
    begin_trial(GetParam().settings());
    std::array<int, 32> found{};
    separate_test::run_kernels(found.data());
    const int total = separate_test::total();
    const TrialResult result = end_trial();
    EXPECT_EQ(result.refusals, std::vector<std::string>{});
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
    for (int i = 0; i < 32; ++i) {
      EXPECT_EQ(found[static_cast<std::size_t>(i)],
                (i + 3) * 7 + i - 50 + i * 3 * 11 + 10 * i + i * i);
    }
    EXPECT_EQ(total, 1000 + 31 * 32 / 2);
  }
}

}  // namespace
}  // namespace warpcheck::cudart
