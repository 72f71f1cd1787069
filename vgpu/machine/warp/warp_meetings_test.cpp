// Lanes of a warp that wait for each other.
#include <bit>

#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"

namespace warpcheck::vgpu {
namespace {

using Reason = BarrierDivergence::Reason;

// Runs one warp and records the lanes of each use of an undefined value; loads read one in
// `loaded`.
class UndefinedUses final : public Observer, private UndefinedMemory {
 public:
  explicit UndefinedUses(std::uint32_t loaded) : loaded_(loaded) {}
  [[nodiscard]] UndefinedMemory* undefined_memory() override { return this; }
  void on_undefined_use(const UndefinedUse& use) override {
    lanes.push_back(use.lanes);
    origins.push_back(use.origin);
  }
  std::vector<std::uint32_t> lanes, origins;

 private:
  void read(Access& access) override {
    if (access.kind != AccessKind::read || loaded_ == 0) return;
    access.undefined = loaded_;
    access.origin = access.pc;
  }
  void write(const Access& /*access*/) override {}

  std::uint32_t loaded_;
};

class WarpMeetings : public SyncTest {
 protected:
  void run_watched_by(Observer& observer) {
    out_ = memory_.allocate(4096);
    std::memset(out_->data, 0, out_->bytes);
    Launch launch;
    launch.program = &program_;
    launch.grid = {1, 1, 1};
    launch.block = {32, 1, 1};
    launch.parameters = std::as_bytes(std::span(&out_->address, 1));
    Observer* const observers[] = {&observer};
    DefaultPolicy policy;
    machine_.run(launch, model_, policy, observers, limits_);
  }
};

std::vector<std::uint32_t> each(std::size_t count, auto value_of) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t i = 0; i < count; ++i) values.push_back(value_of(i));
  return values;
}

TEST_F(WarpMeetings, OperationsOfAWholeWarp) {
  compile(
      "shfl.sync.down.b32 %r2|%p1, %r1, 1, 31, -1; setp.lt.u32 %p2, %r1, 5;\n"
      "vote.sync.ballot.b32 %r3, %p2, -1; shr.u32 %r4, %r1, 4;\n"
      "match.any.sync.b32 %r5, %r4, -1; redux.sync.add.u32 %r6, %r1, -1;\n"
      "elect.sync %r7|%p3, -1; selp.u32 %r8, 100, 0, %p3;\n"
      "add.u32 %r9, %r2, %r3; add.u32 %r9, %r9, %r6; xor.b32 %r9, %r9, %r5;\n"
      "add.u32 %r9, %r9, %r8; st.global.u32 [%rd2], %r9;");
  run(32);
  EXPECT_EQ(ints(32), each(32, [](std::uint32_t i) {
              const std::uint32_t next = i < 31 ? i + 1 : i;
              const std::uint32_t half = i < 16 ? 0xffffu : 0xffff0000u;
              return ((next + 31 + 496) ^ half) + (i == 0 ? 100 : 0);
            }));
  EXPECT_TRUE(seen_.divergences.empty());
  EXPECT_TRUE(seen_.meetings.empty());  // these meetings order nothing
}

TEST_F(WarpMeetings, LanesOfAPartialWarpAreNotWaitedFor) {
  compile("redux.sync.add.u32 %r2, %r1, -1; st.global.u32 [%rd2], %r2; bar.warp.sync -1;");
  EXPECT_EQ(run(35).end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 496u);
  EXPECT_EQ(ints(35)[34], 32u + 33 + 34);
  ASSERT_EQ(seen_.meetings.size(), 2u);
  EXPECT_EQ(seen_.meetings[1].arrived, (std::vector<WarpLanes>{{1, 7}}));
}

