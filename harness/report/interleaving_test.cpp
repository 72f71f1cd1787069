#include "harness/report/interleaving.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "harness/pair/registry.hpp"
#include "harness/testing/fake_engine.hpp"
#include "harness/trial/trial_log.hpp"
#include "vgpu/check/fake_launch.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck {
namespace {

using Mark = Interleaving::Mark;
using vgpu::AccessKind;

// Plays the same events in every trial.  Instruction pc is at line 100 + pc of k.cu and reads as
// "op<pc>"; its kernel is k.
class ScriptedEngine final : public Engine {
 public:
  using Script = std::function<void(vgpu::FakeLaunch&, vgpu::Strategy&, vgpu::Observer&)>;
  explicit ScriptedEngine(Script script) : script_(std::move(script)) {}

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    body();
    if (settings.extra_observer != nullptr) {
      vgpu::FakeLaunch launch(program_, {settings.extra_observer});
      script_(launch, *settings.strategy, *settings.extra_observer);
    }
    return {};
  }

 private:
  Script script_;
  vgpu::Program program_ = vgpu::fake_program();
};

vgpu::AccessSide side(std::string role, std::uint32_t block, std::uint32_t thread, unsigned pc) {
  return {.role = std::move(role),
          .block = {block, 0, 0},
          .thread = {thread, 0, 0},
          .file = "k.cu",
          .line = 100 + pc,
          .ptx = "op" + std::to_string(pc)};
}

vgpu::Finding race(vgpu::AccessSide first, vgpu::AccessSide second, std::string object) {
  vgpu::Finding finding;
  finding.space = "shared";
  finding.kernel = "k";
  finding.object = std::move(object);
  finding.accesses = {std::move(first), std::move(second)};
  return finding;
}

Report report_of(vgpu::Finding finding, std::vector<vgpu::Decision> decisions = {}) {
  Report report;
  report.a_case.pair = Registry::global().find("fake_clean");
  report.a_case.input = std::make_shared<const FakeInput>();
  report.verdict.findings = {std::move(finding)};
  report.verdict.schedule.decisions = std::move(decisions);
  return report;
}

// "lane 0  RW|.": a row of the picture; `#` while it is held back, `<` where that was decided.
std::vector<std::string> rows_of(const Interleaving& picture) {
  const std::map<Mark, char> letters{
      {Mark::none, '.'},  {Mark::read, 'R'},  {Mark::write, 'W'},   {Mark::atomic, 'A'},
      {Mark::fault, '!'}, {Mark::event, 'e'}, {Mark::barrier, '|'}, {Mark::decided, '<'},
      {Mark::held, '#'},  {Mark::older, 'o'},
  };
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < picture.rows.size(); ++row) {
    rows.push_back(picture.rows[row] + "  ");
    for (const Interleaving::Step& step : picture.steps) {
      rows.back() += step.gap ? '~' : letters.at(step.marks[row]);
    }
  }
  return rows;
}

std::string labels_of(const Interleaving& picture) {
  std::string text;
  for (const Interleaving::Step& step : picture.steps) text += step.label + " ";
  return text;
}

TEST(Interleaving, OfOneWarpHasItsLanesAsRows) {
  const vgpu::FakeMemory share(1, ptx::Space::shared, 256, "share");
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer&) {
    launch.start({1, 1, 1}, {4, 1, 1});
    launch.start_block(0, 0, &share);
    launch.strided(AccessKind::write, share, 0, 0, 1, 0, 0xf);
    launch.barrier(0);
    launch.strided(AccessKind::read, share, 0, 0, 2, -1, 0xe);  // lane l reads l - 1
    launch.strided(AccessKind::write, share, 0, 0, 3, 0, 0xe);  // and writes l
  });
  const vgpu::Finding finding =
      race(side("read", 0, 2, 2), side("write", 0, 1, 3), "share[1], 4 bytes");
  const auto pictures = interleavings(report_of(finding), engine);
  ASSERT_EQ(pictures.size(), 1U);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(pictures[0]->of, "block 0 warp 0");
  EXPECT_EQ(rows_of(*pictures[0]), (std::vector<std::string>{"lane 0  W|..", "lane 1  W|RW",
                                                             "lane 2  W|RW", "lane 3  W|RW"}));
  EXPECT_EQ(labels_of(*pictures[0]), "101 barrier 102 103 ");
  EXPECT_EQ(pictures[0]->sides, (std::vector<std::optional<Interleaving::Point>>{
                                    Interleaving::Point{2, 2}, Interleaving::Point{1, 3}}));
  EXPECT_EQ(pictures[0]->steps[3].text, "k.cu:103  op3  block 0 warp 0 lanes 1-3");
}

