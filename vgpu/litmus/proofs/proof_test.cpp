// Proofs are sound: if data or the order of threads decides something, there is no certificate, and
// the reason names the right line; otherwise there is one, and other data then makes the same
// accesses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>

#include "vgpu/check/proof/ordinary_run.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/litmus/proofs/proof_data.hpp"

namespace warpcheck::litmus {

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

namespace {

using vgpu::ValueFlow;

// What the text expects of a program, and its marked lines.
struct Expected {
  std::string what;     // "refused", "all data", "every schedule" ...
  std::string because;  // the reason of a refusal because of the host
  std::set<std::uint32_t> lines, perhaps;
};

std::optional<std::string> after(const std::string& line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return std::nullopt;
  return line.substr(at + mark.size());
}

// A program's text begins with the expectation and ends with its name.
Expected expected_of(const Program& program) {
  std::ifstream file(program.file);
  Expected expected, common;
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number) {
    for (const std::string_view mark : {"// proof: ", "// order: "}) {
      if (const auto what = after(line, mark)) expected = {*what, {}, common.lines, {}};
    }
    if (const auto reason = after(line, "// because ")) expected.because = *reason;
    if (const auto rest = after(line, "//~ ")) {
      const bool is_common = expected.what.empty();
      (rest->find('?') != std::string::npos ? expected.perhaps
                                            : (is_common ? common : expected).lines)
          .insert(number);
    }
    for (const char* const macro : {"LITMUS(", "FLOWS("}) {
      const auto name = after(line, macro);
      if (!name || name->rfind("name", 0) == 0) continue;
      if (name->substr(0, name->find_first_of(",)")) == program.name) return expected;
    }
    if (line == "}" && expected.what.empty()) continue;
    if (line.rfind("LITMUS(", 0) == 0 || line.rfind("FLOWS(", 0) == 0) {
      expected = {};
      common = {};
    }
  }
  throw std::runtime_error(fmt::format("{} says nothing of {}", program.file, program.name));
}

// What a run did, except for the values; to be compared with a run with other data.
class Trace final : public vgpu::HostCalls {
 public:
  [[nodiscard]] vgpu::Watched watches() const override { return {.blocks = false}; }
  void on_access(const vgpu::Access& access) override {
    text += fmt::format("{}:{}.{}.{:x}", access.pc, access.allocation->id, access.place.warp,
                        access.mask);
    for (unsigned lane = 0; lane < vgpu::kWarpLanes; ++lane) {
      if ((access.mask >> lane & 1u) != 0) text += fmt::format(",{}", access.offset[lane]);
    }
    text += '\n';
  }
  std::string text;
};

cudart::TrialResult run(const Program& program, cudart::Build build, vgpu::Observer* observer,
                        bool checks, const bool* enough = nullptr) {
  cudart::TrialSettings settings;
  settings.limits.enough = enough;
  settings.build = build;
  settings.extra_observer = observer;
  for (const auto& row : vgpu::kCheckers) settings.checkers.*row.enabled = checks && row.by_default;
  cudart::begin_trial(settings);
  program.run();
  release_all();
  return cudart::end_trial();
}

std::string trace_of(const Program& program, cudart::Build build, unsigned number) {
  data_number() = number;
  Trace trace;
  run(program, build, &trace, false);
  data_number() = 0;
  return fmt::format("{:x}\n{}", trace.hash(), trace.text);
}

std::set<std::uint32_t> lines_of(const std::vector<vgpu::Obstacle>& obstacles) {
  std::set<std::uint32_t> lines;
  for (const vgpu::Obstacle& obstacle : obstacles) {
    if (obstacle.at.line != 0) lines.insert(obstacle.at.line);
  }
  return lines;
}

std::string texts_of(const std::vector<vgpu::Obstacle>& obstacles) {
  std::string text;
  for (const vgpu::Obstacle& one : obstacles) text += "\n  " + text_of(one, "data");
  return text;
}

// Expects every marked line and no other, apart from lines that depend on the build.
void expect_lines(const Expected& expected, const std::vector<vgpu::Obstacle>& obstacles) {
  const std::set<std::uint32_t> lines = lines_of(obstacles);
  for (const std::uint32_t line : expected.lines) {
    EXPECT_TRUE(lines.contains(line)) << line << texts_of(obstacles);
  }
  for (const std::uint32_t line : lines) {
    EXPECT_TRUE(expected.lines.contains(line) || expected.perhaps.contains(line))
        << line << texts_of(obstacles);
  }
}

// The analysis of the code must not prove more than the followed values do, except for branches
// that select between values: there, following reports that data decides them.
void expect_proved_by_code(const Program& program, cudart::Build build, const ValueFlow& flow) {
  for (const vgpu::Obstacle& obstacle : flow.obstacles()) {
    EXPECT_EQ(obstacle.kind, vgpu::Obstacle::Kind::branch) << text_of(obstacle, "data");
  }
  const std::string trace = trace_of(program, build, 0);
  EXPECT_EQ(trace_of(program, build, 1), trace);
  EXPECT_EQ(trace_of(program, build, 2), trace);
}

// The host makes the same calls when kernels execute nothing and it reads their earlier results.
void expect_the_same_rehearsed(const Program& program, cudart::Build build,
                               const vgpu::OrdinaryRun& ordinary) {
  static constexpr bool kAtOnce = true;
  data_number() = 1;
  vgpu::Rehearsal rehearsal(ordinary.result());
  const cudart::TrialResult result = run(program, build, &rehearsal, false, &kAtOnce);
  data_number() = 0;
  EXPECT_EQ(rehearsal.hash(), ordinary.hash());
  EXPECT_NE(result.launches, 0u);
  EXPECT_EQ(result.steps, 0u);
}

// A decision must be detected again in a run in which nothing is followed, unless there are
// branches between the load and the decision.
bool decides_again(const Program& program, cudart::Build build, const ValueFlow& flow) {
  vgpu::DataUses uses;
  vgpu::KnownDecisions decisions;
  if (flow.first_decision()) decisions.add(*flow.first_decision(), flow.obstacles().front());
  EXPECT_EQ(decisions.again(), nullptr);
  vgpu::OrdinaryRun plain(uses, decisions);
  plain.begin();
  run(program, build, &plain, true);
  if (decisions.again() == nullptr) return false;
  EXPECT_EQ(*decisions.again(), flow.obstacles().front());
  return true;
}

using Parameter = std::tuple<Program, cudart::Build>;

class ProofTest : public testing::TestWithParam<Parameter> {};

TEST_P(ProofTest, HoldsForAllDataWhereItsTextSaysSo) {
  const auto& [program, build] = GetParam();
  const Expected expected = expected_of(program);
  if (std::filesystem::path(program.file).filename() == "order_decides.cu") return;
  vgpu::DataUses uses;
  vgpu::KnownDecisions decisions;
  vgpu::OrdinaryRun plain(uses, decisions);
  EXPECT_TRUE(run(program, build, &plain, true).findings.empty());
  ValueFlow flow({.data = true, .order = true});
  run(program, build, &flow, false);
  if (!plain.may_be_decided()) expect_proved_by_code(program, build, flow);
  if (expected.what == "refused by the host") {
    ASSERT_EQ(flow.obstacles().size(), 1u) << texts_of(flow.obstacles());
    EXPECT_EQ(text_of(flow.obstacles()[0], "data"), expected.because);
    EXPECT_TRUE(plain.may_be_decided());
    return;
  }
  if (expected.what == "refused") {
    ASSERT_FALSE(flow.obstacles().empty());
    expect_lines(expected, flow.obstacles());
    const vgpu::Obstacle& first = flow.obstacles().front();
    const bool is_seen =
        first.kind == vgpu::Obstacle::Kind::address && first.from.ptx.rfind("ld.", 0) == 0;
    EXPECT_TRUE(decides_again(program, build, flow) || !is_seen) << texts_of(flow.obstacles());
    return;
  }
  const bool is_optimized = build == cudart::Build::optimized;
  ASSERT_TRUE(expected.what == "all data" || expected.what == "all data optimized");
  if (!is_optimized && expected.what == "all data optimized") return;
  EXPECT_TRUE(plain.obstacles().empty()) << texts_of(plain.obstacles());
  EXPECT_TRUE(flow.obstacles().empty()) << texts_of(flow.obstacles());
  if (plain.results_come_last()) expect_the_same_rehearsed(program, build, plain);
  const std::string trace = trace_of(program, build, 0);
  EXPECT_GT(trace.size(), 40u);
  EXPECT_EQ(trace_of(program, build, 1), trace);
  EXPECT_EQ(trace_of(program, build, 2), trace);
}

TEST_P(ProofTest, HoldsForEveryScheduleWhereItsTextSaysSo) {
  const auto& [program, build] = GetParam();
  const Expected expected = expected_of(program);
  if (std::filesystem::path(program.file).filename() != "order_decides.cu") return;
  vgpu::DataUses uses;
  vgpu::KnownDecisions decisions;
  vgpu::OrdinaryRun seen(uses, decisions);
  const cudart::TrialResult plain = run(program, build, &seen, true);
  EXPECT_EQ(plain.order_source.empty(), expected.what == "every schedule") << plain.order_source;
  if (!plain.order_source.empty()) {
    EXPECT_EQ(seen.times_decide_nothing(), expected.what == "times in results");
  }
  ValueFlow flow({.data = false, .order = true});
  run(program, build, &flow, false);
  if (expected.what == "decides") {
    expect_lines(expected, flow.obstacles());
    return;
  }
  EXPECT_TRUE(flow.obstacles().empty()) << texts_of(flow.obstacles());
}

std::string name_of(const testing::TestParamInfo<Parameter>& test) {
  const auto& [program, build] = test.param;
  return fmt::format("{}_{}_{}", std::filesystem::path(program.file).stem().string(), program.name,
                     build == cudart::Build::optimized ? "optimized" : "unoptimized");
}

INSTANTIATE_TEST_SUITE_P(All, ProofTest,
                         testing::Combine(testing::ValuesIn(programs()),
                                          testing::Values(cudart::Build::optimized,
                                                          cudart::Build::unoptimized)),
                         name_of);

}  // namespace
}  // namespace warpcheck::litmus