TEST_F(WarpMeetings, LanesWaitForMembersThatComeLater) {
  // Odd lanes execute more instructions before the shuffle; the masks come from a register.
  compile(
      "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1; mov.u32 %r3, 7; mov.u32 %r5, -1;\n"
      "@!%p1 bra MEET; mov.u32 %r4, 0;\nL: add.u32 %r3, %r3, %r1; add.u32 %r4, %r4, 1;\n"
      "setp.lt.u32 %p2, %r4, 3; @%p2 bra L;\nbra OTHER;\n"
      "MEET: shfl.sync.idx.b32 %r6, %r3, 1, 31, %r5; bra DONE;\n"
      "OTHER: shfl.sync.idx.b32 %r6, %r3, 2, 31, %r5;\n"
      "DONE: st.global.u32 [%rd2], %r6;");
  EXPECT_EQ(run(32).end, Outcome::End::completed);
  // The two instructions form one operation: even lanes read lane 1, odd lanes read lane 2.
  EXPECT_EQ(ints(32), each(32, [](std::uint32_t i) { return i % 2 == 0 ? 10u : 7u; }));
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(WarpMeetings, OperationsOfSeveralMasksAtOnePlace) {
  compile(
      "and.b32 %r2, %r1, 24; mov.u32 %r3, 255; shl.b32 %r3, %r3, %r2;\n"
      "redux.sync.add.u32 %r4, %r1, %r3; bar.warp.sync %r3; st.global.u32 [%rd2], %r4;");
  run(32);
  EXPECT_EQ(ints(32), each(32, [](std::uint32_t i) { return i / 8 * 64 + 28; }));
  ASSERT_EQ(seen_.meetings.size(), 4u);
  EXPECT_EQ(seen_.meetings[2].arrived, (std::vector<WarpLanes>{{0, 0xff0000}}));
  EXPECT_EQ(seen_.meetings[2].released, (std::vector<WarpLanes>{{0, 0xff0000}}));
}

TEST_F(WarpMeetings, WarpBarriersAtDifferentPlacesAreOne) {
  compile(
      "setp.lt.u32 %p1, %r1, 8; @%p1 bra A; bar.warp.sync -1; bra B;\nA: bar.warp.sync -1;\n"
      "B: st.global.u32 [%rd2], %r1;");
  EXPECT_EQ(run(32).end, Outcome::End::completed);
  EXPECT_TRUE(seen_.divergences.empty());
  ASSERT_EQ(seen_.meetings.size(), 1u);
  EXPECT_EQ(seen_.meetings[0].arrived, (std::vector<WarpLanes>{{0, ~0u}}));
}

TEST_F(WarpMeetings, NobodyWaitsForLanesThatHaveExited) {
  compile(
      "setp.ge.u32 %p1, %r1, 20; @%p1 bra LATE; vote.sync.ballot.b32 %r2, 1, -1;\n"
      "st.global.u32 [%rd2], %r2; ret;\nLATE: mov.u32 %r3, 1;");
  EXPECT_EQ(run(32).end, Outcome::End::completed);
  EXPECT_EQ(ints(32), each(32, [](std::uint32_t i) { return i < 20 ? 0xfffffu : 0; }));
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(WarpMeetings, OperationsWithoutSyncTakeTheActiveLanes) {
  compile(
      "setp.lt.u32 %p1, %r1, 3; @!%p1 ret; vote.ballot.b32 %r2, 1; shfl.up.b32 %r3, %r1, 1, 0;\n"
      "add.u32 %r2, %r2, %r3; st.global.u32 [%rd2], %r2;");
  run(32);
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{7, 7, 8, 0}));
}

