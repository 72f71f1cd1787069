// mbarriers and asynchronous copies.
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/program/barrier_token.hpp"
#include "vgpu/program/refusal.hpp"

namespace warpcheck::vgpu {
namespace {

using Kind = BarrierObject::Kind;
using Reason = BarrierDivergence::Reason;

constexpr const char* kShared = ".shared .align 16 .b8 s[1024];\n.shared .align 8 .b8 b[16];\n";

class BarrierObjects : public SyncTest {};
class Copies : public SyncTest {};

TEST(BarrierTokenTest, SurvivesItsBits) {
  for (const std::int32_t bytes : {0, 1, -1, (1 << 20) - 1, 1 - (1 << 20)}) {
    const BarrierToken token{7, BarrierToken::kCountMax, bytes, true, true};
    const BarrierToken back = BarrierToken::unpack(token.pack());
    EXPECT_EQ(back.pending, 7u);
    EXPECT_EQ(back.expected, BarrierToken::kCountMax);
    EXPECT_EQ(back.bytes, bytes);
    EXPECT_TRUE(back.parity);
    EXPECT_TRUE(back.valid);
  }
}

TEST_F(BarrierObjects, AllThreadsArriveAndWait) {
  // Two phases; warp 0 reads after the first one what warp 1 has written before it.
  compile(
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra I; mbarrier.init.shared.b64 [b], 64;\nI: bar.sync 0;\n"
      "shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;\n"
      "mbarrier.arrive.shared.b64 %rd4, [b];\n"
      "W: mbarrier.test_wait.shared.b64 %p2, [b], %rd4; @!%p2 bra W;\n"
      "xor.b32 %r2, %r2, 128; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3];\n"
      "st.global.u32 [%rd2], %r4; mbarrier.arrive.shared.b64 %rd5, [b];\n"
      "V: mbarrier.try_wait.parity.shared.b64 %p3, [b], 1; @!%p3 bra V;",
      kShared);
  EXPECT_EQ(run(64).end, Outcome::End::completed);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ints(64)[i], i ^ 32u) << i;
  EXPECT_TRUE(seen_.divergences.empty());
  ASSERT_EQ(seen_.objects.size(), 9u);  // init, and 2 warps x 2 phases x (arrive, wait)
  EXPECT_EQ(seen_.objects[0].kind, Kind::init);
  EXPECT_EQ(seen_.objects[1].kind, Kind::arrive);
  EXPECT_EQ(seen_.objects[1].mask, ~0u);
  EXPECT_EQ(seen_.objects[1].phase, 0u);
  EXPECT_EQ(seen_.objects[1].scope, ptx::Scope::cta);
  EXPECT_FALSE(seen_.objects[1].relaxed);
  EXPECT_EQ(seen_.objects.back().kind, Kind::wait);
  EXPECT_EQ(seen_.objects.back().phase, 1u);
}

TEST_F(BarrierObjects, CountsDropsAndPendingCounts) {
  // Lane 0 arrives with count 3 of 5 and then drops out; the next phase waits for four arrivals.
  compile(
      "mbarrier.init.shared.b64 [b], 5; mbarrier.arrive.shared.b64 %rd4, [b], 3;\n"
      "mbarrier.pending_count.b64 %r2, %rd4; st.global.u32 [%rd1], %r2;\n"
      "mbarrier.arrive_drop.shared.b64 %rd5, [b]; mbarrier.pending_count.b64 %r3, %rd5;\n"
      "st.global.u32 [%rd1+4], %r3; mbarrier.arrive.noComplete.shared.b64 %rd6, [b], 1;\n"
      "mbarrier.arrive.shared.b64 %rd7, [b], 4; mbarrier.pending_count.b64 %r4, %rd7;\n"
      "st.global.u32 [%rd1+8], %r4; mbarrier.test_wait.shared.b64 %p1, [b], %rd7;\n"
      "selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd1+12], %r5; mbarrier.inval.shared.b64 [b];",
      kShared);
  run(1);
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{5, 2, 4, 1}));
  EXPECT_TRUE(seen_.divergences.empty());
  EXPECT_EQ(seen_.objects.back().kind, Kind::invalidate);
}

