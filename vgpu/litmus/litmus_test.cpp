// Runs every litmus program, in both builds and both warp models, interpreted and as machine code,
// and compares the findings with what its text expects.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
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

namespace warpcheck::litmus {

// How GoogleTest shows a program.
void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

namespace {

constexpr std::uint64_t kStepsMax = 5'000'000;

Listing listing_of(const Program& program) {
  std::ifstream file(program.file);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", program.file));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (Listing& listing : read_listings(text)) {
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

class LitmusTest : public testing::TestWithParam<Parameter> {};

// Runs a program and compares what was found.
void expect_findings(const Parameter& parameter, const Listing& listing, vgpu::Compile compile) {
  const auto& [program, build, model] = parameter;
  cudart::TrialSettings settings;
  settings.build = build;
  settings.warp_model = model;
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
}

TEST_P(LitmusTest, FindsWhatItsTextExpects) {
  const Listing listing = listing_of(std::get<0>(GetParam()));
  expect_findings(GetParam(), listing, vgpu::Compile::never);
  SCOPED_TRACE("as machine code");
  expect_findings(GetParam(), listing, vgpu::Compile::at_once);
}

std::string name_of(const testing::TestParamInfo<Parameter>& test) {
  const auto& [program, build, model] = test.param;
  return fmt::format("{}_{}_{}", program.name,
                     build == cudart::Build::optimized ? "optimized" : "unoptimized",
                     model == vgpu::WarpModel::independent ? "independent" : "lockstep");
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

}  // namespace
}  // namespace warpcheck::litmus
