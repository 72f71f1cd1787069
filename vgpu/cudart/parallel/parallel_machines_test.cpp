#include "vgpu/cudart/parallel/parallel_machines.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::Allocation;
using vgpu::Outcome;

constexpr std::uint32_t kBytes = 1 << 18;

// In `body`, %r1 is the thread's number in the grid, %rd3 the address of element %r1 of `in` and
// %rd4 that of `out`; elements have four bytes.
vgpu::Program kernel(const std::string& body) {
  const std::string text =
      ".version 8.6\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<9>;\n"
      ".reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.shared .b32 sums[64];\n"
      "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n"
      "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"
      "mad.lo.u32 %r1, %r3, %r4, %r2;\nmul.wide.u32 %rd5, %r1, 4;\n"
      "add.s64 %rd3, %rd1, %rd5;\nadd.s64 %rd4, %rd2, %rd5;\n" +
      body + "\nret;\n}\n";
  vgpu::Program program = vgpu::decode(ptx::parse(text, "test.ptx"), "k");
  vgpu::link(program);
  return program;
}

// A device; `in` holds numbers, `out` is not initialised.
struct Gpu {
  vgpu::DeviceMemory memory;
  vgpu::Checkers checkers{vgpu::CheckerSet{}, vgpu::WarpModel::independent};
  vgpu::Machine machine{memory};
  ParallelMachines parallel{memory};
  Allocation* in = memory.allocate(kBytes);
  Allocation* out = memory.allocate(kBytes);

  Gpu() {
    for (const Allocation* const one : {in, out}) notify([&](auto& o) { o.on_allocate(*one); });
    for (std::uint32_t i = 0; i < kBytes / 4; ++i) std::memcpy(in->data + 4 * i, &i, 4);
    notify([&](auto& o) { o.on_host_access({in, 0, kBytes, true, false}); });
  }
  template <typename Call>
  void notify(Call call) {
    for (vgpu::Observer* const observer : checkers.observers()) call(*observer);
  }
  [[nodiscard]] vgpu::Launch launch(const vgpu::Program& program, Dim3 grid, Dim3 block) {
    parameters = {in->address, out->address};
    vgpu::Launch launch;
    launch.program = &program;
    launch.grid = grid;
    launch.block = block;
    launch.parameters = std::as_bytes(std::span(parameters));
    return launch;
  }
  Outcome run_alone(const vgpu::Launch& launch) {
    vgpu::DefaultPolicy policy;
    vgpu::Limits limits;
    limits.steps_max = vgpu::kNoLimit;
    return machine.run(launch, vgpu::WarpModel::independent, policy, checkers.observers(), limits);
  }
  std::optional<Outcome> run_by(unsigned machines, const vgpu::Launch& launch) {
    ParallelMachines::Settings settings{
        .machines = machines, .steps_min = 0, .limits = {}, .whole = &checkers};
    settings.limits.steps_max = vgpu::kNoLimit;
    return parallel.run(launch, settings);
  }
  // Returns the findings when the host copies all bytes.
  std::vector<std::string> found() {
    notify([&](auto& o) { o.on_host_access({out, 0, kBytes, false, false}); });
    std::vector<std::string> texts;
    for (const vgpu::Finding& finding : checkers.findings()) {
      texts.push_back(finding.object + ": " + finding.message);
    }
    return texts;
  }
  [[nodiscard]] std::string bytes() const {
    std::string all(2 * std::size_t{kBytes}, '\0');
    std::memcpy(all.data(), in->data, kBytes);
    std::memcpy(all.data() + kBytes, out->data, kBytes);
    return all;
  }

  std::vector<std::uint64_t> parameters;
};