TEST_F(BarrierObjects, APhaseWaitsForItsBytes) {
  compile(
      "mbarrier.init.shared.b64 [b], 1; mbarrier.arrive.expect_tx.shared.b64 %rd4, [b], 64;\n"
      "mbarrier.test_wait.shared.b64 %p1, [b], %rd4; selp.u32 %r2, 1, 0, %p1;\n"
      "st.global.u32 [%rd1], %r2; mbarrier.complete_tx.shared.b64 [b], 64;\n"
      "mbarrier.test_wait.shared.b64 %p1, [b], %rd4; selp.u32 %r2, 1, 0, %p1;\n"
      "st.global.u32 [%rd1+4], %r2;",
      kShared);
  run(1);
  EXPECT_EQ(ints(2), (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(BarrierObjects, MisuseIsReported) {
  compile("mbarrier.init.shared.b64 [b], 3; mbarrier.arrive.shared.b64 _, [b], 4;", kShared);
  run(1);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::too_many_arrivals);
  EXPECT_EQ(seen_.divergences[0].pc, pc_of("mbarrier.arrive.shared.b64"));

  compile("mbarrier.arrive.shared.b64 _, [b+8];", kShared);
  run(1);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::no_object);

  compile("mbarrier.init.shared.b64 [b], 0;", kShared);
  run(1);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::bad_count);

  compile("mbarrier.init.b64 [%rd1], 1;");
  run(1);
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].space, ptx::Space::shared);
}

TEST_F(BarrierObjects, WhoPollsForAMissingArrivalIsNamed) {
  limits_.steps_max = 20'000;
  compile(
      "mbarrier.init.shared.b64 [b], 2; mbarrier.arrive.shared.b64 %rd4, [b];\n"
      "W: mbarrier.try_wait.shared.b64 %p2, [b], %rd4; @!%p2 bra W;",
      kShared);
  EXPECT_EQ(run(1).end, Outcome::End::deadlock);
  ASSERT_EQ(seen_.waiting.size(), 1u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::object);
  EXPECT_EQ(seen_.waiting[0].arrived, 1u);
  EXPECT_EQ(seen_.waiting[0].expected, 2u);
  EXPECT_EQ(seen_.waiting[0].pc, pc_of("mbarrier.try_wait.shared.b64"));
  EXPECT_EQ(BarrierToken::unpack(seen_.waiting[0].value).pending, 1u);
}

TEST_F(Copies, BringWholeAndPartialElements) {
  // Lane l copies 16 bytes of which l + 12 exist, then 4 and 8 bytes.
  compile(
      "st.global.u32 [%rd2+1024], -1; bar.sync 0; shl.b32 %r2, %r1, 4; mov.u32 %r3, s;\n"
      "add.u32 %r3, %r3, %r2; add.u32 %r4, %r1, 12; cvt.u64.u32 %rd4, %r2;\n"
      "add.s64 %rd4, %rd4, %rd1; cp.async.cg.shared.global [%r3], [%rd4+1024], 16, %r4;\n"
      "cp.async.commit_group; cp.async.wait_group 0; ld.shared.v4.u32 {%r5,%r6,%r7,%r8}, [%r3];\n"
      "st.global.v4.u32 [%rd4], {%r5,%r6,%r7,%r8};\n"
      "cp.async.ca.shared.global [%r3+4], [%rd4+1028], 4; cp.async.wait_all;",
      kShared);
  run(4);
  const std::vector<std::uint32_t> out = ints(16);
  EXPECT_EQ(out[0], ~0u);  // the 4 threads have written only the first 4 ints
  EXPECT_EQ(out[2], ~0u);
  EXPECT_EQ(out[3], 0u);
  ASSERT_EQ(seen_.commits.size(), 2u);
  ASSERT_EQ(seen_.waits.size(), 2u);
  EXPECT_EQ(seen_.waits[0].groups_left, 0u);
  EXPECT_EQ(seen_.waits[0].mask, 0xfu);
  int asynchronous = 0;
  for (const Access& access : seen_.accesses) asynchronous += access.asynchronous ? 1 : 0;
  EXPECT_GT(asynchronous, 4);
  EXPECT_FALSE(seen_.accesses.front().asynchronous);
}