TEST_F(WarpMeetings, GuardedLanesGoOnBeforeTheOthersMeet) {
  compile(
      "setp.lt.u32 %p1, %r1, 4; mov.u32 %r2, 99; mov.u32 %r3, 15;\n"
      "@%p1 redux.sync.max.u32 %r2, %r1, %r3; st.global.u32 [%rd2], %r2;");
  run(32);
  EXPECT_EQ(ints(32), each(32, [](std::uint32_t i) { return i < 4 ? 3u : 99u; }));
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(WarpMeetings, ALaneOutsideItsMaskIsMisuse) {
  compile("mov.u32 %r2, 3; bar.warp.sync %r2; st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run(32).end, Outcome::End::completed);
  EXPECT_EQ(ints(32), each(32, [](std::uint32_t) { return 1u; }));
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::not_a_member);
  EXPECT_EQ(seen_.divergences[0].lane, 2u);
  EXPECT_EQ(seen_.divergences[0].pc, pc_of("bar.warp.sync"));
}

TEST_F(WarpMeetings, MembersThatWaitAtABarrierAreMisuse) {
  compile(
      "setp.lt.u32 %p1, %r1, 16; @!%p1 bra B; shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\n"
      "B: bar.sync 0; st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run(64).end, Outcome::End::completed);
  ASSERT_EQ(seen_.divergences.size(), 1u);  // warp 1 does not vote
  EXPECT_EQ(seen_.divergences[0].reason, Reason::elsewhere);
  EXPECT_EQ(seen_.divergences[0].pc, pc_of("shfl.sync.bfly.b32"));
  EXPECT_EQ(seen_.divergences[0].lane, 0u);
  EXPECT_EQ(seen_.divergences[0].other_pc, pc_of("bar.sync"));
  EXPECT_EQ(seen_.divergences[0].other_lane, 16u);
  EXPECT_EQ(ints(64), each(64, [](std::uint32_t) { return 1u; }));
  EXPECT_EQ(seen_.phases, 1);
}

TEST_F(WarpMeetings, DifferentOperationsDoNotMeet) {
  compile(
      "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; vote.sync.any.pred %p2, 1, -1; bra B;\n"
      "A: vote.sync.all.pred %p2, 1, -1;\nB: st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run(32).end, Outcome::End::completed);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::elsewhere);
}

TEST_F(WarpMeetings, AShuffledValueIsAsDefinedAsItsSource) {
  // Lanes 0 to 15 load unwritten memory; each lane then branches on the value of its neighbour.
  UndefinedUses undefined(0xffff);
  compile(
      "ld.global.u32 %r2, [%rd2]; shfl.sync.down.b32 %r3, %r2, 1, 31, -1;\n"
      "setp.eq.u32 %p1, %r3, 5; @%p1 bra E; mov.u32 %r4, 1;\nE:");
  run_watched_by(undefined);
  EXPECT_EQ(undefined.lanes, std::vector<std::uint32_t>{0x7fff});
}

TEST_F(WarpMeetings, AShuffleFromALaneThatTakesNoPartGivesAnUndefinedValue) {
  // Lanes 0 to 7 read the lane that is 4 above them; lanes from 8 on are not in the mask.
  UndefinedUses undefined(0);
  compile(
      "setp.ge.u32 %p1, %r1, 8; @%p1 bra E; shfl.sync.down.b32 %r3, %r1, 4, 31, 0xff;\n"
      "setp.eq.u32 %p2, %r3, 5; @%p2 bra E; mov.u32 %r4, 1;\nE:");
  run_watched_by(undefined);
  EXPECT_EQ(undefined.lanes, std::vector<std::uint32_t>{0xf0});
  EXPECT_EQ(undefined.origins, std::vector{pc_of("shfl.sync.down.b32")});
}

TEST_F(WarpMeetings, AShuffleThatIsClampedReadsItsOwnLane) {
  UndefinedUses undefined(0);
  compile(
      "setp.ge.u32 %p1, %r1, 8; @%p1 bra E; shfl.sync.down.b32 %r3, %r1, 4, 0x1807, 0xff;\n"
      "setp.eq.u32 %p2, %r3, 5; @%p2 bra E; mov.u32 %r4, 1;\nE:");
  run_watched_by(undefined);
  EXPECT_TRUE(undefined.lanes.empty());
}

// All lanes of a matrix product must execute the same instruction (.aligned).  With lanes at two
// instructions there is no product to compute.
TEST_F(WarpMeetings, LanesAtDifferentProductsOfMatricesDoNotMeet) {
  compile(
      "mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0; and.b32 %r5, %r1, 1;\n"
      "setp.eq.u32 %p1, %r5, 0; @%p1 bra EVEN;\n"
      "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r6, %r7}, {%r2}, {%r3}, {%r4, %r4};\n"
      "bra DONE;\n"
      "EVEN: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r6, %r7}, {%r2}, {%r3}, {%r4, %r4};\n"
      "DONE: st.global.u32 [%rd2], %r1;");
  run(32);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::elsewhere);
  EXPECT_EQ(seen_.divergences[0].lane, 1u);
  EXPECT_EQ(seen_.divergences[0].other_lane, 0u);
}

}  // namespace
}  // namespace warpcheck::vgpu