// Expects that any number of machines leaves the same results as one machine.
void expect_as_alone(const std::string& body, Dim3 grid, Dim3 block) {
  const vgpu::Program program = kernel(body);
  Gpu alone;
  const Outcome expected = alone.run_alone(alone.launch(program, grid, block));
  const std::vector<std::string> findings = alone.found();
  for (const unsigned machines : {2u, 3u, 7u}) {
    SCOPED_TRACE(machines);
    Gpu gpu;
    const std::optional<Outcome> outcome = gpu.run_by(machines, gpu.launch(program, grid, block));
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->end, Outcome::End::completed);
    EXPECT_EQ(outcome->steps, expected.steps);
    EXPECT_EQ(outcome->lane_steps, expected.lane_steps);
    EXPECT_TRUE(gpu.bytes() == alone.bytes());
    EXPECT_EQ(gpu.found(), findings);
  }
}

// Expects that the machines give up, and that all state is restored for one machine.
void expect_given_up(const std::string& body, Dim3 grid, Dim3 block) {
  const vgpu::Program program = kernel(body);
  for (const unsigned machines : {2u, 7u}) {
    SCOPED_TRACE(machines);
    Gpu alone, gpu;
    const std::string before = gpu.bytes();
    EXPECT_FALSE(gpu.run_by(machines, gpu.launch(program, grid, block)).has_value());
    EXPECT_TRUE(gpu.bytes() == before);
    EXPECT_TRUE(gpu.checkers.findings().empty());
    const Outcome expected = alone.run_alone(alone.launch(program, grid, block));
    const Outcome outcome = gpu.run_alone(gpu.launch(program, grid, block));
    EXPECT_EQ(outcome.end, expected.end);
    EXPECT_EQ(outcome.steps, expected.steps);
    EXPECT_TRUE(gpu.bytes() == alone.bytes());
    EXPECT_EQ(gpu.found(), alone.found());
  }
}

// Runs the launch by parallel machines or, if they give up, by one machine; expects the same
// results.
void expect_the_same_in_any_case(const std::string& body, Dim3 grid, Dim3 block) {
  const vgpu::Program program = kernel(body);
  Gpu alone;
  alone.run_alone(alone.launch(program, grid, block));
  const std::vector<std::string> findings = alone.found();
  for (const unsigned machines : {2u, 3u, 7u}) {
    SCOPED_TRACE(machines);
    Gpu gpu;
    const vgpu::Launch launch = gpu.launch(program, grid, block);
    if (!gpu.run_by(machines, launch)) gpu.run_alone(launch);
    EXPECT_TRUE(gpu.bytes() == alone.bytes());
    EXPECT_EQ(gpu.found(), findings);
  }
}

TEST(ParallelMachines, BlocksThatWriteApart) {
  expect_as_alone("ld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, 7;\nst.global.u32 [%rd4], %r5;",
                  {200}, {96});
}

TEST(ParallelMachines, PartsOfRowsAtTheEndsOfBlocks) {
  expect_as_alone("ld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, 7;\nst.global.u32 [%rd4], %r5;",
                  {500}, {37});
}

TEST(ParallelMachines, ElementsInPlace) {
  expect_as_alone("ld.global.u32 %r5, [%rd3];\nmul.lo.u32 %r5, %r5, 3;\nst.global.u32 [%rd3], %r5;",
                  {100}, {64});
}

TEST(ParallelMachines, AllReadTheSame) {
  expect_as_alone(
      "ld.global.u32 %r5, [%rd1];\nld.global.u32 %r6, [%rd1+400];\n"
      "add.u32 %r5, %r5, %r6;\nst.global.u32 [%rd4], %r5;",
      {100}, {64});
}

TEST(ParallelMachines, SharedMemoryAndBarriers) {
  expect_as_alone(
      "mov.u32 %r7, sums;\nmul.lo.u32 %r8, %r2, 4;\nadd.u32 %r7, %r7, %r8;\n"
      "ld.global.u32 %r5, [%rd3];\nst.shared.u32 [%r7], %r5;\nbar.sync 0;\n"
      "mov.u32 %r9, sums;\natom.shared.add.u32 %r10, [%r9+4], 1;\nbar.sync 0;\n"
      "ld.shared.u32 %r6, [%r9+4];\nst.global.u32 [%rd4], %r6;",
      {60}, {64});
}

