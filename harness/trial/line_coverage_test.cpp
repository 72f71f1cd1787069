#include "harness/trial/line_coverage.hpp"
#include "harness/input/json.hpp"
#include "vgpu/program/program.hpp"

#include <gtest/gtest.h>

#include "vgpu/check/fake_launch.hpp"

namespace warpcheck {
namespace {

using vgpu::InstrKind;
using Lines = LineCoverage::Lines;

// Lines 100 to 107 of k.cu:
//   100  ...         101  branch to 105     102  call      103  ...      104  jump to 107
//   105  ...         106  exit, guarded     107  exit
vgpu::Program program_of_two_arms() {
  vgpu::Program program = vgpu::fake_program(8);
  program.functions.resize(1);
  program.code[1].kind = InstrKind::branch;
  program.code[2].kind = InstrKind::call;
  program.code[4].kind = InstrKind::jump;
  program.code[6].kind = InstrKind::exit;
  program.code[6].guard.bank = vgpu::Bank::predicate;
  program.code[7].kind = InstrKind::exit;
  return program;
}

void start(CoverageObserver& observer, vgpu::Program& program, std::uint32_t threads) {
  vgpu::FakeLaunch launch(program, {&observer});
  launch.start({1, 1, 1}, {threads, 1, 1});
  launch.start_block(0);
}

TEST(LineCoverage, CountsStraightLinesFromWhereTheyAreEntered) {
  vgpu::Program program = program_of_two_arms();
  CoverageObserver observer;
  start(observer, program, 33);  // two warps
  observer.on_edge(1, 5, program);
  EXPECT_EQ(
      observer.coverage().files.at("k.cu"),
      (Lines{{100, 2}, {101, 2}, {102, 0}, {103, 0}, {104, 0}, {105, 1}, {106, 1}, {107, 1}}));
  observer.on_edge(1, 2, program);
  observer.on_edge(4, 7, program);
  EXPECT_EQ(
      observer.coverage().files.at("k.cu"),
      (Lines{{100, 2}, {101, 2}, {102, 1}, {103, 1}, {104, 1}, {105, 1}, {106, 1}, {107, 2}}));
}

TEST(LineCoverage, ALineCountsItsBusiestInstruction) {
  vgpu::Program program = program_of_two_arms();
  program.sources[5].location.line = 100;
  CoverageObserver observer;
  start(observer, program, 32);
  for (int i = 0; i < 3; ++i) observer.on_edge(1, 5, program);
  EXPECT_EQ(observer.coverage().files.at("k.cu").at(100), 3U);
}

TEST(LineCoverage, TwoProgramsOfOneFileAddUp) {
  vgpu::Program optimized = program_of_two_arms(), unoptimized = program_of_two_arms();
  CoverageObserver observer;
  start(observer, optimized, 32);
  start(observer, unoptimized, 32);
  EXPECT_EQ(observer.coverage().files.at("k.cu").at(100), 2U);
}

TEST(LineCoverage, LeavesHeadersOfTheToolkitAndUnknownLinesOut) {
  vgpu::Program program = vgpu::fake_program(2);
  program.functions.resize(1);
  program.files[1] = "/usr/local/cuda-13.0/include/sm_20_intrinsics.h";
  CoverageObserver observer;
  start(observer, program, 32);
  EXPECT_TRUE(observer.coverage().empty());
  program.files[1] = "mine.cu";
  program.sources[1].location.line = 0;
  EXPECT_EQ(observer.coverage().files, (std::map<std::string, Lines>{{"mine.cu", {{100, 1}}}}));
}

TEST(LineCoverage, AddsUpAndSurvivesJson) {
  LineCoverage coverage{{{"a.cu", {{1, 2}, {3, 0}}}}};
  coverage.add({{{"a.cu", {{3, 5}, {4, 0}}}, {"b.cu", {{9, 1}}}}});
  const std::map<std::string, Lines> sum{{"a.cu", {{1, 2}, {3, 5}, {4, 0}}}, {"b.cu", {{9, 1}}}};
  EXPECT_EQ(coverage.files, sum);
  EXPECT_EQ(from_json<LineCoverage>(to_json(coverage)).files, sum);
  EXPECT_EQ(to_json(coverage).dump(), R"({"a.cu":[[1,2],[3,5],[4,0]],"b.cu":[[9,1]]})");
  EXPECT_EQ(lines_hit(sum.at("a.cu")), 2U);
}

class CountingEngine final : public Engine {
 public:
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    watched += settings.extra_observer != nullptr ? 1 : 0;
    edges += settings.want_feedback ? 1 : 0;
    body();
    return {};
  }
  int watched = 0, edges = 0;
};

TEST(CoveredEngine, WatchesNothingUnlessAsked) {
  CountingEngine inner;
  CoveredEngine plain(false, inner), covered(true, inner);
  EXPECT_EQ(&plain.engine(), &inner);
  EXPECT_FALSE(plain.coverage());
  static_cast<void>(covered.engine().run({}, [] {}));
  EXPECT_EQ(inner.watched, 1);
  EXPECT_EQ(inner.edges, 1);
  EXPECT_TRUE(covered.coverage());
}

}  // namespace
}  // namespace warpcheck
