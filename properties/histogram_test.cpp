// Where exactly the published histogram is wrong, and where it is right.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "harness/pair/counters.hpp"
#include "harness/trial/engine.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

Json histogram_input(const std::vector<int>& bytes, int block, int grid = 1,
                     std::uint32_t start = 0) {
  return {{"in", bytes},
          {"start", start},
          {"launch", {{"grid", {grid, 1, 1}}, {"block", {block, 1, 1}}, {"shared_bytes", 0}}}};
}

std::vector<int> every_byte() {
  std::vector<int> bytes(256);
  std::iota(bytes.begin(), bytes.end(), 0);
  return bytes;
}

TEST(HistogramSharedPublished, IsRightForBlocksOf256ThreadsAlone) {
  for (const Settings& settings : kAllSettings) {
    for (const int block : {1, 2, 31, 128, 255, 256, 257, 288, 1024}) {
      const std::string expected = block < 256 ? "mismatch" : block > 256 ? "out-of-bounds" : "";
      for (const int grid : {1, 3}) {
        const Json input = histogram_input(every_byte(), block, grid);
        EXPECT_EQ(kinds_for("histogram_shared_published", input, settings), expected) << block;
      }
    }
  }
}

TEST(HistogramSharedPublished, LeavesOutTheBytesFromItsNumberOfThreadsOn) {
  for (const int block : {1, 2, 40, 255}) {
    EXPECT_EQ(kinds_for("histogram_shared_published", histogram_input({block - 1}, block)), "");
    EXPECT_EQ(kinds_for("histogram_shared_published", histogram_input({block}, block)), "mismatch");
    EXPECT_EQ(kinds_for("histogram_shared_published", histogram_input({}, block)), "");
  }
}

TEST(HistogramSharedPublished, StepsOverTheEndWithoutAnyInput) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_for("histogram_shared_published", histogram_input({}, 256), settings), "");
    const Verdict verdict =
        run_case(case_of("histogram_shared_published", histogram_input({}, 257), settings));
    std::vector<std::string> places;
    for (const vgpu::Finding& finding : verdict.findings) {
      EXPECT_EQ(finding.kind, vgpu::FindingKind::out_of_bounds);
      ASSERT_EQ(finding.accesses.size(), 1U);
      const vgpu::AccessSide& side = finding.accesses[0];
      EXPECT_EQ(side.file, "kernels/specimens/histogram_shared.cu");
      EXPECT_EQ(side.thread.x, 256U);
      places.push_back(finding.space + " " + side.role + " " + std::to_string(side.line));
    }
    EXPECT_EQ(places,
              (std::vector<std::string>{"shared write 8", "shared read 14", "global atomic 14"}));
  }
}

TEST(Histograms, CountOnWhereCountersWrapAround) {
  const std::vector<int> bytes(40, 7);
  for (const Settings& settings : kAllSettings) {
    for (const std::uint32_t start : {0U, 0xffffffffU, 0xffffffe0U, 0x80000000U}) {
      const Json input = histogram_input(bytes, 33, 2, start);
      EXPECT_EQ(kinds_for("histogram_global", input, settings), "");
      EXPECT_EQ(kinds_for("histogram_shared", input, settings), "");
    }
  }
}

TEST(Histograms, AreRightForAnyBlock) {
  for (int block = 1; block <= 1024; block += block < 8 ? 1 : 127) {
    const Json input = histogram_input(every_byte(), block, 2);
    EXPECT_EQ(kinds_for("histogram_global", input), "") << block;
    EXPECT_EQ(kinds_for("histogram_shared", input), "") << block;
  }
}

// Bytes that are equal make the lanes of a warp wait for each other, one after the other.
TEST(HistogramShared, EqualBytesAreTheWorstForItsBanks) {
  const auto counted = [](const std::vector<int>& bytes) {
    const Case a_case = case_of("histogram_shared", histogram_input(bytes, 32));
    Counters counters;
    static_cast<void>(virtual_gpu().run({}, [&] {
      counters =
          counters_of_launches([&] { static_cast<void>(a_case.pair->run_kernel(a_case.input)); });
    }));
    return counters;
  };
  const Counters equal = counted(std::vector<int>(32, 7));
  EXPECT_EQ(equal.at("histogram.cu:24").conflicts(), 31U);
  EXPECT_EQ(equal.at("histogram.cu:24").contended, 31U);
  EXPECT_EQ(equal.shared_conflicts, 31U);
  std::vector<int> different(32);
  std::iota(different.begin(), different.end(), 0);
  EXPECT_EQ(counted(different).shared_conflicts, 0U);
  EXPECT_EQ(counted(different).coalescing("kernels/histogram.cu:24"), 1);
  EXPECT_THROW(static_cast<void>(equal.at("histogram.cu:1")), std::invalid_argument);
}

}  // namespace
}  // namespace warpcheck