// The initialisation checker finds padding and omitted elements from the writes of single bytes.
TEST(ParallelMachines, WhatIsKnownOfUnwrittenBytes) {
  expect_as_alone(
      "mul.wide.u32 %rd6, %r1, 8;\nadd.s64 %rd6, %rd2, %rd6;\n"
      "st.global.u8 [%rd6], %r1;\nst.global.u32 [%rd6+4], %r1;",
      {100}, {64});
  expect_as_alone(
      "mul.wide.u32 %rd6, %r1, 12;\nadd.s64 %rd6, %rd2, %rd6;\n"
      "st.global.u32 [%rd6], %r1;",
      {100}, {64});
}

TEST(ParallelMachines, SeveralLaunches) {
  const vgpu::Program program =
      kernel("ld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd3], %r5;");
  Gpu gpu;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(gpu.run_by(3, gpu.launch(program, {100}, {64})).has_value()) << i;
  }
  std::uint32_t last = 0;
  std::memcpy(&last, gpu.in->data + 4 * 6399, 4);
  EXPECT_EQ(last, 6399u + 5);
}

TEST(ParallelMachines, OneBlockReadsWhatAnotherWrites) {
  expect_given_up("ld.global.u32 %r5, [%rd3+4];\nadd.u32 %r5, %r5, 7;\nst.global.u32 [%rd3], %r5;",
                  {50}, {64});
}

TEST(ParallelMachines, TwoBlocksWriteOneWord) {
  expect_given_up("add.s64 %rd6, %rd2, 32768;\nst.global.u32 [%rd6], %r3;", {50}, {64});
}

// The blocks write different bytes.  Whether two machines conflict over a word is chance.
TEST(ParallelMachines, TwoBlocksWriteBytesOfOneWord) {
  expect_the_same_in_any_case(
      "cvt.u64.u32 %rd6, %r1;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u8 [%rd6], %r1;", {50}, {33});
}

TEST(ParallelMachines, AtomicOperations) {
  expect_given_up("atom.global.add.u32 %r5, [%rd1], 1;\nst.global.u32 [%rd4], %r5;", {50}, {64});
}

// If the order of the operations cannot be observed, each machine accumulates its own, and the sums
// are added later.
TEST(ParallelMachines, SumsInOneWord) {
  expect_as_alone("atom.global.add.u32 %r5, [%rd1], %r1;\nst.global.u32 [%rd4], %r1;", {50}, {37});
}

TEST(ParallelMachines, ReductionsOfAllKinds) {
  for (const char* const reduction : {"add.u32", "add.s32", "min.u32", "max.u32", "min.s32",
                                      "max.s32", "and.b32", "or.b32", "xor.b32"}) {
    SCOPED_TRACE(reduction);
    expect_as_alone("mul.lo.u32 %r5, %r1, -1640531527;\nred.global." + std::string(reduction) +
                        " [%rd1+400], %r5;",
                    {50}, {64});
  }
  for (const char* const reduction :
       {"add.u64", "min.s64", "max.s64", "min.u64", "max.u64", "and.b64", "or.b64", "xor.b64"}) {
    SCOPED_TRACE(reduction);
    expect_as_alone("mul.wide.s32 %rd6, %r1, -1640531527;\nred.global." + std::string(reduction) +
                        " [%rd1+400], %rd6;",
                    {50}, {64});
  }
}

// Updates in several pages, by some lanes, several times.
TEST(ParallelMachines, HistogramInGlobalMemory) {
  expect_as_alone(
      "mul.lo.u32 %r5, %r1, -1640531527;\nshr.u32 %r6, %r5, 18;\nmul.wide.u32 %rd6, %r6, 4;\n"
      "add.s64 %rd6, %rd1, %rd6;\nred.global.add.u32 [%rd6], 1;\nand.b32 %r7, %r1, 5;\n"
      "setp.eq.u32 %p1, %r7, 1;\n@%p1 red.global.add.u32 [%rd6+4], %r6;\n"
      "st.global.u32 [%rd4], %r6;",
      {100}, {64});
}

