// Loops that poll, run by the machine: at each strong access, the test asks which values would end
// the loop.
#include "vgpu/check/order/poll_exits.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::vgpu {
namespace {

// For each strong access in the order of execution: '-' if it does not poll; else, for each of the
// values, 'y' if it ends the loop, 'n' if it does not, '?' if that is not known.
class Answers final : public Observer {
 public:
  Answers(std::vector<std::uint64_t> values, unsigned lane)
      : values_(std::move(values)), lane_(lane) {}
  void on_access(const Access& access) override {
    if (access.order == ptx::Order::weak && access.kind != AccessKind::atomic) {
      EXPECT_FALSE(exits_.polls(access)) << "a weak access";
      return;
    }
    if (!text.empty()) text += ' ';
    if (!exits_.polls(access)) {
      text += '-';
      return;
    }
    for (const std::uint64_t value : values_) {
      const std::optional<bool> ends = exits_.ends(access, lane_, value);
      text += !ends.has_value() ? '?' : *ends ? 'y' : 'n';
    }
  }

  std::string text;

 private:
  PollExits exits_;
  std::vector<std::uint64_t> values_;
  unsigned lane_;
};

Program program_of(const std::string& body) {
  const std::string text = fmt::format(R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data)
{{
.reg .pred %p, %q;
.reg .b32 %x, %y, %z, %t;
.reg .b64 %a, %b, %w;
ld.param.u64 %a, [data];
mov.u32 %t, %tid.x;
{}
ret;
}}
)",
                                       body);
  Program program = decode(ptx::parse(text, "test.ptx"), "k");
  link(program);
  return program;
}

// Runs one warp with words of 7 at %a, and returns the answers for `lane`.
std::string answers(const std::string& body, std::vector<std::uint64_t> values, unsigned lane = 0,
                    std::uint32_t threads = 1) {
  const Program program = program_of(body);
  DeviceMemory memory;
  Machine machine{memory};
  Allocation* const data = memory.allocate(256);
  for (std::uint32_t at = 0; at < 256; at += 4) data->data[at] = std::byte{7};
  Launch launch;
  launch.program = &program;
  launch.grid = {1, 1, 1};
  launch.block = {threads, 1, 1};
  launch.parameters = std::as_bytes(std::span(&data->address, 1));
  DefaultPolicy policy;
  Answers answers(std::move(values), lane);
  Observer* const observers[] = {&answers};
  EXPECT_EQ(machine.run(launch, WarpModel::independent, policy, observers, {}).end,
            Outcome::End::completed);
  return answers.text;
}

TEST(PollExits, AValueEndsTheLoopIfTheBranchFallsThrough) {
  EXPECT_EQ(answers("L: ld.relaxed.gpu.global.u32 %x, [%a]; setp.lt.u32 %p, %x, 5; @%p bra L;",
                    {0, 4, 5, 9}),
            "nnyy");
  EXPECT_EQ(answers("L: ld.volatile.global.u32 %x, [%a]; setp.ge.u32 %p, %x, 5; @!%p bra L;",
                    {0, 4, 5, 9}),
            "nnyy");
  EXPECT_EQ(answers("L: ld.acquire.gpu.global.u64 %w, [%a]; setp.eq.u64 %p, %w, 0; @%p bra L;",
                    {0, 1, 0x1'0000'0000}),
            "nyy");
}

TEST(PollExits, TheCodeBeforeTheBranchIsComputedWithTheRegistersOfTheLane) {
  // Lane t waits for t + 2 in the lower 4 bits.
  constexpr const char* kMasked = R"(
add.u32 %z, %t, 2;
L: ld.relaxed.gpu.global.u32 %x, [%a];
and.b32 %y, %x, 15;
fence.acq_rel.gpu;
nanosleep.u32 20;
setp.lt.u32 %p, %y, %z;
@%p bra L;)";
  EXPECT_EQ(answers(kMasked, {1, 2, 5, 6, 16, 18}, 0, 6), "nyyyny");
  EXPECT_EQ(answers(kMasked, {1, 2, 5, 6, 16, 18}, 4, 6), "nnnynn");
}

TEST(PollExits, TheProbeLeavesTheRegistersOfTheLaunchAsTheyAre) {
  // %y counts the rounds that a probe would make; the branch behind the loop looks at it.
  constexpr const char* kCounting = R"(
mov.u32 %y, 0;
L: ld.relaxed.gpu.global.u32 %x, [%a];
add.u32 %y, %y, 1;
setp.lt.u32 %p, %x, 5;
@%p bra L;
setp.ne.u32 %q, %y, 1;
@%q trap;)";
  EXPECT_EQ(answers(kCounting, {0, 9}), "ny");
}

