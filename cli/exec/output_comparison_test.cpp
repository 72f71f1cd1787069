// Compares runs under different schedules by the data that reached the host.
#include "cli/exec/output_comparison.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Arrival;
using Kind = OutputKey::Kind;

constexpr int kProcess = 7;

// A program that copies `values` to the host, one after the other.
ProgramRun run_with(const std::vector<std::uint32_t>& values, const std::string& sees_order = "") {
  ProgramRun run;
  run.records = {{kProcess, cudart::StartRecord{"/program"}},
                 {kProcess, cudart::KernelRecord{"_Z3sumPi", sees_order}},
                 {kProcess, cudart::CallRecord{"cudaMemcpy"}}};
  cudart::ExecLogContents& log = run.logs[kProcess];
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    log.arrivals.push_back({Arrival::Kind::copy, 10 + i, 4, values[i], 1, 0});
  }
  return run;
}

RunOutput output_with(const std::vector<std::uint32_t>& values) {
  return output_of(run_with(values));
}

void print(ProgramRun& run, std::uint32_t launch, std::uint64_t hash) {
  run.logs[kProcess].arrivals.push_back({Arrival::Kind::prints, launch, 1, hash, 1, 0});
}

vgpu::Finding finding_of(vgpu::FindingKind kind) {
  vgpu::Finding finding;
  finding.kind = kind;
  finding.kernel = "sum";
  finding.accesses = {{"read", {}, {}, "/a/sum.cu", 5, "ld.global.u32"}};
  return finding;
}

// arrivals: entries of the log before it
void add_finding(ProgramRun& run, vgpu::FindingKind kind, std::uint64_t arrivals) {
  run.records.push_back({kProcess, cudart::FindingRecord{0, finding_of(kind), arrivals}});
}

TEST(OutputComparison, DifferencesComeInTheOrderOfTheCalls) {
  const RunOutput a = output_with({1, 2, 3});
  EXPECT_TRUE(differences(a, a).empty());
  // A copy that only one of them has is no difference: it follows from an earlier one.
  EXPECT_TRUE(differences(a, output_with({1, 2})).empty());
  ProgramRun other = run_with({4, 2, 5});
  other.status = 3;
  print(other, 1, 77);
  EXPECT_EQ(
      differences(a, output_of(other)),
      (std::vector<OutputKey>{
          {0, Kind::copy, 10}, {0, Kind::copy, 12}, {0, Kind::prints, 1}, {0, Kind::status, 0}}));
}

// A kernel that waits for the host prints before or after another one: the sum counts.
TEST(OutputComparison, TextIsComparedWhicheverLaunchPrintsIt) {
  ProgramRun a = run_with({}), b = run_with({}), c = run_with({});
  print(a, 1, 5);
  print(a, 2, 6);
  print(b, 2, 11);
  b.logs[kProcess].arrivals.back().bytes = 2;
  print(c, 1, 5);
  print(c, 2, 7);
  EXPECT_TRUE(differences(output_of(a), output_of(b)).empty());
  EXPECT_EQ(differences(output_of(a), output_of(c)),
            (std::vector<OutputKey>{{0, Kind::prints, 2}}));
}

TEST(OutputComparison, WhatFollowsFromAStoppedLaunchIsNoDifference) {
  for (const auto kind : {vgpu::FindingKind::trap, vgpu::FindingKind::deadlock}) {
    ProgramRun a = run_with({1, 2, 3});
    ProgramRun b = run_with({1, 4, 5});
    b.status = 1;
    print(a, 3, 5);
    print(b, 3, 6);
    EXPECT_EQ(differences(output_of(a), output_of(b)).size(), 4u);
    add_finding(b, kind, 1);  // after the first copy
    EXPECT_TRUE(differences(output_of(a), output_of(b)).empty());
    EXPECT_TRUE(differences(output_of(b), output_of(a)).empty());
    // What came before it counts.
    a.logs[kProcess].arrivals[0].hash = 9;
    EXPECT_EQ(differences(output_of(a), output_of(b)),
              (std::vector<OutputKey>{{0, Kind::copy, 10}}));
  }
}

