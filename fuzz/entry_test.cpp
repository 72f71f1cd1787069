#include "fuzz/entry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/worst_case.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

const AnyPair& pair(const char* name) { return *Registry::global().find(name); }

Bytes random_bytes(std::uint64_t seed) {
  vgpu::Prng prng(seed);
  Bytes bytes(prng.below(100));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(prng.next());
  return bytes;
}

class EntryTest : public testing::Test {
 protected:
  std::vector<std::uint8_t> counters_ = std::vector<std::uint8_t>(kCounters);

  [[nodiscard]] std::size_t counters_hit() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(counters_, [](std::uint8_t counter) { return counter != 0; }));
  }
};

TEST_F(EntryTest, BytesAlwaysMeanTheSame) {
  const InputRunner runner(pair("scan_two_level"), counters_);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Case a = runner.decode(random_bytes(seed)), b = runner.decode(random_bytes(seed));
    EXPECT_TRUE(a.pair->identical(a.input, b.input));
    EXPECT_TRUE(same_settings(a.settings, b.settings));
    EXPECT_EQ(a.tape, b.tape);
  }
}

TEST_F(EntryTest, BytesReachEverySettingUnlessOneIsGiven) {
  const auto settings_of = [&](const InputOptions& options) {
    const InputRunner runner(pair("scan_tree"), counters_, options);
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      seen.insert(settings_summary(runner.decode(random_bytes(seed)).settings));
    }
    return seen.size();
  };
  EXPECT_EQ(settings_of({}), 4u);
  EXPECT_EQ(settings_of({.build = cudart::Build::optimized, .warp_model = {}}), 2u);
  EXPECT_EQ(
      settings_of({.build = cudart::Build::unoptimized, .warp_model = vgpu::WarpModel::lockstep}),
      1u);
}

TEST_F(EntryTest, ACleanPairNeverFails) {
  InputRunner runner(pair("scan_hillis_steele"), counters_);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    EXPECT_FALSE(runner.run(random_bytes(seed))) << seed;
  }
  EXPECT_EQ(runner.executions(), 300u);
}

TEST_F(EntryTest, FeedbackCountsWhatATrialDid) {
  InputRunner runner(pair("scan_hillis_steele"), counters_);
  runner.run({});
  const std::size_t nothing = counters_hit();
  EXPECT_GE(nothing, 1u);
  std::ranges::fill(counters_, std::uint8_t{0});
  runner.run(random_bytes(3));
  EXPECT_GT(counters_hit(), 5u);
  EXPECT_EQ(runner.shape().launches.size(), 1u);
}

TEST_F(EntryTest, WithoutFeedbackOneCounterSteps) {
  InputRunner runner(pair("scan_hillis_steele"), counters_,
                     {.build = {}, .warp_model = {}, .feedback = false});
  for (std::uint64_t seed = 0; seed < 10; ++seed) runner.run(random_bytes(seed));
  EXPECT_EQ(counters_hit(), 1u);
}

TEST_F(EntryTest, AFailureIsACaseThatReplays) {
  InputRunner runner(pair("scan_hillis_steele_published"), counters_);
  TrialRunner replayer;
  int failures = 0, with_decisions = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto failed = runner.run(random_bytes(seed));
    if (!failed) continue;
    ++failures;
    with_decisions += !std::get<vgpu::Schedule>(failed->a_case.schedule).decisions.empty();
    const Verdict again = replayer.run(failed->a_case);
    EXPECT_EQ(again.findings, failed->verdict.findings);
    EXPECT_EQ(again.schedule, failed->verdict.schedule);
    EXPECT_EQ(again.decisions_ignored, 0u);
  }
  EXPECT_GT(failures, 10);
  EXPECT_GT(with_decisions, 0);
}

TEST_F(EntryTest, AFailureIsSavedSmallAndSavedOnce) {
  const TemporaryDirectory temporary;
  const std::filesystem::path& directory = temporary.path();
  InputRunner runner(pair("scan_hillis_steele_published"), counters_,
                     {.build = {}, .warp_model = vgpu::WarpModel::independent});
  std::optional<Failure> failed;
  for (std::uint64_t seed = 0; !failed; ++seed) failed = runner.run(random_bytes(seed));
  const Report report = shrink_and_save(*failed, directory, 7, runner.plain_runner()).report;
  EXPECT_EQ(report.search->trials, 7u);
  EXPECT_EQ(report.a_case.pair->size_of(report.a_case.input).elements, 3u);
  ASSERT_TRUE(std::filesystem::exists(report.replay_path));
  const auto files = std::filesystem::directory_iterator(directory);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  const CaseRecord record = read_case(report.replay_path, Registry::global());
  EXPECT_EQ(record.kinds, failure_kinds(report.verdict));
}

