// Runs every litmus program, in both builds and both warp models, interpreted and as machine code,
// and compares the findings with what its text expects, and the verdicts with their table.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/litmus/listing.hpp"
#include "vgpu/litmus/litmus.hpp"
#include "vgpu/litmus/suite/suite.hpp"
#include "vgpu/litmus/suite/verdict_table.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck::litmus {

// How GoogleTest shows a program.
void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

namespace {

constexpr std::uint64_t kStepsMax = 5'000'000;

std::string text_of(const std::string& name) {
  if (!std::filesystem::exists(name)) {
    throw std::runtime_error(fmt::format("cannot read {}", name));
  }
  return text_of_file(name);
}

Listing listing_of(const Program& program) {
  for (Listing& listing : read_listings(text_of(program.file))) {
    if (listing.name == program.name) return std::move(listing);
  }
  throw std::runtime_error(fmt::format("{} has no expectation for {}", program.file, program.name));
}

std::string describe(vgpu::FindingKind kind, std::string_view space, vgpu::Severity severity) {
  return fmt::format("{} {} {}", vgpu::name_of(severity), vgpu::name_of(kind), space);
}

std::string describe(const vgpu::Finding& finding) {
  std::string text = describe(finding.kind, finding.space, finding.severity) + " on " +
                     finding.object + ": " + finding.message;
  for (const vgpu::AccessSide& side : finding.accesses) {
    text += fmt::format("\n    {} by block {} thread {} at {}:{} {}", side.role, side.block.x,
                        side.thread.x, side.file, side.line, side.ptx);
  }
  return text;
}

using Parameter = std::tuple<Program, cudart::Build, vgpu::WarpModel>;

std::string variant_of(const Parameter& parameter) {
  const auto& [program, build, model] = parameter;
  return fmt::format("{} {}", build == cudart::Build::optimized ? "optimized" : "unoptimized",
                     model == vgpu::WarpModel::independent ? "independent" : "lockstep");
}

class LitmusTest : public testing::TestWithParam<Parameter> {
 protected:
  static void TearDownTestSuite() {
    // Not if GoogleTest was asked for some of the tests only.
    const testing::TestSuite& suite = *testing::UnitTest::GetInstance()->current_test_suite();
    if (suite.test_to_run_count() != suite.total_test_count()) return;
    std::set<std::string> all;
    for (const Program& program : programs()) all.insert(program.name);
    verdicts.write(kSuite.verdicts_seen, all);
    const auto differences = verdicts.differences(
        std::filesystem::path(kSuite.verdicts).stem().string(), text_of(kSuite.verdicts), all);
    EXPECT_TRUE(differences.empty()) << "the verdicts are not those of " << kSuite.verdicts << "\n"
                                     << fmt::format("{}", fmt::join(differences, "\n"));
    verdicts = {};
  }

