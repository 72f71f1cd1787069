// Clusters and bulk copies: their results, and the events that the machine reports.
#include "vgpu/machine/sync/sync_testing.hpp"

namespace warpcheck::vgpu {
namespace {

using Reason = BarrierDivergence::Reason;

constexpr const char* kShared = ".shared .align 16 .b8 s[1024];\n.shared .align 8 .b8 b[16];\n";

class Clusters : public SyncTest {};

// %r2 = block * 4 and %rd4 = out + %r2.
constexpr const char* kPerBlock =
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x;\n"
    "mad.lo.u32 %r2, %r3, %r4, %r2; mul.wide.u32 %rd5, %r2, 64; add.s64 %rd4, %rd1, %rd5;\n";

TEST_F(Clusters, KnowWhereTheirBlocksAre) {
  const std::vector<std::string> specials = {
      "%cluster_ctaid.x",  "%cluster_ctaid.y",  "%cluster_ctarank", "%cluster_nctarank",
      "%cluster_nctaid.x", "%cluster_nctaid.y", "%clusterid.x",     "%clusterid.y",
      "%nclusterid.x",     "%nclusterid.y"};
  std::string body = kPerBlock;
  for (std::size_t i = 0; i < specials.size(); ++i) {
    body += "mov.u32 %r9, " + specials[i] + "; st.global.u32 [%rd4+" + std::to_string(4 * i) +
            "], %r9;\n";
  }
  body +=
      "mov.pred %p1, %is_explicit_cluster; selp.u32 %r9, 1, 0, %p1; st.global.u32 [%rd4+40], %r9;";
  compile(body);
  cluster_ = {2, 2, 1};
  run({4, 2, 1}, {1, 1, 1});
  const std::vector<std::uint32_t> out = ints(8 * 16);
  const auto row = [&](std::size_t block) {
    return std::vector<std::uint32_t>(out.begin() + static_cast<std::ptrdiff_t>(block * 16),
                                      out.begin() + static_cast<std::ptrdiff_t>(block * 16 + 11));
  };
  EXPECT_EQ(row(0), (std::vector<std::uint32_t>{0, 0, 0, 4, 2, 2, 0, 0, 2, 1, 1}));
  EXPECT_EQ(row(1), (std::vector<std::uint32_t>{1, 0, 1, 4, 2, 2, 0, 0, 2, 1, 1}));
  EXPECT_EQ(row(6), (std::vector<std::uint32_t>{0, 1, 2, 4, 2, 2, 1, 0, 2, 1, 1}));
  EXPECT_EQ(row(7), (std::vector<std::uint32_t>{1, 1, 3, 4, 2, 2, 1, 0, 2, 1, 1}));
  cluster_ = {};
  run({2, 1, 1}, {1, 1, 1});
  EXPECT_EQ(ints(27)[16 + 3], 1u);
  EXPECT_EQ(ints(27)[16 + 6], 1u);  // each block is a cluster of its own
  EXPECT_EQ(ints(27)[16 + 10], 0u);
}

TEST_F(Clusters, PlacesAreVectorsToo) {
  compile(std::string(kPerBlock) +
          "mov.v4.u32 {%r5,%r6,%r7,%r8}, %ctaid; st.global.v4.u32 [%rd4], {%r5,%r6,%r7,%r8};\n"
          "mov.v4.u32 {%r5,%r6,%r7,%r8}, %nctaid; st.global.v4.u32 [%rd4+16], {%r5,%r6,%r7,%r8};\n"
          "mov.v4.u32 {%r5,%r6,%r7,%r8}, %cluster_nctaid;\n"
          "st.global.v4.u32 [%rd4+32], {%r5,%r6,%r7,%r8};\n"
          "mov.u32 %r5, %tid.w; st.global.u32 [%rd4+48], %r5;");
  cluster_ = {2, 1, 1};
  run({4, 1, 1}, {1, 1, 1});
  const std::vector<std::uint32_t> out = ints(4 * 16);
  EXPECT_EQ(std::vector<std::uint32_t>(out.begin() + 48, out.begin() + 61),
            (std::vector<std::uint32_t>{3, 0, 0, 0, 4, 1, 1, 0, 2, 1, 1, 0, 0}));
}

TEST_F(Clusters, AddressesHoldTheRank) {
  compile(std::string(kPerBlock) +
              "mov.u32 %r5, s; cvt.u64.u32 %rd6, %r5; cvta.shared.u64 %rd6, %rd6;\n"
              "mov.u32 %r6, %cluster_ctarank; xor.b32 %r7, %r6, 1; mapa.u64 %rd7, %rd6, %r6;\n"
              "mapa.u64 %rd8, %rd6, %r7; getctarank.u64 %r10, %rd6; getctarank.u64 %r11, %rd8;\n"
              "isspacep.shared::cta %p1, %rd6; isspacep.shared %p2, %rd7;\n"
              "isspacep.shared::cta %p3, %rd8; isspacep.shared::cluster %p4, %rd8;\n"
              "isspacep.global %p5, %rd8; @%p5 trap;\n"
              "selp.u32 %r12, 1, 0, %p1; selp.u32 %r13, 1, 0, %p2; selp.u32 %r14, 1, 0, %p3;\n"
              "selp.u32 %r15, 1, 0, %p4; st.shared.u32 [s], %r6;\n"
              "barrier.cluster.arrive; barrier.cluster.wait; ld.u32 %r16, [%rd8];\n"
              "mapa.shared::cluster.u32 %r8, s, %r6; ld.shared::cluster.u32 %r17, [%r8];\n"
              "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
              "st.global.v4.u32 [%rd4], {%r10,%r11,%r12,%r13};\n"
              "st.global.v4.u32 [%rd4+16], {%r14,%r15,%r16,%r17};",
          kShared);
  cluster_ = {2, 1, 1};
  EXPECT_EQ(run({2, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
  const std::vector<std::uint32_t> out = ints(32);
  EXPECT_EQ(std::vector<std::uint32_t>(out.begin(), out.begin() + 8),
            (std::vector<std::uint32_t>{0, 1, 1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(std::vector<std::uint32_t>(out.begin() + 16, out.begin() + 24),
            (std::vector<std::uint32_t>{1, 0, 1, 1, 0, 1, 0, 1}));
  EXPECT_TRUE(seen_.faults.empty());
  ASSERT_EQ(seen_.cluster_barriers.size(), 8u);
  EXPECT_EQ(seen_.cluster_barriers.back().phase, 1u);
}

TEST_F(Clusters, ProgramsClearAndFlipBitsOfTheRank) {
  compile(std::string(kPerBlock) +
              "mov.u32 %r5, s; mov.u32 %r8, %cluster_ctarank; st.shared.u32 [%r5], %r8;\n"
              "and.b32 %r6, %r5, 0xfeffffff; xor.b32 %r7, %r5, 0x1000000; shr.u32 %r9, %r5, 24;\n"
              "cvt.u64.u32 %rd6, %r5; cvta.shared.u64 %rd6, %rd6; xor.b64 %rd7, %rd6, 0x1000000;\n"
              "barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r10, [%r5];\n"
              "ld.shared::cluster.u32 %r11, [%r6]; ld.shared::cluster.u32 %r12, [%r7];\n"
              "ld.u32 %r13, [%rd6]; ld.u32 %r14, [%rd7]; ld.shared.u32 %r15, [s];\n"
              "ld.shared::cluster.u32 %r16, [s];\n"
              "barrier.cluster.arrive; barrier.cluster.wait;\n"
              "st.global.v4.u32 [%rd4], {%r9,%r10,%r11,%r12};\n"
              "st.global.v4.u32 [%rd4+16], {%r13,%r14,%r15,%r16};",
          kShared);
  cluster_ = {4, 1, 1};
  EXPECT_EQ(run({4, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
  EXPECT_TRUE(seen_.faults.empty());
  const std::vector<std::uint32_t> out = ints(4 * 16);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const auto row = out.begin() + 16 * rank;
    const std::uint32_t even = rank & ~1u, other = rank ^ 1;
    EXPECT_EQ(std::vector<std::uint32_t>(row, row + 8),
              (std::vector<std::uint32_t>{rank, rank, even, other, rank, other, rank, rank}));
  }
}

// cuda::ptx::cp_async_mbarrier_arrive: no state space, and a register of 32 bits.
TEST_F(Clusters, AnArrivalBehindCopiesTakesAnAddressOf32BitsAsOneInSharedMemory) {
  compile(std::string(kPerBlock) +
              "mov.u32 %r5, o; mbarrier.init.shared.b64 [%r5], 1;\n"
              "cp.async.mbarrier.arrive.noinc.b64 [%r5];\n"
              "mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 0; selp.u32 %r6, 1, 0, %p1;\n"
              "st.global.u32 [%rd4], %r6; barrier.cluster.arrive; barrier.cluster.wait;",
          ".shared .align 8 .b64 o;\n");
  cluster_ = {2, 1, 1};
  EXPECT_EQ(run({2, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
  EXPECT_TRUE(seen_.faults.empty());
  EXPECT_EQ(ints(17)[0], 1u);
  EXPECT_EQ(ints(17)[16], 1u);
}

TEST_F(Clusters, AnotherBlocksAddressIsNoneOfTheOwnMemory) {
  compile(
      "mov.u32 %r5, s; xor.b32 %r6, %r5, 0x1000000; ld.shared.u32 %r7, [%r6];\n"
      "barrier.cluster.arrive; barrier.cluster.wait;",
      kShared);
  cluster_ = {2, 1, 1};
  run({2, 1, 1}, {1, 1, 1});
  ASSERT_EQ(seen_.faults.size(), 2u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::out_of_bounds);
  EXPECT_EQ(seen_.faults[1].kind, Fault::Kind::out_of_bounds);
}

TEST_F(Clusters, AreResidentTogether) {
  // Each block waits for the next one of its cluster, although only one block can be resident.
  limits_.resident_blocks = 1;
  compile("barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd1], 7;");
  cluster_ = {4, 1, 1};
  EXPECT_EQ(run({8, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 7u);
}

TEST_F(Clusters, AccessesThatLeadNowhereFault) {
  compile("mapa.shared::cluster.u32 %r5, s, 3; ld.shared::cluster.u32 %r6, [%r5];", kShared);
  cluster_ = {2, 1, 1};
  run({2, 1, 1}, {1, 1, 1});
  ASSERT_EQ(seen_.faults.size(), 2u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::no_such_block);
  EXPECT_EQ(seen_.faults[0].block, 3u);
  EXPECT_EQ(seen_.faults[0].space, ptx::Space::shared);

  // Block 0 runs to its end first.
  compile(
      "mov.u32 %r6, %cluster_ctarank; setp.eq.u32 %p1, %r6, 0; @%p1 bra E;\n"
      "mapa.shared::cluster.u32 %r5, s, 0; st.shared::cluster.u32 [%r5+8], 1;\nE:",
      kShared);
  run({2, 1, 1}, {1, 1, 1});
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::block_exited);
  EXPECT_EQ(seen_.faults[0].block, 0u);
  EXPECT_EQ(seen_.faults[0].address, 8u);

  compile(
      "mov.u32 %r6, %cluster_ctarank; xor.b32 %r6, %r6, 1; mapa.shared::cluster.u32 %r5, s, %r6;\n"
      "st.shared::cluster.u32 [%r5+2048], 1; barrier.cluster.arrive; barrier.cluster.wait;",
      kShared);
  run({2, 1, 1}, {1, 1, 1});
  ASSERT_EQ(seen_.faults.size(), 2u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::out_of_bounds);
  EXPECT_EQ(seen_.faults[0].address, 2048u);
}

TEST_F(Clusters, MisuseOfTheBarrierIsReported) {
  compile("barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::arrived_already);
  compile("barrier.cluster.wait;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::not_arrived);
}

TEST_F(Clusters, ABlockThatCannotGoOnStopsTheOthers) {
  compile(
      "mov.u32 %r6, %cluster_ctarank; setp.eq.u32 %p1, %r6, 0; @%p1 bra E;\n"
      "setp.lt.u32 %p2, %r1, 32; @!%p2 bra E; bar.sync 0; ret;\n"
      "E: barrier.cluster.arrive; barrier.cluster.wait;");
  cluster_ = {2, 1, 1};
  EXPECT_EQ(run({2, 1, 1}, {64, 1, 1}).end, Outcome::End::deadlock);
  ASSERT_EQ(seen_.waiting.size(), 4u);
  int of_cluster = 0;
  for (const Waiting& one : seen_.waiting) {
    if (one.kind != Waiting::Kind::cluster) continue;
    ++of_cluster;
    EXPECT_EQ(one.arrived, 96u);
    EXPECT_EQ(one.expected, 128u);
  }
  EXPECT_EQ(of_cluster, 3);
}

class BulkCopies : public SyncTest {};

constexpr const char* kFill =
    "shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; add.u32 %r4, %r1, 5;\n"
    "st.shared.u32 [%r3], %r4; fence.proxy.async; bar.sync 0;\n"
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra E;\n";

TEST_F(BulkCopies, GoOutAndReduce) {
  compile(std::string(kFill) +
              "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64;\n"
              "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1+32], [s], 32;\n"
              "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u64 [%rd1+64], [s], 16;\n"
              "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\nE:",
          kShared);
  run(16);
  const std::vector<std::uint32_t> out = ints(20);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(out[i], i + 5);
  for (std::uint32_t i = 8; i < 16; ++i) EXPECT_EQ(out[i], i + 5 + i - 8 + 5);
  EXPECT_EQ(out[16], 0u);
  ASSERT_EQ(seen_.commits.size(), 1u);
  EXPECT_TRUE(seen_.commits[0].bulk);
  ASSERT_EQ(seen_.waits.size(), 1u);
  EXPECT_TRUE(seen_.waits[0].bulk);
  EXPECT_TRUE(seen_.waits[0].reads_only);
  int copied = 0;
  for (const Access& access : seen_.accesses) {
    if (!access.async_proxy) continue;
    ++copied;
    EXPECT_TRUE(access.asynchronous);
    EXPECT_EQ(access.object, nullptr);
  }
  EXPECT_EQ(copied, 2 * 4 + 2 * 8 + 2 * 2);
}

TEST_F(BulkCopies, ComeInAndTellTheirObject) {
  compile(
      "st.global.u32 [%rd1+16], 9; mbarrier.init.shared.b64 [b], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %rd4, [b], 32;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 16, [b];\n"
      "mbarrier.test_wait.shared.b64 %p1, [b], %rd4; selp.u32 %r5, 1, 0, %p1;\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+16], [%rd1+16], 16, [b];\n"
      "mbarrier.test_wait.shared.b64 %p1, [b], %rd4; selp.u32 %r6, 1, 0, %p1;\n"
      "ld.shared.u32 %r7, [s+16]; st.global.v4.u32 [%rd1], {%r5,%r6,%r7,%r7};",
      kShared);
  run(1);
  EXPECT_EQ(ints(3), (std::vector<std::uint32_t>{0, 1, 9}));
  std::size_t completed = 0;
  for (const BarrierObject& event : seen_.objects) completed += event.completes ? 1 : 0;
  EXPECT_EQ(completed, 2u);
}

TEST_F(BulkCopies, ReachSeveralBlocks) {
  compile(
      "mov.u32 %r6, %cluster_ctarank; mbarrier.init.shared.b64 [b], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %rd4, [b], 16;\n"
      "barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %p1, %r6, 0; @%p1 bra W;\n"
      ".reg .b16 %h<2>; st.global.u32 [%rd1+64], 21; fence.proxy.async; mov.u16 %h1, 6;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], "
      "[%rd1+64], 16, [b], %h1; bra E;\n"
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], 0; @!%p2 bra W;\n"
      "ld.shared.u32 %r7, [s]; mul.wide.u32 %rd5, %r6, 4; add.s64 %rd5, %rd5, %rd1;\n"
      "st.global.u32 [%rd5], %r7;\nE: barrier.cluster.arrive; barrier.cluster.wait;",
      std::string(kShared));
  cluster_ = {3, 1, 1};
  EXPECT_EQ(run({3, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
  EXPECT_EQ(ints(3), (std::vector<std::uint32_t>{0, 21, 21}));
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(BulkCopies, StoresAndReductionsAtANeighbour) {
  compile(
      "mov.u32 %r6, %cluster_ctarank; xor.b32 %r7, %r6, 1; mbarrier.init.shared.b64 [b], 1;\n"
      "st.shared.u32 [s+32], 100; mbarrier.arrive.expect_tx.shared.b64 %rd4, [b], 20;\n"
      "barrier.cluster.arrive; barrier.cluster.wait; add.u32 %r10, %r6, 40;\n"
      "mapa.shared::cluster.u32 %r8, s, %r7; mapa.shared::cluster.u32 %r9, b, %r7;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r8], "
      "{%r10,%r10,%r10,%r10}, [%r9];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r8+32], "
      "%r10, [%r9];\n"
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], 0; @!%p2 bra W;\n"
      "ld.shared.u32 %r11, [s+12]; ld.shared.u32 %r12, [s+32]; mul.wide.u32 %rd5, %r6, 8;\n"
      "add.s64 %rd5, %rd5, %rd1; st.global.v2.u32 [%rd5], {%r11,%r12};\n"
      "barrier.cluster.arrive; barrier.cluster.wait;",
      kShared);
  cluster_ = {2, 1, 1};
  EXPECT_EQ(run({2, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
  EXPECT_EQ(ints(4), (std::vector<std::uint32_t>{41, 141, 40, 140}));
}

TEST_F(BulkCopies, OfAnOddSizeStopTheLaunch) {
  compile(
      "mov.u32 %r5, 24; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], %r5;\n"
      "cp.async.bulk.commit_group;",
      kShared);
  const Outcome outcome = run(1);
  EXPECT_EQ(outcome.end, Outcome::End::trap);
  EXPECT_EQ(outcome.cause, Trap::Cause::copy_bytes);
}

}  // namespace
}  // namespace warpcheck::vgpu