// If a failure shrinks to a part of it, an earlier case of the whole failure is kept.
TEST_F(EntryTest, AShrunkCaseRemovesOnlyWhatItWasMadeFrom) {
  const TemporaryDirectory temporary;
  const std::filesystem::path& directory = temporary.path();
  InputRunner runner(pair("scan_hillis_steele_published"), counters_,
                     {.build = {}, .warp_model = vgpu::WarpModel::independent});
  std::optional<Failure> failed;
  for (std::uint64_t seed = 0; !failed; ++seed) failed = runner.run(random_bytes(seed));
  failed->verdict.findings.emplace_back().kind = vgpu::FindingKind::leak;
  for (const bool is_kept : {false, true}) {
    std::filesystem::remove_all(directory);
    const auto place = case_place(directory, failed->a_case, failed->verdict);
    if (is_kept) keep_case(directory, failed->a_case, failed->verdict);
    const Report report = shrink_and_save(*failed, directory, 7, runner.plain_runner()).report;
    EXPECT_NE(report.replay_path, place.path.string());
    EXPECT_TRUE(std::filesystem::exists(report.replay_path));
    EXPECT_EQ(std::filesystem::exists(place.path), is_kept);
  }
}

TEST(WorstCase, AHistogramOfEqualBytesHasMostConflicts) {
  const auto& goals = worst_case_goals();
  const auto find = [&] {
    return find_worst_case({.pair = &pair("histogram_shared"),
                            .goal = &*std::ranges::find(goals, "conflicts", &WorstCaseGoal::name),
                            .seconds = 0,
                            .executions = 200,
                            .seed = 3});
  };
  const WorstCase worst = find();
  EXPECT_EQ(worst.executions, 200U);
  EXPECT_GT(worst.value, 10 * std::max(worst.first, 10.0));
  const WorstCase again = find();
  EXPECT_EQ(again.value, worst.value);
  EXPECT_TRUE(worst.a_case.pair->identical(again.a_case.input, worst.a_case.input));
}

WorstCase worst_numbers_of(const char* name, std::string_view goal, std::uint64_t executions) {
  return find_worst_case(
      {.pair = &pair(name),
       .goal = &*std::ranges::find(worst_case_goals(), goal, &WorstCaseGoal::name),
       .seconds = 0,
       .executions = executions,
       .seed = 1});
}

TEST(WorstCase, TheDigitsOfAVarianceOfSquaresAreAllLostByAFewElements) {
  const WorstCase worst = worst_numbers_of("variance_of_squares", "error", 60);
  EXPECT_GT(worst.worst, 1e4);
  EXPECT_GE(worst.value, 0.9 * worst.worst);
  EXPECT_LE(worst.a_case.pair->size_of(worst.a_case.input).elements, 4U);
  const Verdict verdict = TrialRunner().run(worst.a_case);  // with --check precision
  EXPECT_TRUE(std::ranges::any_of(verdict.findings, [](const vgpu::Finding& finding) {
    return finding.kind == vgpu::FindingKind::rounding_error;
  }));
}

TEST(WorstCase, APowerThatOverflowsMakesANanOfOneElement) {
  const WorstCase worst = worst_numbers_of("softmax_no_maximum", "nan", 60);
  EXPECT_GE(worst.worst, 1);
  EXPECT_EQ(worst.a_case.pair->size_of(worst.a_case.input).elements, 1U);
  EXPECT_EQ(worst_numbers_of("softmax_online", "nan", 20).worst_text, "0 NaNs");
}

TEST(WorstCase, ARoundedQuotientFlipsAComparison) {
  const WorstCase worst = worst_numbers_of("compared_floats", "flips", 60);
  EXPECT_GE(worst.worst, 1);
  EXPECT_EQ(worst.a_case.pair->size_of(worst.a_case.input).elements, 1U);
  EXPECT_EQ(worst.text, "1 comparison that rounding decides");
  const Verdict verdict = TrialRunner().run(worst.a_case);  // with --check precision
  const auto flip = std::ranges::find_if(verdict.findings, [](const vgpu::Finding& finding) {
    return finding.kind == vgpu::FindingKind::rounding_error;
  });
  ASSERT_NE(flip, verdict.findings.end());
  EXPECT_TRUE(flip->accesses[0].file.ends_with("rounded.cu"));
  EXPECT_EQ(flip->accesses[0].ptx, "setp.eq.f32");
  EXPECT_EQ(worst_numbers_of("reduce_max_float", "flips", 20).worst, 0);
}

}  // namespace
}  // namespace warpcheck::fuzz