TEST(ParallelMachines, ReductionsOfSeveralLaunches) {
  const vgpu::Program program = kernel("red.global.add.u32 [%rd1+4], 1;");
  Gpu gpu;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(gpu.run_by(3, gpu.launch(program, {100}, {64})).has_value()) << i;
  }
  std::uint32_t sum = 0;
  std::memcpy(&sum, gpu.in->data + 4, 4);
  EXPECT_EQ(sum, 1u + 5 * 6400);
}

// A block that reads a sum would not see the value that one machine shows.
TEST(ParallelMachines, ReductionsThatAreRead) {
  expect_given_up(
      "red.global.add.u32 [%rd3], 1;\nld.global.u32 %r5, [%rd3];\nst.global.u32 [%rd4], %r5;", {50},
      {64});
  expect_given_up("st.global.u32 [%rd3], 5;\nred.global.add.u32 [%rd3], 1;", {50}, {64});
}

TEST(ParallelMachines, ReductionsWhoseOrderShows) {
  expect_given_up("red.global.add.u32 [%rd1], 3;\nred.global.xor.b32 [%rd1], 5;", {50}, {64});
  expect_given_up("red.global.add.f32 [%rd1], 0f3f800000;", {50}, {64});
  expect_given_up("red.global.inc.u32 [%rd1], 1000;", {50}, {64});
  expect_given_up("red.release.gpu.global.add.u32 [%rd1], 1;", {50}, {64});
}

// Two blocks race.
TEST(ParallelMachines, ReductionsOfAScopeThatIsTooSmall) {
  expect_given_up("red.relaxed.cta.global.add.u32 [%rd1], 1;", {50}, {64});
}

TEST(ParallelMachines, ReductionsOfWhatNobodyHasWritten) {
  expect_given_up("red.global.add.u32 [%rd2], 1;", {50}, {64});
}

TEST(ParallelMachines, RaceWithinOneBlock) {
  expect_given_up(
      "mul.wide.u32 %rd6, %r3, 4;\nadd.s64 %rd6, %rd2, %rd6;\n"
      "st.global.u32 [%rd6], %r2;",
      {50}, {64});
}

TEST(ParallelMachines, FaultInTheLastBlock) {
  expect_given_up(
      "setp.eq.u32 %p1, %r3, 499;\nst.global.u32 [%rd4], %r1;\n"
      "@%p1 st.global.u32 [%rd4+262144], %r1;",
      {500}, {64});
}

TEST(ParallelMachines, Trap) {
  expect_given_up("st.global.u32 [%rd4], %r1;\nsetp.eq.u32 %p1, %r1, 700;\n@%p1 trap;", {50}, {64});
}

TEST(ParallelMachines, UndefinedValues) {
  expect_given_up("ld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd3], %r5;", {50}, {64});
}

// The last block waits for the first one, and the first one waits for the last one.
TEST(ParallelMachines, BlocksThatWaitForEachOther) {
  expect_given_up(
      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra END;\nst.volatile.global.u32 [%rd4], 1;\n"
      "mov.u32 %r9, 0;\nAGAIN:\nadd.u32 %r9, %r9, 1;\nsetp.gt.u32 %p2, %r9, 100;\n"
      "@%p2 bra END;\nld.volatile.global.u32 %r5, [%rd2+128];\n"
      "setp.eq.u32 %p3, %r5, 0;\n@%p3 bra AGAIN;\nEND:",
      {20}, {32});
}

// ---- groups ----

// A launch of a group, with parameters of its own, and the earlier launches that it waits for.
struct Member {
  const vgpu::Program* program = nullptr;
  std::uint64_t in = 0, out = 0;
  std::vector<std::uint32_t> after{};
};

struct GroupRun {
  bool counts = false;
  std::string bytes;
  std::vector<std::string> findings;
  std::vector<bool> are_bad;
  std::uint64_t steps = 0;
};

