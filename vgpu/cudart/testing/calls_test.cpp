// Device function calls as in real programs: the results of every thread in both builds, and
// findings.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/calls_test_kernels.hpp"
#include "vgpu/cudart/testing/tested_ways.hpp"

namespace warpcheck::cudart {
namespace {

using calls_test::kThreads;

class Calls : public testing::TestWithParam<TestedWay> {
 protected:
  Calls() { begin_trial(GetParam().settings()); }
  ~Calls() override {
    if (!ended_) end_trial();
  }

  TrialResult finish() {
    ended_ = true;
    return end_trial();
  }
  void expect(const std::vector<int>& found, const std::function<int(int)>& value) {
    const TrialResult result = finish();
    EXPECT_EQ(result.refusals, std::vector<std::string>{});
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
    std::vector<int> expected;
    for (int i = 0; i < kThreads; ++i) expected.push_back(value(i));
    EXPECT_EQ(found, expected);
  }
  // Returns the only finding of a launch that fails.
  vgpu::Finding only_finding() {
    const TrialResult result = finish();
    EXPECT_EQ(result.refusals, std::vector<std::string>{});
    EXPECT_EQ(result.findings.size(), 1u);
    return result.findings.empty() ? vgpu::Finding{} : result.findings.front();
  }

 private:
  bool ended_ = false;
};

INSTANTIATE_TEST_SUITE_P(Builds, Calls, tested_ways(), name_of_way);

TEST_P(Calls, Recursion) {
  const std::vector<int> factorials{1, 1, 2, 6, 24, 120, 720, 5040};
  const std::vector<int> found = calls_test::factorials_and_parities();
  expect(found, [&](int i) {
    return factorials[static_cast<std::size_t>(i % 8)] * 2 + (i % 2 == 0 ? 1 : 0);
  });
}

TEST_P(Calls, RecursionThatDiverges) {
  const std::vector<int> numbers{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
  const std::vector<int> found = calls_test::fibonacci_numbers();
  expect(found, [&](int i) { return numbers[static_cast<std::size_t>(i % 11)]; });
}

TEST_P(Calls, RecursionInAnArgument) {
  const std::vector<int> found = calls_test::ackermann_numbers();
  expect(found, [](int i) {
    const int m = i % 3, n = i % 5;
    return m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3;
  });
}

TEST_P(Calls, TablesOfFunctions) {
  const std::vector<int> found = calls_test::table_entries();
  expect(found, [](int i) {
    const int first = i % 3 == 0 ? i + 7 : i % 3 == 1 ? i - 7 : i * 7;
    const int second = i % 3 == 0 ? i * 3 : i % 3 == 1 ? i + 3 : i - 3;
    return first + 1000 * second;
  });
}

TEST_P(Calls, APointerThatTheHostHandsOn) {
  const std::vector<int> found = calls_test::pointer_from_host();
  expect(found, [](int i) { return i - 5; });
}

TEST_P(Calls, VirtualFunctions) {
  const std::vector<int> found = calls_test::virtual_calls();
  expect(found, [](int i) {
    switch (i % 4) {
      case 0: return -2 * i;
      case 1: return 2 * (i * i + i);
      case 2: return 7;
      default: return 2 * (2 * (4 + i));
    }
  });
}

TEST_P(Calls, Lambdas) {
  const std::vector<int> found = calls_test::lambdas();
  expect(found, [](int i) { return 5 * i + (i % 2 == 0 ? 3 * i : i - 100); });
}

TEST_P(Calls, RecursionThroughAPointer) {
  const std::vector<int> found = calls_test::recursion_by_pointer();
  expect(found, [](int i) { return i % 16 * 2; });
}

TEST_P(Calls, StructuresByValue) {
  const std::vector<int> found = calls_test::structures_by_value();
  expect(found, [](int i) {
    const int at = i % 20, from = (at + i) % 20;
    return 1 + (20 + i) + 600 + 2000 + (i % 3 == 0 ? 'x' : 'a') + (i % 3 == 2 ? 'x' : 'c') +
           1000 * (from * from + at);
  });
}

TEST_P(Calls, VariadicFunctions) {
  const std::vector<int> found = calls_test::variadic_sums();
  expect(found, [](int i) { return i + (i + 2 + 3 + 4); });
}

TEST_P(Calls, ArraysOnTheStack) {
  const auto reversed_sum = [](int n) {
    int sum = 0;
    for (int k = n - 1; k >= 0; --k) sum = sum * 3 + k * n;
    return sum;
  };
  const std::vector<int> found = calls_test::stack_arrays();
  expect(found, [&](int i) { return reversed_sum(i % 9 + 1) + reversed_sum(3); });
}

TEST_P(Calls, LocalArraysOfRecursion) {
  const std::function<int(std::vector<int>, int, int)> walk = [&](std::vector<int> path, int depth,
                                                                  int n) {
    for (int k = 0; k < 4; ++k) path[static_cast<std::size_t>(k)] += k * depth;
    if (depth == n) return path[0] + path[1] + path[2] + path[3];
    return walk(path, depth + 1, n) + path[static_cast<std::size_t>(depth % 4)];
  };
  const std::vector<int> found = calls_test::local_arrays_of_recursion();
  expect(found, [&](int i) { return walk({1, 2, 3, i}, 0, i % 6); });
}

TEST_P(Calls, VirtualObjectsOnTheHeap) {
  const std::vector<int> found = calls_test::heap_nodes();
  expect(found, [](int i) {
    int sum = 0;
    for (int k = 0; k < i % 4; ++k) sum += k - 10;
    return sum;
  });
}

TEST_P(Calls, Switches) {
  const std::vector<int> found = calls_test::switches();
  expect(found, [](int i) {
    const int values[] = {5, i * 3, i * i, 8 * i, -i, i ^ 21, i << 3, 1000 / (i + 1), 99, 99};
    return values[i % 10];
  });
}

TEST_P(Calls, PrintfFormats) {
  const std::vector<int> found = calls_test::prints();
  const TrialResult result = finish();
  EXPECT_EQ(result.refusals, std::vector<std::string>{});
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(std::vector<int>(found.begin(), found.begin() + 7),
            (std::vector<int>{0, 7, 7, 5, 7, 6, 2}));
  EXPECT_EQ(result.output,
            "plain\n"
            "-3|   42|42   |00042|+42| 42|-1\n"
            "4000000000 ff FF 0xff 10 ok\n"
            "-5000000000 18446744073709551615 10000000000 -7 4\n"
            "1.500000 3.142     2.50 1.234568e+04 0.0001 1E+20 0x1p+0\n"
            "device text|   right|left    |cu|    77|%.*f\n"  // no precision as an argument
            "100% (nil) 1\n");
}

TEST_P(Calls, LanesPrintInTheirOrder) {
  calls_test::prints_from_threads();
  EXPECT_EQ(finish().output,
            "thread 0 of block 0\nthread 3 of block 0\nthread 6 of block 0\n"
            "thread 0 of block 1\nthread 3 of block 1\nthread 6 of block 1\n");
}

TEST_P(Calls, TheOldestTextIsLostWhenTheBufferIsFull) {
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 40), cudaSuccess);
  calls_test::prints_much(5);
  const TrialResult result = finish();
  EXPECT_EQ(result.output, "line 3\nline 4\n");
  EXPECT_EQ(result.prints_lost, 3u);
}

TEST_P(Calls, TheBufferKeepsItsSizeOnceItIsUsed) {
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4096), cudaSuccess);
  calls_test::prints_much(1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 8192), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(finish().output, "line 0\n");
}