  static VerdictTable verdicts;
};

VerdictTable LitmusTest::verdicts;

// Runs a program and compares what was found, which it returns.
std::vector<vgpu::Finding> expect_findings(const Parameter& parameter, const Listing& listing,
                                           vgpu::Compile compile) {
  const auto& [program, build, model] = parameter;
  cudart::TrialSettings settings;
  settings.build = build;
  settings.warp_model = model;
  settings.checkers.*kSuite.checker = true;
  settings.limits.steps_max = kStepsMax;
  settings.limits.compile = compile;
  cudart::begin_trial(settings);
  program.run();
  release_all();
  const cudart::TrialResult result = cudart::end_trial();

  EXPECT_EQ(result.refusals, std::vector<std::string>{});
  std::set<std::string> expected, found;
  for (const Expectation& expectation : listing.expectations) {
    if (expectation.model.value_or(model) != model) continue;
    if (expectation.build.value_or(build) != build) continue;
    expected.insert(describe(expectation.kind, expectation.space, expectation.severity));
  }
  std::set<Mark> marks;
  std::string report;
  for (const vgpu::Finding& finding : result.findings) {
    found.insert(describe(finding.kind, finding.space, finding.severity));
    report += "\n  " + describe(finding);
    for (const vgpu::AccessSide& side : finding.accesses) {
      const bool is_host = side.file.empty() && side.ptx.empty();
      const bool is_here = is_host || std::filesystem::path(side.file).filename() ==
                                          std::filesystem::path(program.file).filename();
      EXPECT_TRUE(is_here) << side.file;
      marks.emplace(is_host ? 0 : side.line, side.role);
    }
  }
  EXPECT_EQ(found, expected) << report;
  if (!expected.empty()) {
    EXPECT_EQ(marks, listing.marks) << report;
  }
  return result.findings;
}

TEST_P(LitmusTest, FindsWhatItsTextExpects) {
  const Program& program = std::get<0>(GetParam());
  const Listing listing = listing_of(program);
  const auto findings = expect_findings(GetParam(), listing, vgpu::Compile::never);
  verdicts.add(program.name, variant_of(GetParam()), findings, text_of(program.file));
  SCOPED_TRACE("as machine code");
  expect_findings(GetParam(), listing, vgpu::Compile::at_once);
}

std::string name_of(const testing::TestParamInfo<Parameter>& test) {
  std::string name = fmt::format("{} {}", std::get<0>(test.param).name, variant_of(test.param));
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    All, LitmusTest,
    testing::Combine(testing::ValuesIn(programs()),
                     testing::Values(cudart::Build::optimized, cudart::Build::unoptimized),
                     testing::Values(vgpu::WarpModel::independent, vgpu::WarpModel::lockstep)),
    name_of);

TEST(ListingTest, ReadsExpectationsAndMarks) {
  const std::vector<Listing> listings = read_listings(
      "int helper;\n"
      "// Why.\n"
      "// expect: data-race shared note independent\n"
      "// expect: trap unoptimized\n"
      "__global__ void k() {\n"
      "  *p += 1;  //~ read //~ write\n"
      "}\n"
      "LITMUS(first) {  //~ host copy\n"
      "}\n"
      "// expect: clean\n"
      "LITMUS(second) {}\n");
  ASSERT_EQ(listings.size(), 2u);
  EXPECT_EQ(listings[0].name, "first");
  ASSERT_EQ(listings[0].expectations.size(), 2u);
  EXPECT_EQ(listings[0].expectations[0].kind, vgpu::FindingKind::data_race);
  EXPECT_EQ(listings[0].expectations[0].space, "shared");
  EXPECT_EQ(listings[0].expectations[0].severity, vgpu::Severity::note);
  EXPECT_EQ(listings[0].expectations[0].model, vgpu::WarpModel::independent);
  EXPECT_EQ(listings[0].expectations[1].build, cudart::Build::unoptimized);
  EXPECT_EQ(listings[0].marks, (std::set<Mark>{{6, "read"}, {6, "write"}, {0, "host copy"}}));
  EXPECT_EQ(listings[1].name, "second");
  EXPECT_TRUE(listings[1].expectations.empty());
}

TEST(ListingTest, RefusesWhatItCannotRead) {
  EXPECT_THROW(read_listings("// expect: data-rice\nLITMUS(a) {}\n"), std::runtime_error);
  EXPECT_THROW(read_listings("// expect: trap sideways\nLITMUS(a) {}\n"), std::runtime_error);
  EXPECT_THROW(read_listings("// expect: clean\nint x;\n"), std::runtime_error);
  EXPECT_THROW(read_listings("// expect: clean\nLITMUS(a) {}\nLITMUS(b) {}\n"), std::runtime_error);
}

vgpu::Finding race(std::uint32_t line, std::uint32_t other_line) {
  return {.space = "shared",
          .accesses = {{.role = "write", .file = "a.cu", .line = line},
                       {.role = "read", .file = "a.cu", .line = other_line}}};
}

constexpr std::string_view kSource =
    "// expect: data-race shared\n"
    "s[0] =  1;  //~ write\n"
    "LITMUS(first) {}\n"
    "// expect: data-race shared\n"
    "s[0] = 1;   // one more\n"
    "x = s[0];\n"
    "s[0] = 1;\n";

TEST(VerdictTableTest, NamesLinesByTheirText) {
  EXPECT_EQ(verdict_of(race(5, 6), kSource),
            "error data-race shared: read `x = s[0];`, write `s[0] = 1;`");
  EXPECT_EQ(verdict_of(race(7, 6), kSource),
            "error data-race shared: read `x = s[0];`, write `s[0] = 1;` #2");
  EXPECT_EQ(
      verdict_of({.kind = vgpu::FindingKind::deadlock, .accesses = {{.role = "host call"}}}, ""),
      "error deadlock: host call");
}

TEST(VerdictTableTest, SaysWhatDiffersAndHowToConfirmIt) {
  VerdictTable table;
  table.add("a", "optimized", {race(5, 6)}, kSource);
  table.add("a", "unoptimized", {}, kSource);
  table.add("b", "optimized", {}, kSource);
  table.add("b", "unoptimized", {}, kSource);
  const std::set<std::string> all{"a", "b", "not_run"};
  const std::string race_of_a = "a optimized: " + verdict_of(race(5, 6), kSource);
  const std::string clean = "a unoptimized: clean\nb: clean\n";
  EXPECT_EQ(table.differences("litmus_90",
                              "# head\n" + race_of_a + "\n" + clean + "not_run: clean\n", all),
            std::vector<std::string>{});
  EXPECT_EQ(table.differences("litmus_90", "a: clean\nb: clean\nc: clean\n", all),
            (std::vector<std::string>{
                "  gone: a: clean", "  new:  " + race_of_a, "  new:  a unoptimized: clean",
                "  gone: c: clean",
                "if they are right, confirm them: ci/verdicts --accept litmus_90/a litmus_90/c"}));
}

}  // namespace
}  // namespace warpcheck::litmus