// Runs the launches, of two blocks each, as a group on `machines` machines; 1: one after the other.
// All launches are unordered if neither waits for the other.
GroupRun run_group(unsigned machines, const std::vector<Member>& members,
                   ParallelMachines::Effect effect = ParallelMachines::Effect::at_once) {
  Gpu gpu;
  const std::string before = gpu.bytes();
  std::vector<ParallelTask> tasks(members.size());
  std::vector<std::vector<std::uint64_t>> parameters;
  for (const Member& one : members) {
    parameters.push_back({gpu.in->address + one.in, gpu.out->address + one.out});
  }
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    tasks[i].launch = gpu.launch(*members[i].program, {2}, {64});
    tasks[i].launch.parameters = std::as_bytes(std::span(parameters[i]));
    for (const std::uint32_t earlier : members[i].after) {
      tasks[earlier].later.push_back(i);
      ++tasks[i].waits_for;
    }
  }
  GroupRun run;
  if (machines == 1) {
    for (const ParallelTask& task : tasks) run.steps += gpu.run_alone(task.launch).steps;
  } else {
    ParallelMachines::Settings settings{.machines = machines, .limits = {}, .whole = &gpu.checkers};
    settings.limits.steps_max = vgpu::kNoLimit;
    run.counts = gpu.parallel.run_together(tasks, settings, effect, [&] {
      std::vector<WordsOfGroup::Member> words;
      for (std::uint32_t i = 0; i < tasks.size(); ++i) {
        const std::uint32_t chain =
            members[i].after.empty() ? i : words[members[i].after.front()].chain;
        words.push_back({&tasks[i].words, chain});
      }
      return !WordsOfGroup(words).find_met([](const WordsOfGroup::Pair&) { return true; });
    });
    for (const ParallelTask& task : tasks) run.steps += task.outcome.steps;
    if (effect == ParallelMachines::Effect::later) {
      EXPECT_TRUE(gpu.bytes() == before);
      for (const ParallelTask& task : tasks) task.written.write(task.words, gpu.checkers);
    }
  }
  for (const ParallelTask& task : tasks) run.are_bad.push_back(task.is_bad);
  run.bytes = gpu.bytes();
  run.findings = gpu.found();
  return run;
}

void expect_group_as_alone(const std::vector<Member>& members) {
  const GroupRun alone = run_group(1, members);
  for (const unsigned machines : {2u, 5u}) {
    for (const auto effect : {ParallelMachines::Effect::at_once, ParallelMachines::Effect::later}) {
      SCOPED_TRACE(machines);
      const GroupRun group = run_group(machines, members, effect);
      EXPECT_TRUE(group.counts);
      EXPECT_EQ(group.steps, alone.steps);
      EXPECT_TRUE(group.bytes == alone.bytes);
      EXPECT_EQ(group.findings, alone.findings);
    }
  }
}

// Expects that nothing has happened.  bad: the launch that is the reason; -1: none by itself
void expect_group_undone(const std::vector<Member>& members, int bad = -1) {
  const GroupRun before = run_group(1, {});
  for (const unsigned machines : {2u, 5u}) {
    SCOPED_TRACE(machines);
    const GroupRun group = run_group(machines, members);
    EXPECT_FALSE(group.counts);
    EXPECT_TRUE(group.bytes == before.bytes);
    EXPECT_EQ(group.findings, before.findings);
    for (int i = 0; i < static_cast<int>(members.size()); ++i)
      EXPECT_EQ(group.are_bad[i], i == bad);
  }
}

constexpr const char* kCopy = "ld.global.u32 %r5, [%rd3];\nst.global.u32 [%rd4], %r5;";
constexpr const char* kDouble =
    "ld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, %r5;\nst.global.u32 [%rd3], %r5;";

TEST(ParallelMachines, LaunchesOfAGroup) {
  const vgpu::Program copy = kernel(kCopy), twice = kernel(kDouble);
  std::vector<Member> members;
  for (std::uint32_t i = 0; i < 12; ++i) {
    // Chains of three, which write neighbouring parts of the same pages.
    const auto first = static_cast<std::uint32_t>(members.size());
    members.push_back({&twice, i * 512, 0});
    members.push_back({&twice, i * 512, 0, {first}});
    members.push_back({&copy, i * 512, i * 512, {first + 1}});
  }
  expect_group_as_alone(members);
}