TEST(Interleaving, LanesThatDoTheSameShareARow) {
  const vgpu::FakeMemory share(1, ptx::Space::shared, 256, "share");
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer&) {
    launch.start({1, 1, 1}, {32, 1, 1});
    launch.start_block(0, 0, &share);
    launch.strided(AccessKind::write, share, 0, 0, 1, 0, 0x0000ffff);
    launch.one(AccessKind::read, share, 0, 3, 2, 5);
  });
  const vgpu::Finding finding =
      race(side("write", 0, 5, 1), side("read", 0, 3, 2), "share[5], 4 bytes");
  const auto pictures = interleavings(report_of(finding), engine);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(rows_of(*pictures[0]), (std::vector<std::string>{"lanes 0-2,4,6-15  W.", "lane 3  WR",
                                                             "lane 5  W.", "lanes 16-31  .."}));
}

TEST(Interleaving, ADecisionHoldsALaneUntilItGoesOn) {
  const vgpu::FakeMemory share(1, ptx::Space::shared, 256, "share");
  const vgpu::Decision decision{.launch = 0, .at = {0, 0}, .index = 0, .held = 0x2, .next = {0, 0}};
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy& strategy, vgpu::Observer&) {
    launch.start({1, 1, 1}, {2, 1, 1});
    launch.start_block(0, 0, &share);
    const std::vector<vgpu::WarpId> ready{{0, 0}};
    const auto choice = strategy.decide({.launch = 0,
                                         .at = {0, 0},
                                         .index = 0,
                                         .active = 0x3,
                                         .default_next = {0, 0},
                                         .ready = ready});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->held, 0x2U);
    launch.one(AccessKind::write, share, 0, 0, 1, 0);
    launch.one(AccessKind::write, share, 0, 0, 2, 1);
    launch.one(AccessKind::read, share, 0, 1, 3, 0);
  });
  const vgpu::Finding finding =
      race(side("write", 0, 0, 1), side("read", 0, 1, 3), "share[0], 4 bytes");
  const auto pictures = interleavings(report_of(finding, {decision}), engine);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(rows_of(*pictures[0]), (std::vector<std::string>{"lane 0  .WW.", "lane 1  <##R"}));
  EXPECT_TRUE(pictures[0]->steps[0].decision);
  EXPECT_EQ(pictures[0]->steps[0].text, vgpu::to_string(decision));
}

TEST(Interleaving, OfTwoWarpsHasWarpsAsRows) {
  const vgpu::FakeMemory out(7, ptx::Space::global, 256, "out");
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer&) {
    launch.start({3, 1, 1}, {64, 1, 1});
    for (std::uint32_t block = 0; block < 3; ++block) launch.start_block(block, block);
    launch.one(AccessKind::atomic, out, 0, 40, 1, 0);
    launch.one(AccessKind::write, out, 1, 0, 2, 9);  // irrelevant
    launch.barrier(2);
    launch.one(AccessKind::read, out, 2, 0, 3, 0);
  });
  const vgpu::Finding finding =
      race(side("atomic", 0, 40, 1), side("read", 2, 0, 3), "out[0], 4 bytes");
  const auto pictures = interleavings(report_of(finding), engine);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(rows_of(*pictures[0]),
            (std::vector<std::string>{"block 0 warp 1  A..", "block 2 warp 0  .|R"}));
  EXPECT_EQ(pictures[0]->sides, (std::vector<std::optional<Interleaving::Point>>{
                                    Interleaving::Point{0, 0}, Interleaving::Point{1, 2}}));
}

TEST(Interleaving, LeavesOutStepsThatAreFarFromTheSides) {
  const vgpu::FakeMemory share(1, ptx::Space::shared, 256, "share");
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer&) {
    launch.start({1, 1, 1}, {2, 1, 1});
    launch.start_block(0, 0, &share);
    launch.one(AccessKind::write, share, 0, 0, 1, 0);
    for (int i = 0; i < 100; ++i) launch.one(AccessKind::read, share, 0, 1, 2, 9);
    launch.one(AccessKind::read, share, 0, 1, 3, 0);
    for (int i = 0; i < 100; ++i) launch.one(AccessKind::read, share, 0, 1, 2, 9);
  });
  const vgpu::Finding finding =
      race(side("write", 0, 0, 1), side("read", 0, 1, 3), "share[0], 4 bytes");
  const auto pictures = interleavings(report_of(finding), engine);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(rows_of(*pictures[0]),
            (std::vector<std::string>{"lane 0  W....~..........~", "lane 1  .RRRR~RRRRRRRRRR~"}));
}

TEST(Interleaving, TheEarlierSideIsTheLastThatTouchedTheSameBytes) {
  const vgpu::FakeMemory share(1, ptx::Space::shared, 256, "share");
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer&) {
    launch.start({1, 1, 1}, {2, 1, 1});
    launch.start_block(0, 0, &share);
    for (const std::uint32_t element : {5U, 3U, 5U, 4U}) {
      launch.one(AccessKind::write, share, 0, 0, 1, element);
    }
    launch.one(AccessKind::read, share, 0, 1, 2, 6);
    launch.one(AccessKind::read, share, 0, 1, 2, 5);
    launch.one(AccessKind::read, share, 0, 1, 2, 5);
  });
  const vgpu::Finding finding =
      race(side("write", 0, 0, 1), side("read", 0, 1, 2), "share[5], 4 bytes");
  const auto pictures = interleavings(report_of(finding), engine);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(pictures[0]->sides, (std::vector<std::optional<Interleaving::Point>>{
                                    Interleaving::Point{0, 2}, Interleaving::Point{1, 5}}));
}