TEST_P(Calls, LaunchesBringOutWhatWasPrinted) {
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 40), cudaSuccess);
  calls_test::prints_much(2);
  calls_test::prints_much(2);
  const TrialResult result = finish();
  EXPECT_EQ(result.output, "line 0\nline 1\nline 0\nline 1\n");
  EXPECT_EQ(result.prints_lost, 0u);
}

TEST_P(Calls, AFailedAssertionNamesItsConditionAndThreads) {
  calls_test::asserts(62);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 1u);
  const vgpu::Finding& finding = result.findings.front();
  EXPECT_EQ(finding.kind, vgpu::FindingKind::trap);
  EXPECT_EQ(finding.message, "assertion failed: static_cast<int>(threadIdx.x) < limit");
  ASSERT_EQ(finding.accesses.size(), 1u);
  EXPECT_EQ(finding.accesses[0].role, "assert");
  EXPECT_EQ(finding.accesses[0].thread, (Dim3{62, 0, 0}));
  EXPECT_EQ(finding.accesses[0].line, 231u);
  EXPECT_NE(result.output.find("calls_test_kernels.cu:231: "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find(": block: [0,0,0], thread: [63,0,0] Assertion "
                               "`static_cast<int>(threadIdx.x) < limit` failed.\n"),
            std::string::npos)
      << result.output;
}

TEST_P(Calls, AnAssertionThatHoldsIsSilent) {
  calls_test::asserts(64);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const TrialResult result = finish();
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.output, "");
}

TEST_P(Calls, ABreakpointEndsTheLaunch) {
  calls_test::breaks();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(only_finding().message,
            "(1) is a breakpoint, which stops the kernel where there is no debugger");
}

TEST_P(Calls, ACallOfNoFunctionIsNamed) {
  calls_test::calls_address(0x1230);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorInvalidPc);
  const vgpu::Finding finding = only_finding();
  EXPECT_EQ(finding.kind, vgpu::FindingKind::trap);
  EXPECT_EQ(finding.message, "(1) calls address 0x1230, where no function begins");
  ASSERT_EQ(finding.accesses.size(), 1u);
  EXPECT_EQ(finding.accesses[0].role, "call");
  EXPECT_EQ(finding.accesses[0].line, 236u);
}

TEST_P(Calls, ACallThatDoesNotFitIsNamed) {
  calls_test::calls_another_shape();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorInvalidPc);
  EXPECT_EQ(only_finding().message,
            "(1) calls a function whose parameters are not those of the call");
}

TEST_P(Calls, AFunctionIsNoMemory) {
  calls_test::dereferences_a_function();
  const vgpu::Finding finding = only_finding();
  EXPECT_EQ(finding.kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(finding.object, "4 bytes at the address of a function");
  EXPECT_EQ(finding.accesses.at(0).line, 246u);
}

TEST_P(Calls, EndlessRecursionOverflowsTheStack) {
  calls_test::recurses_for_ever();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const vgpu::Finding finding = only_finding();
  EXPECT_EQ(finding.kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(finding.space, "local");
  EXPECT_EQ(finding.accesses.at(0).line, 249u);
  EXPECT_NE(finding.message.find("of a stack of 1024 (cudaLimitStackSize)"), std::string::npos)
      << finding.message;
}

}  // namespace
}  // namespace warpcheck::cudart