TEST(OutputComparison, TextBeforeAStoppedLaunchCounts) {
  ProgramRun a = run_with({}), b = run_with({});
  print(a, 1, 5);
  print(a, 2, 8);
  print(b, 1, 6);
  add_finding(b, vgpu::FindingKind::trap, 1);
  print(b, 2, 9);
  EXPECT_EQ(differences(output_of(a), output_of(b)),
            (std::vector<OutputKey>{{0, Kind::prints, 1}}));
  a.logs[kProcess].arrivals[0].hash = 6;
  EXPECT_TRUE(differences(output_of(a), output_of(b)).empty());
}

class OutputComparisonTest : public testing::Test {
 protected:
  // The result of a repeated run, and its files.
  ProgramRun repeated(int run, const std::vector<std::uint32_t>& values,
                      const std::vector<std::uint32_t>& kept, const fs::path& text,
                      const std::string& sees_order = "") {
    ++repeated_;
    ProgramRun again = run_with(values, sees_order);
    again.records_file = directory_ / ("records" + std::to_string(run));
    for (const std::uint32_t operation : kept) {
      std::ofstream(
          cudart::kept_bytes_path(again.records_file, kProcess, Arrival::Kind::copy, operation))
          .write(reinterpret_cast<const char*>(&values[operation - 10]), 4);
    }
    std::ofstream(text) << "begin\nsum " << values.back() << "\n";
    return again;
  }

  // Compares a first run, which copies 20 to the host, with a second one, which copies 30.
  //   change(run, again): changes the result of a repeated run
  std::optional<OutputComparison::Found> compare_two(
      const std::function<void(int run, ProgramRun& again)>& change,
      const std::string& sees_order = "") {
    OutputComparison comparison(directory_, [&](int run, const auto& kept, const auto& text) {
      ProgramRun again = repeated(run, {1, run == 1 ? 20u : 30u}, kept, text, sees_order);
      change(run, again);
      return again;
    });
    comparison.add(output_with({1, 20}));
    comparison.add(output_with({1, 30}));
    auto found = comparison.find("the default schedule");
    is_unsteady_ = comparison.is_unsteady();
    return found;
  }

  const TemporaryDirectory temporary_;
  const fs::path directory_ = temporary_.path();
  bool is_unsteady_ = false;  // of compare_two()
  int repeated_ = 0;
};

constexpr const char* kDifference =
    "0x0000001e (30), under the default schedule 0x00000014 (20); line 2 of standard output: "
    "\"sum 30\", under the default schedule \"sum 20\"";

TEST_F(OutputComparisonTest, TellsWhatDiffersFirst) {
  for (const std::string sees_order : {"", "/a/b/sum.cu:7 atom.global.add.u32"}) {
    OutputComparison comparison(directory_, [&](int run, const auto& kept, const auto& text) {
      return repeated(run, {1, run == 1 ? 20u : 30u}, kept, text, sees_order);
    });
    comparison.add(output_with({1, 20}));
    comparison.add(output_with({1, 20}));
    comparison.add(output_with({1, 30}));
    const auto found = comparison.find("the default schedule");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->run, 3);
    EXPECT_EQ(found->finding.kind, vgpu::FindingKind::schedule_dependent);
    const bool is_error = sees_order.empty();
    EXPECT_EQ(found->finding.severity, is_error ? vgpu::Severity::error : vgpu::Severity::note);
    EXPECT_EQ(found->finding.kernel, "sum");
    EXPECT_EQ(found->finding.object, "at byte 0 of copy 2 to the host, by cudaMemcpy of 4 bytes");
    EXPECT_EQ(found->finding.message,
              std::string(kDifference) +
                  (is_error ? ""
                            : "; kernel sum can observe the order of threads: sum.cu:7 "
                              "atom.global.add.u32"));
    EXPECT_EQ(found->finding.cause, "");
  }
  EXPECT_EQ(repeated_, 4);
}

