#include "harness/search/statistics.hpp"
#include "harness/input/json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/pair/pair.hpp"
#include "harness/search/check.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {

// Never draws an input of two elements, although it is required.
KERNEL_PAIR(fake_statistics, FakeInput, int) = {
    .family = "fake",
    .arbitrary =
        [](Draw& draw) {
          const std::int64_t n = 3 * draw.between(0, 1);
          return FakeInput{.values = std::vector<int>(static_cast<std::size_t>(n), 5),
                           .launch = {.grid = 1, .block = 64}};
        },
    .kernel = [](Device&, const FakeInput&) { return 0; },
    .reference = [](const FakeInput&) { return 0; },
    .classes = {{"a pair", [](const FakeInput& in) { return in.values.size() == 2; }},
                {"three", [](const FakeInput& in) { return in.values.size() == 3; }}},
    .required_classes = {"values.size: zero", "three", "a pair", "launch: several blocks"},
};

namespace {

const AnyPair& pair() { return *Registry::global().find("fake_statistics"); }

Case case_with(std::size_t n, std::variant<vgpu::Schedule, StrategyChoice> schedule) {
  return {.pair = &pair(),
          .property = "",
          .input = std::make_shared<const FakeInput>(
              FakeInput{.values = std::vector<int>(n, 5), .launch = {.grid = 1, .block = 64}}),
          .schedule = std::move(schedule),
          .settings = {},
          .tape = {}};
}

std::uint64_t count(const CaseStatistics& statistics, const std::string& name) {
  for (const CaseStatistics::Class& each : statistics.classes()) {
    if (each.name == name) return each.cases;
  }
  ADD_FAILURE() << "no class " << name;
  return 0;
}

TEST(Statistics, CountTheClassesOfEachCase) {
  CaseStatistics statistics(pair());
  statistics.add(case_with(0, StrategyChoice{"pct", 1}));
  statistics.add(case_with(3, StrategyChoice{"pct", 2}));
  statistics.add(case_with(3, vgpu::Schedule{}));
  EXPECT_EQ(statistics.cases(), 3U);
  EXPECT_EQ(count(statistics, "values.size: zero"), 1U);
  EXPECT_EQ(count(statistics, "values.size: prime"), 2U);
  EXPECT_EQ(count(statistics, "launch: one block"), 3U);
  EXPECT_EQ(count(statistics, "three"), 2U);
  EXPECT_EQ(count(statistics, "a pair"), 0U);
  EXPECT_EQ(count(statistics, "schedule: pct"), 2U);
  EXPECT_EQ(statistics.missing(), (std::vector<std::string>{"a pair", "launch: several blocks"}));
}

TEST(Statistics, SayWhatWasNeverDrawn) {
  CaseStatistics statistics(pair());
  for (int i = 0; i < 3; ++i) statistics.add(case_with(i == 0 ? 0 : 3, vgpu::Schedule{}));
  const std::string text = statistics_text(statistics);
  EXPECT_EQ(
      text.rfind("STATISTICS fake_statistics   3 cases\n"
                 "  values.size  zero 33.3 %, odd 66.7 %, prime 66.7 %, power of two +-1 66.7 %\n",
                 0),
      0U)
      << text;
  EXPECT_NE(text.find("\n  never drawn:  values.size: one, "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n  REQUIRED AND NEVER DRAWN:  a pair, launch: several blocks\n"))
      << text;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    EXPECT_LE(end - begin, 100U);
  }
}

TEST(Statistics, AsJson) {
  CaseStatistics statistics(pair());
  statistics.add(case_with(3, StrategyChoice{"pct", 2}));
  const Json json = statistics_json(statistics);
  EXPECT_EQ(json["pair"], "fake_statistics");
  EXPECT_EQ(json["cases"], 1);
  EXPECT_EQ(json["classes"]["three"], 1);
  EXPECT_EQ(json["classes"]["a pair"], 0);
  EXPECT_EQ(json["required"].size(), 4U);
  EXPECT_EQ(json["required_never_drawn"],
            (Json{"values.size: zero", "a pair", "launch: several blocks"}));
}

TEST(Statistics, OfACheckAreOfTheCasesThatItRuns) {
  CheckOptions options;
  options.trials = 200;
  CaseStatistics statistics(pair());
  add_drawn_cases(statistics, options);
  EXPECT_EQ(statistics.cases(), 200U);
  EXPECT_EQ(count(statistics, "values.size: zero") + count(statistics, "three"), 200U);
  EXPECT_GT(count(statistics, "three"), 50U);
  EXPECT_EQ(statistics.missing(), (std::vector<std::string>{"a pair", "launch: several blocks"}));
}

}  // namespace
}  // namespace warpcheck