TEST(Interleaving, AFaultIsItsOwnStepAndHasOneSide) {
  const vgpu::FakeMemory share(1, ptx::Space::shared, 256, "share");
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::out_of_bounds;
  finding.kernel = "k";
  finding.accesses = {side("write", 0, 1, 1)};
  bool faults = true;
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer& observer) {
    launch.start({1, 1, 1}, {3, 1, 1});
    launch.start_block(0, 0, &share);
    launch.strided(AccessKind::write, share, 0, 0, 1, 0, 0x7);
    vgpu::Fault fault;
    fault.program = &launch.program();
    fault.place = launch.place(0, 0);
    fault.pc = 1;
    fault.access = AccessKind::write;
    for (fault.lane = 1; faults && fault.lane <= 2; ++fault.lane) {
      observer.on_fault(fault);  // one call for each lane of the row
    }
  });
  const auto pictures = interleavings(report_of(finding), engine);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(rows_of(*pictures[0]),
            (std::vector<std::string>{"lane 0  W.", "lane 1  W!", "lane 2  W!"}));
  EXPECT_EQ(pictures[0]->sides,
            (std::vector<std::optional<Interleaving::Point>>{Interleaving::Point{1, 1}}));
  faults = false;
  EXPECT_FALSE(interleavings(report_of(finding), engine)[0]) << "an access that was answered";
}

TEST(Interleaving, OfWhatNoStepShowsThereIsNone) {
  ScriptedEngine engine([](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer&) {
    launch.start({1, 1, 1}, {4, 1, 1});
  });
  vgpu::Finding mismatch;
  mismatch.kind = vgpu::FindingKind::mismatch;
  EXPECT_FALSE(interleavings(report_of(mismatch), engine)[0]);
  vgpu::Finding copy;
  copy.accesses.emplace_back().role = "host copy";
  EXPECT_FALSE(interleavings(report_of(copy), engine)[0]);
}

// A wrong result without a step, and a schedule that let a load find an older write.
TEST(Interleaving, OfAMismatchShowsWhereWritesWereLeftOut) {
  const vgpu::FakeMemory data(7, ptx::Space::global, 256, "data");
  const vgpu::Decision decision{.launch = 0,
                                .at = {1, 0},
                                .point = vgpu::Decision::Point::past,
                                .index = 0,
                                .held = 0x1,
                                .next = {1, 0}};
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy& strategy, vgpu::Observer&) {
    launch.start({2, 1, 1}, {1, 1, 1});
    launch.start_block(0, 0, nullptr);
    launch.start_block(1, 1, nullptr);
    launch.one(AccessKind::write, data, 0, 0, 1, 0);
    EXPECT_TRUE(strategy.chooses_past(0));
    const auto choice = strategy.choose_past({.launch = 0, .at = {1, 0}, .index = 0, .lanes = 0x1});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->writes, 1U);
    launch.one(AccessKind::read, data, 1, 0, 2, 0);
  });
  vgpu::Finding mismatch;
  mismatch.kind = vgpu::FindingKind::mismatch;
  const auto pictures = interleavings(report_of(mismatch, {decision}), engine);
  ASSERT_TRUE(pictures[0]);
  EXPECT_EQ(rows_of(*pictures[0]),
            (std::vector<std::string>{"block 0 warp 0  W..", "block 1 warp 0  .oR"}));
  EXPECT_EQ(pictures[0]->steps[1].text,
            "launch 0: block 1 warp 0 access 0: lanes 0x1 leave out 1 write");
  EXPECT_TRUE(pictures[0]->sides.empty());
}

TEST(Interleaving, EndsWhereTheLogIsFull) {
  const vgpu::FakeMemory share(1, ptx::Space::shared, 256, "share");
  ScriptedEngine engine([&](vgpu::FakeLaunch& launch, vgpu::Strategy&, vgpu::Observer&) {
    launch.start({1, 1, 1}, {2, 1, 1});
    launch.start_block(0, 0, &share);
    for (int i = 0; i < 10; ++i) launch.one(AccessKind::write, share, 0, 0, 1, 0);
    launch.one(AccessKind::read, share, 0, 1, 2, 0);
  });
  vgpu::Finding finding = race(side("write", 0, 0, 1), side("read", 0, 1, 2), "share[0], 4 bytes");
  EXPECT_FALSE(interleavings(report_of(finding), engine, 10)[0]);
  EXPECT_TRUE(interleavings(report_of(finding), engine, 11)[0]);
}

}  // namespace
}  // namespace warpcheck