TEST(PollExits, AValueThatIsUsedBehindTheLoopIsNoPoll) {
  constexpr const char* kLoop =
      "L: ld.relaxed.gpu.global.u32 %x, [%a]; setp.lt.u32 %p, %x, 5; @%p bra L;";
  EXPECT_EQ(answers(fmt::format("{} st.global.u32 [%a+8], %x;", kLoop), {0, 9}), "-");
  EXPECT_EQ(answers(fmt::format("{} mov.u32 %x, 1; st.global.u32 [%a+8], %x;", kLoop), {0, 9}),
            "ny")
      << "the register has another value by then";
  EXPECT_EQ(answers("L: ld.relaxed.gpu.global.u32 %x, [%a]; add.u32 %y, %x, 1;"
                    "setp.lt.u32 %p, %y, 6; @%p bra L; st.global.u32 [%a+8], %y;",
                    {0, 9}),
            "-")
      << "a value that is computed from it";
}

TEST(PollExits, TheInnermostLoopCounts) {
  constexpr const char* kNested = R"(
mov.u32 %z, 0;
OUTER: add.u32 %z, %z, 1;
INNER: ld.relaxed.gpu.global.u32 %x, [%a];
setp.lt.u32 %p, %x, 5;
@%p bra INNER;
setp.lt.u32 %q, %z, 2;
@%q bra OUTER;)";
  EXPECT_EQ(answers(kNested, {4, 5}), "ny ny");
}

TEST(PollExits, ALoopMayGoBackAtSeveralPlaces) {
  constexpr const char* kTwoWays = R"(
L: ld.relaxed.gpu.global.u32 %x, [%a];
setp.lt.u32 %p, %x, 2;
@%p bra L;
setp.lt.u32 %q, %x, 5;
@%q bra L;)";
  EXPECT_EQ(answers(kTwoWays, {1, 4, 5}), "nny");
}

TEST(PollExits, ALoopThatDoesMoreThanComputeIsNotKnown) {
  EXPECT_EQ(answers("L: ld.relaxed.gpu.global.u32 %x, [%a]; setp.lt.u32 %p, %x, 5; @!%p bra D;"
                    "st.global.u32 [%a+8], %t; bra L; D:",
                    {4, 5}),
            "?y");
}

TEST(PollExits, ALoadInFrontOfItsLoopIsFollowedToTheLoadInTheLoop) {
  const auto rotated = [](std::string_view second) {
    return fmt::format(R"(
add.u64 %b, %a, 8;
ld.relaxed.gpu.global.u32 %x, [%a];
setp.ge.u32 %p, %x, 5;
@%p bra D;
L: ld.relaxed.gpu.global.u32 %y, [{}];
setp.lt.u32 %q, %y, 5;
@%q bra L;
D: st.global.u32 [%a+16], %t;)",
                       second);
  };
  EXPECT_EQ(answers(rotated("%a"), {4, 5}), "n?");
  EXPECT_EQ(answers(rotated("%b"), {4, 5}), "??") << "the loop waits for another word";
  EXPECT_EQ(answers(rotated("%a+4"), {4, 5}), "??");
}

TEST(PollExits, AnAtomicThatChangesNothingPolls) {
  const auto loop = [](std::string_view atomic) {
    return fmt::format("L: {}; setp.lt.u32 %p, %x, 5; @%p bra L;", atomic);
  };
  for (const char* const atomic :
       {"atom.relaxed.gpu.global.add.u32 %x, [%a], 0", "atom.global.or.b32 %x, [%a], 0",
        "atom.global.xor.b32 %x, [%a], 0", "atom.global.and.b32 %x, [%a], 0xffffffff",
        "atom.global.cas.b32 %x, [%a], %t, %t"}) {
    EXPECT_EQ(answers(loop(atomic), {4, 5}), "ny") << atomic;
    EXPECT_TRUE(PollExits::may_poll_by_atomics(program_of(loop(atomic)))) << atomic;
  }
  for (const char* const atomic :
       {"atom.global.add.u32 %x, [%a], 1", "atom.global.or.b32 %x, [%a], %t",
        "atom.global.and.b32 %x, [%a], 0xff", "atom.global.max.u32 %x, [%a], 0",
        "atom.global.cas.b32 %x, [%a], 0, 1"}) {
    EXPECT_EQ(answers(loop(atomic), {4, 5}), "-") << atomic;
    EXPECT_FALSE(PollExits::may_poll_by_atomics(program_of(loop(atomic)))) << atomic;
  }
}

TEST(PollExits, OnlyAccessesWhoseValueDecidesTheLoopPoll) {
  EXPECT_EQ(answers("ld.relaxed.gpu.global.u32 %x, [%a]; ret;", {1}), "-") << "no branch";
  EXPECT_EQ(answers("mov.u32 %y, 0; L: ld.relaxed.gpu.global.u32 %x, [%a]; add.u32 %y, %y, 1;"
                    "setp.lt.u32 %p, %y, 2; @%p bra L;",
                    {1}),
            "- -")
      << "a counter decides";
  EXPECT_EQ(answers("L: ld.relaxed.gpu.global.u8 %x, [%a]; setp.lt.u32 %p, %x, 5; @%p bra L;", {1}),
            "-")
      << "of one byte";
  EXPECT_EQ(answers("L: ld.global.u32 %x, [%a]; setp.lt.u32 %p, %x, 5; @%p bra L;", {1}), "");
}

}  // namespace
}  // namespace warpcheck::vgpu
