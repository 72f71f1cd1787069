// Kernels with exactly one defect (kernels/specimens/planted/one_defect.cu): the first finding of a
// report is its cause, at the lines that are marked there, all others are folded as its
// consequences, and the report names the change with which they vanish.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/causes/find_causes.hpp"
#include "harness/generators/generators.hpp"
#include "harness/input/json.hpp"
#include "harness/pair/pair.hpp"
#include "harness/pair/registry.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/report/causes.hpp"
#include "harness/report/run_report.hpp"
#include "harness/trial/trial.hpp"
#include "kernels/specimens/planted/one_defect.hpp"
#include "reference/one_defect.hpp"

namespace warpcheck {

struct OneDefectInput {
  int which = 0;
  std::vector<int> in;
};
FIELDS(OneDefectInput, which, in);

namespace {

using one_defect_results::Values;

struct Expected {
  std::string name, kind;
  Values (*result)(const Values&);
  std::string change;
};

constexpr std::size_t kElements = 64;

using namespace one_defect_results;

const std::vector<Expected>& rows() {
  static const std::vector<Expected> all{
#define ONE_DEFECT(name, kind, result, change) {#name, kind, result, change},
#include "kernels/specimens/planted/one_defect.def"
#undef ONE_DEFECT
  };
  return all;
}

}  // namespace

KERNEL_PAIR(one_defect, OneDefectInput, std::vector<int>) = {
    .family = "causes",
    .origin = "ours: one defect in each kernel",
    .expects = {"data-race"},
    .domain =
        [](const OneDefectInput& input) {
          return input.in.size() == kElements && input.which >= 0 &&
                 input.which < static_cast<int>(rows().size()) &&
                 std::ranges::all_of(input.in, [](int v) { return v >= 0 && v < 16; });
        },
    .arbitrary =
        [](Draw& draw) {
          return OneDefectInput{draw(integers<int>(0, static_cast<int>(rows().size()) - 1)),
                                draw(vectors(kElements, integers<int>(0, 15)))};
        },
    .kernel =
        [](Device& device, const OneDefectInput& input) {
          const auto in = device.upload(input.in);
          auto out = device.upload(Values(input.in.size(), 0));
          device.check(one_defect(static_cast<std::size_t>(input.which), in.data(), out.data(),
                                  static_cast<int>(input.in.size())));
          return out.download();
        },
    .reference =
        [](const OneDefectInput& input) {
          return rows()[static_cast<std::size_t>(input.which)].result(input.in);
        },
};

namespace {

OneDefectInput input_of(std::size_t which) {
  OneDefectInput input{static_cast<int>(which), {}};
  for (std::size_t i = 0; i < kElements; ++i)
    input.in.push_back(static_cast<int>((7 * i + 3) % 16));
  return input;
}

struct Failing {
  Case a_case;
  Verdict verdict;
};

// The first schedule that shows a device's finding, or else a wrong result.
std::optional<Failing> failing_case(std::size_t which, cudart::Build build) {
  Case a_case;
  a_case.pair = Registry::global().find("one_defect");
  a_case.input = std::make_shared<const OneDefectInput>(input_of(which));
  a_case.settings.build = build;
  a_case.settings.limits.steps_max = 200'000;
  TrialRunner runner;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    if (seed != 0) a_case.schedule = StrategyChoice{seed % 2 == 0 ? "random" : "weak_memory", seed};
    Verdict verdict = runner.run(a_case);
    if (verdict.failed() || !verdict.refusals.empty()) return Failing{a_case, std::move(verdict)};
  }
  return std::nullopt;
}

// The lines of one_defect.cu with the mark.
const std::set<std::uint32_t>& marked_lines() {
  static const std::set<std::uint32_t> lines = [] {
    std::set<std::uint32_t> marked;
    std::ifstream file(built_path("kernels/specimens/planted/one_defect.cu"));
    std::string text;
    for (std::uint32_t line = 1; std::getline(file, text); ++line) {
      if (text.find("//@") != std::string::npos) marked.insert(line);
    }
    return marked;
  }();
  return lines;
}

std::string report_of(const Failing& failing, const Causes& causes) {
  return report_text({.a_case = failing.a_case,
                      .verdict = failing.verdict,
                      .search = std::nullopt,
                      .replay_path = {},
                      .causes = causes});
}

void expect_cause(std::size_t which, cudart::Build build) {
  const Expected& expected = rows()[which];
  SCOPED_TRACE(expected.name);
  const std::optional<Failing> failing = failing_case(which, build);
  ASSERT_TRUE(failing) << "no schedule shows the defect";
  ASSERT_TRUE(failing->verdict.refusals.empty()) << failing->verdict.refusals.front();
  const Causes causes = causes_of(failing->a_case, failing->verdict);
  const auto& findings = failing->verdict.findings;
  const std::vector<FindingGroup> groups = finding_groups(findings, causes);
  const std::string text = report_of(*failing, causes);
  const vgpu::Finding& first = findings[groups.front().findings.front()];
  EXPECT_EQ(vgpu::name_of(first.kind), expected.kind) << text;
  for (const vgpu::AccessSide& side : first.accesses) {
    if (side.file == "kernels/specimens/planted/one_defect.cu")
      EXPECT_TRUE(marked_lines().contains(side.line)) << text;
  }
  if (expected.change.empty()) {
    EXPECT_TRUE(causes.found.empty()) << text;
    return;
  }
  ASSERT_EQ(causes.found.size(), 1U) << text << causes.tried << " of " << causes.known << " tried";
  EXPECT_TRUE(causes.found.front().text.starts_with(expected.change)) << text;
  EXPECT_EQ(causes.found.front().findings.size(), findings.size()) << text;
}

class OneDefect : public testing::TestWithParam<std::size_t> {};

TEST_P(OneDefect, TheFirstFindingIsTheCause) { expect_cause(GetParam(), cudart::Build::optimized); }

std::size_t row_of(std::string_view name) {
  const auto row = std::ranges::find(rows(), name, &Expected::name);
  return static_cast<std::size_t>(row - rows().begin());
}

// A failing case of a row, with its causes, as a command reports it.
RunReport run_of(std::string_view name) {
  Failing failing = *failing_case(row_of(name), cudart::Build::optimized);
  Report report{.a_case = std::move(failing.a_case),
                .verdict = std::move(failing.verdict),
                .search = std::nullopt,
                .replay_path = {},
                .causes = {}};
  find_causes(report);
  RunReport run;
  run.command = "replay";
  run.claims.push_back({.pair = "one_defect"});
  run.add(std::move(report));
  return run;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Causes, AreTheSameInAProcessOfTheirOwn) {
  const RunReport run = run_of("reverse");
  const Causes here = causes_of(run.reports[0].a_case, run.reports[0].verdict);
  const Causes& there = run.reports[0].causes;
  ASSERT_EQ(here.found.size(), 1U);
  ASSERT_EQ(there.found.size(), 1U);
  EXPECT_EQ(here.found[0].text, there.found[0].text);
  EXPECT_EQ(here.found[0].findings, there.found[0].findings);
  EXPECT_EQ(here.tried, there.tried);
  EXPECT_EQ(here.known, there.known);
  EXPECT_EQ(report_text(run.reports[0]), report_text(run_of("reverse").reports[0]));
}

TEST(Causes, AreNotLookedForWithoutAnError) {
  const RunReport run = run_of("reverse");
  Verdict clean = run.reports[0].verdict;
  clean.findings.clear();
  EXPECT_EQ(causes_of(run.reports[0].a_case, clean).tried, 0U);
}

TEST(Causes, AreInEveryFormat) {
  const RunReport run = run_of("reverse");
  const std::string sentence =
      fmt::format("with __syncthreads() after one_defect.cu:{}, this case has no findings",
                  *std::next(marked_lines().begin()));
  const std::string text = report_text(run.reports[0]);
  EXPECT_TRUE(contains(text, "    " + sentence + "\n    and 2 consequences:\n")) << text;
  EXPECT_TRUE(contains(text, "\n      mismatch: out[0] = ")) << text;

  const Json json = report_json(run);
  ASSERT_EQ(json["findings"].size(), 3U);
  const Json& cause = json["findings"][0];
  EXPECT_EQ(cause["kind"], "data-race");
  EXPECT_EQ(cause["hint"], sentence);
  for (const Json& finding : json["findings"]) {
    EXPECT_EQ(finding["grouped_by"], "experiment");
    EXPECT_EQ(finding["group"], cause["hash"]);
    EXPECT_EQ(finding.contains("consequence_of"), finding["kind"] != "data-race");
  }
  EXPECT_EQ(json["failures"][0]["causes"]["budget_used_up"], false);

  const Json sarif = Json::parse(report_sarif(run, "1"));
  const Json& results = sarif["runs"][0]["results"];
  ASSERT_EQ(results.size(), 3U);
  // The other side of the race, and the consequence that has a place.
  ASSERT_EQ(results[0]["relatedLocations"].size(), 2U);
  EXPECT_TRUE(contains(results[0]["relatedLocations"][1]["message"]["text"], "a consequence"));
  EXPECT_TRUE(contains(results[0]["message"]["text"], sentence));
  EXPECT_TRUE(contains(results[2]["relatedLocations"][0]["message"]["text"],
                       "a consequence of the same lack as"));

  const std::string html = report_html(run);
  EXPECT_TRUE(contains(html, sentence));
  EXPECT_TRUE(contains(html, "and 2 consequences"));
}

INSTANTIATE_TEST_SUITE_P(All, OneDefect, testing::Range(std::size_t{0}, rows().size()),
                         [](const testing::TestParamInfo<std::size_t>& row) {
                           return rows()[row.param].name;
                         });

}  // namespace
}  // namespace warpcheck