TEST(ParallelMachines, AGroupOfLaunchesThatReadTheSame) {
  const vgpu::Program copy = kernel(kCopy);
  expect_group_as_alone({{&copy, 0, 0}, {&copy, 0, 4096}, {&copy, 256, 512}});
}

// The blocks of one launch run on one machine, so the order of their operations may show.
TEST(ParallelMachines, AtomicOperationsWithinALaunchOfAGroup) {
  const vgpu::Program tickets =
      kernel("atom.global.add.u32 %r5, [%rd1], 1;\nst.global.u32 [%rd4], %r5;");
  expect_group_as_alone({{&tickets, 0, 0}, {&tickets, 64, 4096}, {&tickets, 8192, 512}});
}

TEST(ParallelMachines, LaunchesOfAGroupThatMeet) {
  const vgpu::Program copy = kernel(kCopy), twice = kernel(kDouble);
  expect_group_undone({{&copy, 0, 0}, {&copy, 8192, 508}});
  expect_group_undone({{&twice, 0, 0}, {&copy, 508, 4096}});
  const vgpu::Program sum = kernel("red.global.add.u32 [%rd1], 1;");
  expect_group_undone({{&sum, 0, 0}, {&sum, 0, 0}});
}

TEST(ParallelMachines, ALaunchOfAGroupThatHasAFinding) {
  const vgpu::Program copy = kernel(kCopy);
  const vgpu::Program race = kernel("st.global.u32 [%rd2], %r2;");
  expect_group_undone({{&copy, 0, 0}, {&race, 0, 8192}, {&copy, 4096, 4096}}, 1);
  const vgpu::Program beyond = kernel("st.global.u32 [%rd4+1048576], %r2;");
  expect_group_undone({{&copy, 0, 0}, {&copy, 4096, 4096}, {&beyond, 0, 8192}}, 2);
  const vgpu::Program trap = kernel("st.global.u32 [%rd4], %r2;\ntrap;");
  expect_group_undone({{&trap, 0, 0}, {&copy, 4096, 4096}}, 0);
  const vgpu::Program undefined = kernel(
      "ld.global.u32 %r5, [%rd4];\nsetp.eq.u32 %p1, %r5, 7;\n@%p1 st.global.u32 [%rd3], %r5;");
  expect_group_undone({{&copy, 0, 0}, {&undefined, 0, 8192}}, 1);
}

// A single machine would switch between blocks in a launch of this kind.
TEST(ParallelMachines, RacesCountWhereNobodyLooksForThem) {
  const vgpu::Program program =
      kernel("ld.global.u32 %r5, [%rd3+4];\nadd.u32 %r5, %r5, 7;\nst.global.u32 [%rd3], %r5;");
  Gpu gpu;
  vgpu::CheckerSet without_races;
  without_races.race = false;
  gpu.checkers.reset(without_races, vgpu::WarpModel::independent);
  ParallelMachines::Settings settings{.machines = 2,
                                      .steps_min = 0,
                                      .checkers = without_races,
                                      .limits = {},
                                      .whole = &gpu.checkers};
  settings.limits.steps_max = vgpu::kNoLimit;
  const std::string before = gpu.bytes();
  EXPECT_FALSE(gpu.parallel.run(gpu.launch(program, {50}, {64}), settings).has_value());
  EXPECT_TRUE(gpu.bytes() == before);
}

TEST(ParallelMachines, ClocksAndLeftRegistersAreOfOneMachine) {
  for (const char* const body :
       {"mov.u32 %r5, %clock;\nst.global.u32 [%rd4], %r5;",
        "mov.u32 %r5, %smid;\nst.global.u32 [%rd4], %r5;", "st.global.u32 [%rd4], %r20;"}) {
    const vgpu::Program program = kernel(body);
    Gpu gpu;
    EXPECT_FALSE(gpu.run_by(2, gpu.launch(program, {50}, {64})).has_value()) << body;
  }
}

}  // namespace
}  // namespace warpcheck::cudart
