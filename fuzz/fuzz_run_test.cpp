// run_fuzz(): the results of a search's jobs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "fuzz/fuzz.hpp"
#include "harness/case/case_file.hpp"
#include "harness/input/json.hpp"
#include "harness/pair/registry.hpp"
#include "harness/testing/stray_writes.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {

namespace {

class FuzzTest : public testing::Test {
 protected:
  FuzzOptions options(const char* pair, std::uint64_t executions) {
    FuzzOptions made;
    made.pair = Registry::global().find(pair);
    made.seconds = 0;
    made.executions = executions;
    made.cases = (directory_ / "cases").string();
    return made;
  }

  const TemporaryDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

TEST_F(FuzzTest, RunsAsOftenAsItIsTold) {
  FuzzOptions two_jobs = options("host_crash", 20);
  two_jobs.jobs = 2;
  EXPECT_EQ(run_fuzz(two_jobs).executions, 40u);
}

TEST_F(FuzzTest, LeavesNothingWhereNothingWasFound) {
  run_fuzz(options("scan_tree", 20));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "cases"));
}

TEST_F(FuzzTest, ReportsAFailureOnceAndShrunk) {
  FuzzOptions two_jobs = options("wrong_number", 500);
  two_jobs.jobs = 2;
  const FuzzOutcome outcome = run_fuzz(two_jobs);
  EXPECT_TRUE(outcome.errors.empty());
  ASSERT_EQ(outcome.reports.size(), 1u);
  const Report& report = outcome.reports.front();
  EXPECT_EQ(report.verdict.findings.front().kind, vgpu::FindingKind::mismatch);
  EXPECT_EQ(report.a_case.pair->to_json(report.a_case.input).dump(), R"({"value":1})");
  EXPECT_TRUE(std::filesystem::exists(report.replay_path));
}

TEST_F(FuzzTest, StopsWhenFoundIfTold) {
  FuzzOptions stopping = options("wrong_number", 1'000'000'000);
  stopping.stop_when_found = true;
  const FuzzOutcome outcome = run_fuzz(stopping);
  EXPECT_EQ(outcome.reports.size(), 1u);
  EXPECT_LT(outcome.executions, 1'000u);
}

TEST_F(FuzzTest, AnInterruptionIsToldOnce) {
  FuzzOptions two_jobs = options("scan_tree", 1'000'000'000);
  two_jobs.jobs = 2;
  volatile std::sig_atomic_t stop = 0;
  two_jobs.stop = &stop;
  two_jobs.on_wait = [&] { stop = 1; };
  EXPECT_EQ(run_fuzz(two_jobs).errors, std::vector<std::string>{"interrupted"});
}

TEST_F(FuzzTest, SameSeedSameSearch) {
  std::vector<std::string> texts;
  for (int i = 0; i < 2; ++i) {
    const FuzzOutcome outcome = run_fuzz(options("wrong_number", 300));
    ASSERT_EQ(outcome.reports.size(), 1u);
    texts.push_back(report_text(outcome.reports.front()));
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(FuzzTest, AddsToItsCorpus) {
  FuzzOptions saving = options("scan_tree", 300);
  saving.corpus = (directory_ / "corpus").string();
  run_fuzz(saving);
  EXPECT_FALSE(std::filesystem::is_empty(saving.corpus));
}

TEST_F(FuzzTest, ACrashOfHostCodeIsAnError) {
  const FuzzOutcome outcome = run_fuzz(options("host_crash", 100'000));
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_NE(outcome.errors.front().find("libFuzzer saved the input in"), std::string::npos);
  const auto saved = std::filesystem::directory_iterator(directory_ / "cases" / "host_crash");
  EXPECT_TRUE(std::any_of(begin(saved), end(saved), [](const auto& entry) {
    return entry.path().filename().string().starts_with("crash-");
  }));
}

TEST_F(FuzzTest, TheTrialsOfAKilledJobCount) {
  const FuzzOutcome outcome = run_fuzz(options("killed_job", 100'000));
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.executions, 500u);  // told of 250 at a time
}

TEST_F(FuzzTest, ACaseThatCannotBeSavedIsAnError) {
  const FuzzOptions asked = options("wrong_number", 1'000);
  const Report known = run_fuzz(asked).reports.at(0);
  const std::filesystem::path path = known.replay_path;
  std::filesystem::remove(path);
  // Directories with all names that the case could have.
  std::string name;
  for (unsigned digits = 4; digits <= 16; ++digits) {
    name = case_file_name(known.a_case, known.verdict, digits);
    std::filesystem::create_directories(path.parent_path() / name);
  }
  for (int number = 2; number <= 99; ++number) {
    const std::string stem = std::filesystem::path(name).stem().string();
    std::filesystem::create_directories(path.parent_path() /
                                        fmt::format("{}-{}.case", stem, number));
  }
  const FuzzOutcome outcome = run_fuzz(asked);
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.errors.front(),
            "cannot write " + path.string() + ": it and all longer names are taken");
  // The failure is reported, and the search goes on.
  ASSERT_EQ(outcome.reports.size(), 1u);
  const Report& report = outcome.reports.front();
  EXPECT_EQ(report.replay_path, "");
  EXPECT_EQ(report.a_case.pair->to_json(report.a_case.input).dump(), R"({"value":1})");
  EXPECT_EQ(report.verdict.findings, known.verdict.findings);
  EXPECT_EQ(outcome.executions, 1'000u);
}

// An error of the harness, not of the kernel: its text is reported to the caller.
TEST_F(FuzzTest, AnErrorThatNobodyForesawIsTold) {
  const FuzzOutcome outcome = run_fuzz(options("broken_reference", 100'000));
  EXPECT_EQ(outcome.errors, std::vector<std::string>{"internal error: no table for 77"});
}

// The line is no message; the lines before and after it are.
TEST_F(FuzzTest, WhatAJobWritesThatIsNotUnderstoodIsTold) {
  foreign_pipes = open_pipes();
  const FuzzOutcome outcome = run_fuzz(options("stray_writer", 100'000));
  EXPECT_EQ(outcome.errors,
            std::vector<std::string>{"internal error: a worker wrote 'trialz {\"count\":1}': no "
                                     "message has the tag 'trialz'"});
  EXPECT_EQ(outcome.executions, 100'000u);
  EXPECT_TRUE(outcome.reports.empty());
}

TEST_F(FuzzTest, RefusesASearchWithoutAnEnd) {
  EXPECT_THROW(run_fuzz(options("wrong_number", 0)), std::invalid_argument);
  FuzzOptions no_pair = options("wrong_number", 1);
  no_pair.pair = nullptr;
  EXPECT_THROW(run_fuzz(no_pair), std::invalid_argument);
}

}  // namespace
}  // namespace warpcheck