// A kernel that is launched later has no part in it.
TEST_F(OutputComparisonTest, ALaterKernelThatObservesTheOrderExplainsNothing) {
  const auto found = compare_two([](int, ProgramRun& again) {
    again.records.push_back(
        {kProcess, cudart::KernelRecord{"_Z4tailPi", "tail.cu:1 atom", false, 2}});
  });
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->finding.severity, vgpu::Severity::error);
}

// Also where a kernel can observe the order: an unwritten value is a defect.
TEST_F(OutputComparisonTest, AnUnwrittenValueDecides) {
  for (const bool is_in_time : {true, false}) {
    const auto found = compare_two(
        [&](int, ProgramRun& again) {
          add_finding(again, vgpu::FindingKind::uninitialized_read, is_in_time ? 1 : 2);
        },
        "sum.cu:7 atom");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->finding.severity, is_in_time ? vgpu::Severity::error : vgpu::Severity::note);
    EXPECT_EQ(found->finding.cause, is_in_time ? "uninitialized-read at sum.cu:5" : "");
    EXPECT_EQ(found->finding.message.ends_with("; a value that nothing has written decides"),
              is_in_time);
  }
}

// It may be a register that nothing has written, unless a race is known.
TEST_F(OutputComparisonTest, AnUnwrittenRegisterMayDecide) {
  for (const bool races : {false, true}) {
    const auto found = compare_two([&](int, ProgramRun& again) {
      std::get<cudart::KernelRecord>(again.records[1].what).reads_unwritten = true;
      if (races) add_finding(again, vgpu::FindingKind::data_race, 0);
    });
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->finding.severity, vgpu::Severity::error);
    EXPECT_EQ(found->finding.cause,
              races ? "" : "perhaps a register that kernel sum reads and may not have written");
  }
}

// Memory of the host that nothing has written, for example.
TEST_F(OutputComparisonTest, WhatFollowsFromOtherInputIsNotTheSchedule) {
  for (const bool is_before : {true, false}) {
    const auto found = compare_two([&](int run, ProgramRun& again) {
      auto& arrivals = again.logs[kProcess].arrivals;
      const Arrival input{Arrival::Kind::to_device, 9, 4, run == 1 ? 5u : 6u, 1, 0};
      arrivals.insert(is_before ? arrivals.begin() : arrivals.end(), input);
    });
    EXPECT_EQ(found.has_value(), !is_before);
    EXPECT_FALSE(is_unsteady_);
  }
}

TEST_F(OutputComparisonTest, RunsThatAgreeAreNotRepeated) {
  OutputComparison comparison(directory_, [&](int, const auto&, const auto&) {
    ADD_FAILURE();
    return ProgramRun{};
  });
  for (int i = 0; i < 3; ++i) comparison.add(output_with({1, 2}));
  EXPECT_FALSE(comparison.find("the default schedule").has_value());
  EXPECT_FALSE(comparison.is_unsteady());
}

// The repetition of the first run, or of the other one, differs.
TEST_F(OutputComparisonTest, WhatDiffersUnderTheSameScheduleIsLeftOut) {
  for (const int unsteady : {1, 2}) {
    OutputComparison comparison(directory_, [&](int run, const auto& kept, const auto& text) {
      const std::uint32_t before = run == 1 ? 20 : 30;
      return repeated(run, {1, run == unsteady ? 99 : before}, kept, text);
    });
    comparison.add(output_with({1, 20}));
    comparison.add(output_with({1, 30}));
    EXPECT_FALSE(comparison.find("the default schedule").has_value());
    EXPECT_TRUE(comparison.is_unsteady());
  }
}

}  // namespace
}  // namespace warpcheck