TEST_F(Copies, TailsAreZeroed) {
  compile(
      "mov.u32 %r2, 0x04030201; st.global.u32 [%rd1+64], %r2; mov.u32 %r5, 3;\n"
      "st.shared.u32 [s], -1; cp.async.ca.shared.global [s], [%rd1+64], 4, %r5;\n"
      "cp.async.wait_all; ld.shared.u32 %r6, [s]; st.global.u32 [%rd1], %r6;\n"
      "setp.eq.u32 %p1, %r5, 3; cp.async.ca.shared.global [s], [%rd1+64], 4, %p1;\n"
      "cp.async.wait_all; ld.shared.u32 %r6, [s]; st.global.u32 [%rd1+4], %r6;",
      kShared);
  run(1);
  EXPECT_EQ(ints(2), (std::vector<std::uint32_t>{0x030201, 0}));
}

TEST_F(Copies, AreOneAccessOfAllTheirBytes) {
  compile("cp.async.cg.shared.global [s], [%rd1], 16; cp.async.wait_all;", kShared);
  run(1);
  ASSERT_EQ(seen_.accesses.size(), 2u);
  EXPECT_EQ(seen_.accesses[0].kind, AccessKind::read);
  EXPECT_EQ(seen_.accesses[0].space, ptx::Space::global);
  EXPECT_EQ(seen_.accesses[0].bytes, 16);
  EXPECT_TRUE(seen_.accesses[0].asynchronous);
  EXPECT_EQ(seen_.accesses[1].kind, AccessKind::write);
  EXPECT_EQ(seen_.accesses[1].space, ptx::Space::shared);
  EXPECT_EQ(seen_.accesses[1].bytes, 16);
}

TEST_F(Copies, ArriveOnAnObject) {
  compile(
      "mbarrier.init.shared.b64 [b], 2; cp.async.ca.shared.global [s], [%rd1], 4;\n"
      "cp.async.mbarrier.arrive.shared.b64 [b]; mbarrier.arrive.shared.b64 %rd4, [b];\n"
      "mbarrier.pending_count.b64 %r2, %rd4; st.global.u32 [%rd1+4], %r2;\n"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n"
      "mbarrier.test_wait.shared.b64 %p1, [b], %rd4; selp.u32 %r2, 1, 0, %p1;\n"
      "st.global.u32 [%rd1+8], %r2;",
      kShared);
  run(1);
  EXPECT_EQ(ints(3), (std::vector<std::uint32_t>{0, 2, 1}));
  ASSERT_EQ(seen_.objects.size(), 5u);
  EXPECT_TRUE(seen_.objects[1].for_copies);
  EXPECT_EQ(seen_.objects[1].kind, Kind::arrive);
  EXPECT_FALSE(seen_.objects[2].for_copies);
}

TEST_F(Copies, OfOtherKindsAreRefusedByName) {
  const auto message = [&](const std::string& body) -> std::string {
    try {
      compile(body, kShared);
    } catch (const Refusal& refusal) {
      return refusal.what();
    }
    return "accepted";
  };
  EXPECT_NE(message("cp.async.bulk.tensor.3d.im2col::w;").find("'.im2col::w'"), std::string::npos);
  EXPECT_NE(message("cp.async.bulk.shared::cta.global.bulk_group [s], [%rd1], 16;")
                .find("a bulk copy of this kind"),
            std::string::npos);
  EXPECT_NE(message("cp.async.bulk.wait_all;").find("a copy of this kind"), std::string::npos);
  EXPECT_NE(message("fence.proxy.tensormap::generic.acquire.gpu;").find("a fence of this kind"),
            std::string::npos);
  EXPECT_NE(message("fence.acq_rel;").find("a fence of this kind"), std::string::npos);
  EXPECT_NE(message("cp.async.ca.shared.global [s], [%rd1], 12;").find("a copy of this size"),
            std::string::npos);
}

}  // namespace
}  // namespace warpcheck::vgpu
