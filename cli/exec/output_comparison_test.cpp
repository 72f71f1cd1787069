// Compares runs under different schedules by the data that reached the host.
#include "cli/exec/output_comparison.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Arrival;
using Kind = OutputKey::Kind;

constexpr int kProcess = 7;

// A program that copies `values` to the host, one after the other.
ProgramRun run_with(const std::vector<std::uint32_t>& values, bool order_shows = false) {
  ProgramRun run;
  run.records = {{kProcess, cudart::StartRecord{"/program"}},
                 {kProcess, cudart::KernelRecord{"_Z3sumPi", order_shows}},
                 {kProcess, cudart::CallRecord{"cudaMemcpy"}}};
  cudart::ExecLogContents& log = run.logs[kProcess];
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    log.arrivals.push_back({Arrival::Kind::copy, 10 + i, 4, values[i], 1, 0});
  }
  return run;
}

TEST(OutputComparison, DifferencesComeInTheOrderOfTheCalls) {
  const RunOutput a = output_of(run_with({1, 2, 3}));
  EXPECT_TRUE(differences(a, a).empty());
  // A copy that only one of them has is no difference: it follows from an earlier one.
  EXPECT_TRUE(differences(a, output_of(run_with({1, 2}))).empty());
  ProgramRun other = run_with({4, 2, 5});
  other.status = 3;
  other.logs[kProcess].counts.prints = 1;
  EXPECT_EQ(
      differences(a, output_of(other)),
      (std::vector<OutputKey>{
          {0, Kind::copy, 10}, {0, Kind::copy, 12}, {0, Kind::prints, 0}, {0, Kind::status, 0}}));
}

class OutputComparisonTest : public testing::Test {
 protected:
  // The result of a repeated run, and its files.
  ProgramRun repeated(int run, const std::vector<std::uint32_t>& values,
                      const std::vector<std::uint32_t>& kept, const fs::path& text,
                      bool order_shows) {
    ++repeated_;
    ProgramRun again = run_with(values, order_shows);
    again.records_file = directory_ / ("records" + std::to_string(run));
    for (const std::uint32_t operation : kept) {
      std::ofstream(
          cudart::kept_bytes_path(again.records_file, kProcess, Arrival::Kind::copy, operation))
          .write(reinterpret_cast<const char*>(&values[operation - 10]), 4);
    }
    std::ofstream(text) << "begin\nsum " << values.back() << "\n";
    return again;
  }

  const TemporaryDirectory temporary_;
  const fs::path directory_ = temporary_.path();
  int repeated_ = 0;
};

TEST_F(OutputComparisonTest, TellsWhatDiffersFirst) {
  for (const bool order_shows : {false, true}) {
    OutputComparison comparison(directory_, [&](int run, const auto& kept, const auto& text) {
      return repeated(run, {1, run == 1 ? 20u : 30u}, kept, text, order_shows);
    });
    comparison.add(run_with({1, 20}, order_shows));
    comparison.add(run_with({1, 20}, order_shows));
    comparison.add(run_with({1, 30}, order_shows));
    const auto found = comparison.find("the default schedule");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->run, 3);
    EXPECT_EQ(found->finding.kind, vgpu::FindingKind::schedule_dependent);
    EXPECT_EQ(found->finding.severity, order_shows ? vgpu::Severity::note : vgpu::Severity::error);
    EXPECT_EQ(found->finding.kernel, "sum");
    EXPECT_EQ(found->finding.object, "at byte 0 of copy 2 to the host, by cudaMemcpy of 4 bytes");
    EXPECT_EQ(found->finding.message,
              "0x0000001e (30), under the default schedule 0x00000014 (20); line 2 of standard "
              "output: \"sum 30\", under the default schedule \"sum 20\"");
  }
  EXPECT_EQ(repeated_, 4);
}

TEST_F(OutputComparisonTest, RunsThatAgreeAreNotRepeated) {
  OutputComparison comparison(directory_, [&](int, const auto&, const auto&) {
    ADD_FAILURE();
    return ProgramRun{};
  });
  for (int i = 0; i < 3; ++i) comparison.add(run_with({1, 2}));
  EXPECT_FALSE(comparison.find("the default schedule").has_value());
  EXPECT_FALSE(comparison.is_unsteady());
}

// The repetition of the first run, or of the other one, differs.
TEST_F(OutputComparisonTest, WhatDiffersUnderTheSameScheduleIsLeftOut) {
  for (const int unsteady : {1, 2}) {
    OutputComparison comparison(directory_, [&](int run, const auto& kept, const auto& text) {
      const std::uint32_t before = run == 1 ? 20 : 30;
      return repeated(run, {1, run == unsteady ? 99 : before}, kept, text, false);
    });
    comparison.add(run_with({1, 20}));
    comparison.add(run_with({1, 30}));
    EXPECT_FALSE(comparison.find("the default schedule").has_value());
    EXPECT_TRUE(comparison.is_unsteady());
  }
}

}  // namespace
}  // namespace warpcheck
