// The loop alone: how it handles verdicts, whichever code drives it.
#include "harness/search/search_loop.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/pair/registry.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {
namespace {

using Kind = vgpu::FindingKind;

// A trial whose case is identified by its seed.
TriedCase tried(std::uint64_t seed, const std::vector<Kind>& kinds) {
  TriedCase made;
  made.a_case.pair = Registry::global().find("fake_clean");
  made.a_case.schedule = StrategyChoice{.name = "random", .seed = seed};
  for (const Kind kind : kinds) {
    made.verdict.findings.emplace_back().kind = kind;
  }
  made.verdict.launches = 2;
  return made;
}

// Trials from a table, one after the other.
class Source {
 public:
  using Row = std::optional<std::vector<Kind>>;  // nothing: outside the domain

  explicit Source(std::vector<Row> rows) : rows_(std::move(rows)) {}

  std::optional<TriedCase> operator()() {
    const Row& row = rows_.at(next_);
    ++next_;
    return row ? std::optional(tried(next_, *row)) : std::nullopt;
  }
  [[nodiscard]] std::size_t taken() const { return next_; }

 private:
  std::vector<Row> rows_;
  std::size_t next_ = 0;
};

using Kinds = std::vector<Kind>;
const std::vector<Source::Row> kRows{
    Kinds{}, std::nullopt, Kinds{Kind::mismatch}, Kinds{Kind::data_race}, Kinds{Kind::mismatch},
    Kinds{}};

TEST(SearchLoop, EndsWhenItsRuleSaysSo) {
  struct Row {
    SearchEnd end;
    std::vector<Kind> expected;
    std::size_t taken;  // of six, one of which is outside the domain
    std::vector<std::uint64_t> failures;
  };
  const Row kEnds[] = {
      {SearchEnd::never, {}, 6, {2, 3, 4}},
      {SearchEnd::first_failure, {Kind::data_race}, 3, {2}},
      {SearchEnd::all_expected, {}, 3, {2}},
      {SearchEnd::all_expected, {Kind::mismatch}, 3, {2}},
      {SearchEnd::all_expected, {Kind::data_race}, 4, {2, 3}},
      {SearchEnd::all_expected, {Kind::data_race, Kind::mismatch}, 4, {2, 3}},
      {SearchEnd::all_expected, {Kind::leak}, 6, {2, 3, 4}},
  };
  for (const Row& row : kEnds) {
    Source source(kRows);
    std::vector<std::uint64_t> failures, cases;
    SearchLoop loop(
        {.end = row.end, .expected = row.expected, .on_failure = [&](const Failure& failure) {
           failures.push_back(failure.trial);
           cases.push_back(std::get<StrategyChoice>(failure.a_case.schedule).seed);
         }});
    loop.run(6, source);
    EXPECT_EQ(source.taken(), row.taken);
    EXPECT_EQ(failures, row.failures);
    // The case is that of the trial; the trial outside the domain has none.
    for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(cases[i], failures[i] + 1);
    EXPECT_TRUE(loop.failed());
    EXPECT_EQ(loop.trials(), row.taken - 1);
    EXPECT_EQ(loop.seen().trials, row.taken - 1);
    EXPECT_EQ(loop.seen().launches, 2 * (row.taken - 1));
  }
}

TEST(SearchLoop, TakesNoMoreThanItsBudget) {
  Source source(kRows);
  SearchLoop loop({});
  loop.run(2, source);
  EXPECT_EQ(source.taken(), 2u);
  EXPECT_EQ(loop.trials(), 1u);
  EXPECT_FALSE(loop.failed());
}

TEST(SearchLoop, WhatCannotBeRunEndsItAndIsNoFailure) {
  int failures = 0;
  SearchLoop loop({.on_failure = [&](const Failure&) { ++failures; }});
  EXPECT_TRUE(loop.take([] { return tried(1, {}); }));
  EXPECT_FALSE(loop.take([] {
    TriedCase refused = tried(2, {Kind::mismatch});
    refused.verdict.refusals = {"wmma.load: no"};
    return refused;
  }));
  EXPECT_EQ(failures, 0);
  EXPECT_FALSE(loop.failed());
  EXPECT_EQ(loop.trials(), 2u);
  EXPECT_EQ(loop.seen().trials, 1u);
  ASSERT_TRUE(loop.refused().has_value());
  EXPECT_EQ(loop.refused()->verdict.refusals, std::vector<std::string>{"wmma.load: no"});
  EXPECT_EQ(std::get<StrategyChoice>(loop.refused()->a_case.schedule).seed, 2u);
}

TEST(SearchLoop, EndsAfterTheTrialInWhichItIsStopped) {
  volatile std::sig_atomic_t stop = 0;
  std::vector<std::uint64_t> told;
  SearchLoop loop({.on_trial =
                       [&](std::uint64_t trials) {
                         told.push_back(trials);
                         stop = trials == 2 ? 1 : 0;
                       },
                   .stop = &stop});
  Source source(kRows);
  loop.run(6, source);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(loop.is_stopped());
  EXPECT_TRUE(loop.failed());
}

TEST(KnownFailures, AFailureIsNewWhenItShowsANewPlace) {
  const auto verdict_at = [](std::initializer_list<std::uint32_t> lines) {
    Verdict verdict;
    for (const std::uint32_t line : lines) {
      vgpu::Finding finding;
      finding.kernel = "k";
      finding.accesses = {{.role = "read", .file = "k.cu", .line = line, .ptx = ""}};
      verdict.findings.push_back(finding);
    }
    return verdict;
  };
  KnownFailures known;
  EXPECT_TRUE(known.add(verdict_at({1, 2})));
  EXPECT_FALSE(known.add(verdict_at({2})));
  EXPECT_FALSE(known.add(verdict_at({1, 2})));
  EXPECT_TRUE(known.add(verdict_at({2, 3})));
  EXPECT_FALSE(known.add(verdict_at({})));
}

TEST(KnownFailures, PlacesMayBeKnownFromTheStart) {
  const Verdict verdict = tried(1, {Kind::leak}).verdict;
  KnownFailures known(std::set<std::string>{vgpu::class_of(verdict.findings.front())});
  EXPECT_FALSE(known.add(verdict));
  EXPECT_TRUE(known.add(tried(1, {Kind::trap}).verdict));
}

// The seed would decide differently after other trials.
TEST(SearchLoop, FailuresOfGuidedTrialsGoOnAsRecordedDecisions) {
  const vgpu::Schedule recorded{{{.launch = 0, .index = 3, .held = 1}}};
  std::vector<Failure> failures;
  SearchLoop loop({.on_failure = [&](Failure failure) { failures.push_back(std::move(failure)); }});
  for (const char* name : {"reads_from", "pos"}) {
    loop.take([&] {
      TriedCase made = tried(7, {Kind::mismatch});
      made.a_case.schedule = StrategyChoice{.name = name, .seed = 7};
      made.verdict.schedule = recorded;
      return made;
    });
  }
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(std::get<vgpu::Schedule>(failures[0].a_case.schedule), recorded);
  EXPECT_EQ(std::get<StrategyChoice>(failures[1].a_case.schedule), (StrategyChoice{"pos", 7}));
}

}  // namespace
}  // namespace warpcheck
