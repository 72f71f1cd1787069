// The accesses of a warp and its operations, by hand, in programs that the decoder has read.
#include "vgpu/check/order/collective_order.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {
namespace {

class CollectiveOrderTest : public testing::Test {
 protected:
  void start(const std::string& body, WarpModel model = WarpModel::independent) {
    const std::string text = fmt::format(R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data)
{{
.reg .pred %p, %q;
.reg .b32 %x, %y, %z, %t;
.reg .b64 %a, %b;
ld.param.u64 %a, [data];
mov.u32 %t, %tid.x;
mul.wide.u32 %b, %t, 4;
add.u64 %a, %a, %b;
{}
ret;
}}
)",
                                         body);
    program = decode(ptx::parse(text, "test.ptx"), "k");
    link(program);
    order.reset(model);
    order.begin_launch(program, 64);
  }
  // Returns the pc of the n-th instruction with this mnemonic.
  [[nodiscard]] std::uint32_t pc_of(std::string_view mnemonic, int n = 0) const {
    for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
      if (program.source_of(pc).text == mnemonic && n-- == 0) return pc;
    }
    ADD_FAILURE() << "no " << mnemonic;
    return 0;
  }
  // Lane l accesses word first + l.
  [[nodiscard]] Access row(std::string_view mnemonic, std::uint32_t first, std::uint32_t mask = ~0u,
                           int n = 0, std::uint8_t bytes = 4) const {
    Access access;
    access.allocation = &memory.allocation();
    access.program = &program;
    access.place = place;
    access.pc = pc_of(mnemonic, n);
    access.mask = mask;
    access.space = ptx::Space::global;
    access.kind = mnemonic.starts_with("st") ? AccessKind::write : AccessKind::read;
    access.pattern = Pattern::strided;
    access.bytes = bytes;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) access.offset[lane] = (first + lane) * bytes;
    return access;
  }
  void load(std::uint32_t first, std::uint32_t mask = ~0u, int n = 0) {
    order.on_load(row_of(row("ld.global.u32", first, mask, n)));
  }
  void meet(std::string_view mnemonic, std::uint32_t mask = ~0u, std::uint32_t members = ~0u,
            std::uint32_t knowledge = 0, int n = 0) {
    order.on_collective({.program = &program,
                         .place = place,
                         .pc = pc_of(mnemonic, n),
                         .mask = mask,
                         .members = members},
                        knowledge);
  }
  // Returns whether the load of a word by `load_lane` comes before its store by `lane`.
  bool orders(unsigned load_lane, unsigned lane, std::uint32_t word, std::uint32_t first_stored) {
    return order.orders(row("st.global.u32", first_stored), lane, 4 * word, pc_of("ld.global.u32"),
                        load_lane);
  }
  bool lets_go_on(unsigned lane, unsigned by, std::uint32_t knowledge) {
    return order.lets_go_on(row("st.global.u32", 0), lane, by, knowledge);
  }

  static constexpr std::string_view kShuffle = "shfl.sync.up.b32";
  // Lane l loads word l, and stores what its neighbour has loaded.
  static constexpr const char* kShift = R"(
ld.global.u32 %x, [%a];
shfl.sync.up.b32 %y, %x, 1, 0, 0xffffffff;
st.global.u32 [%a+4], %y;)";

  Program program;
  FakeMemory memory{3, ptx::Space::global, 1024, "words"};
  WarpPlace place{.block = 2, .warp = 1, .slot = 1, .phase = 0};
  CollectiveOrder order;
};

TEST_F(CollectiveOrderTest, AStoreOfTheResultComesAfterALoadThatItWaitsFor) {
  start(kShift);
  ASSERT_TRUE(order.is_on());
  load(0);
  EXPECT_FALSE(orders(5, 4, 5, 1)) << "before the operation";
  meet(kShuffle);
  EXPECT_TRUE(orders(5, 4, 5, 1));
  EXPECT_FALSE(orders(6, 4, 5, 1)) << "that lane has loaded another word";
  EXPECT_FALSE(orders(5, 4, 60, 56)) << "a word that no lane has loaded";
}

TEST_F(CollectiveOrderTest, BothLanesMustHaveTakenPart) {
  start(kShift);
  load(0);
  meet(kShuffle, 0xff, 0xff);
  EXPECT_TRUE(orders(5, 4, 5, 1));
  EXPECT_FALSE(orders(9, 4, 9, 5)) << "the loading lane has not";
  EXPECT_FALSE(orders(5, 9, 5, 0xfffffffc)) << "the storing lane has not";
}

TEST_F(CollectiveOrderTest, LanesThatArriveLaterBelongToTheSameOperation) {
  start(kShift);
  load(0);
  meet(kShuffle, 0xffff);
  meet(kShuffle, 0xffff0000);
  EXPECT_TRUE(orders(20, 4, 20, 16));
  meet(kShuffle, 0xffff0000);
  meet(kShuffle, 0xff, 0xff);
  EXPECT_FALSE(orders(20, 4, 20, 16)) << "the latest operation of lane 4 is one without lane 20";
}

TEST_F(CollectiveOrderTest, ALoadAfterTheOperationIsNotOrdered) {
  start(kShift);
  load(0);
  meet(kShuffle);
  load(0);
  EXPECT_FALSE(orders(5, 4, 5, 1));
}

TEST_F(CollectiveOrderTest, TheOperationMustDependOnTheLoadAndTheStoreOnTheOperation) {
  start(R"(
ld.global.u32 %x, [%a];
shfl.sync.up.b32 %y, %t, 1, 0, 0xffffffff;
st.global.u32 [%a+4], %y;)");
  load(0);
  meet(kShuffle);
  EXPECT_FALSE(orders(5, 4, 5, 1)) << "the operation passes the thread's number on";
  start(R"(
ld.global.u32 %x, [%a];
shfl.sync.up.b32 %y, %x, 1, 0, 0xffffffff;
st.global.u32 [%a+4], %t;)");
  load(0);
  meet(kShuffle);
  EXPECT_FALSE(orders(5, 4, 5, 1)) << "the store is of the thread's number";
  start(R"(
ld.global.u32 %x, [%a];
shfl.sync.up.b32 %y, %x, 1, 0, 0xffffffff;
setp.ne.u32 %p, %y, 0;
@%p st.global.u32 [%a+4], %t;)");
  load(0);
  meet(kShuffle);
  EXPECT_TRUE(orders(5, 4, 5, 1)) << "the result decides that it stores";
}

TEST_F(CollectiveOrderTest, ElementsOfVectorsCountByThemselves) {
  start(R"(
ld.global.v2.u32 {%x, %z}, [%a];
shfl.sync.up.b32 %y, %x, 1, 0, 0xffffffff;
st.global.v2.u32 [%a], {%y, %t};
st.global.u32 [%a], %y;)");
  order.on_load(row_of(row("ld.global.v2.u32", 0, ~0u, 0, 8)));
  meet(kShuffle);
  const Access store = row("st.global.v2.u32", 1, ~0u, 0, 8);
  const std::uint32_t pc = pc_of("ld.global.v2.u32");
  EXPECT_TRUE(order.orders(store, 4, 40, pc, 5));
  EXPECT_FALSE(order.orders(store, 4, 44, pc, 5)) << "the stored element is another";
  EXPECT_TRUE(order.orders(row("st.global.u32", 6), 4, 40, pc, 5));
  EXPECT_FALSE(order.orders(row("st.global.u32", 7), 4, 44, pc, 5)) << "the loaded one is";
}

TEST_F(CollectiveOrderTest, ScatteredLoadsAreRememberedLaneByLane) {
  start(kShift);
  Access scattered = row("ld.global.u32", 0);
  scattered.pattern = Pattern::scattered;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) scattered.offset[lane] = 4 * (31 - lane);
  order.on_load(row_of(scattered));
  meet(kShuffle);
  EXPECT_TRUE(orders(26, 4, 5, 1));
  EXPECT_FALSE(orders(5, 4, 5, 1));
}

TEST_F(CollectiveOrderTest, AllLoadsOfTheWordByOtherLanesMustComeBefore) {
  start(R"(
ld.global.u32 %x, [%a];
ld.global.u32 %z, [%a];
shfl.sync.up.b32 %y, %x, 1, 0, 0xffffffff;
st.global.u32 [%a+4], %y;)");
  const auto orders_all = [&] { return order.orders_all(row("st.global.u32", 1), 4, 20); };
  load(0);
  EXPECT_FALSE(orders_all());
  meet(kShuffle);
  EXPECT_TRUE(orders_all());
  load(1, 1u << 4, 1);
  EXPECT_TRUE(orders_all()) << "the lane's own load";
  load(0, ~0u, 1);
  EXPECT_FALSE(orders_all()) << "a load that the store does not wait for";
  ++place.phase;
  EXPECT_TRUE(orders_all()) << "those are of an earlier phase";
}

TEST_F(CollectiveOrderTest, AResultThatDecidesABranchLetsTheLaneGoOn) {
  start(R"(
vote.sync.any.pred %p, %q, 0xffffffff;
@!%p bra DONE;
st.global.u32 [%a], %t;
DONE:)");
  meet("vote.sync.any.pred", 0xff, 0xff, 7);
  EXPECT_TRUE(lets_go_on(2, 5, 7));
  EXPECT_FALSE(lets_go_on(2, 5, 8)) << "lane 5 has learned something since";
  EXPECT_FALSE(lets_go_on(2, 9, 7)) << "lane 9 took no part";
  EXPECT_FALSE(lets_go_on(9, 5, 7));
}

TEST_F(CollectiveOrderTest, ABranchMustLieOnEveryPathToTheAccess) {
  start(R"(
setp.eq.u32 %q, %t, 3;
vote.sync.any.pred %p, %q, 0xffffffff;
@%q bra STORE;
@!%p bra DONE;
STORE:
st.global.u32 [%a], %t;
DONE:)");
  meet("vote.sync.any.pred", ~0u, ~0u, 7);
  EXPECT_FALSE(lets_go_on(2, 5, 7));
}

TEST_F(CollectiveOrderTest, ABlockAndALaunchBeginWithoutLoads) {
  start(kShift);
  load(0);
  meet(kShuffle);
  order.begin_block({.block = 3, .warp = 0, .slot = 0, .phase = 0});
  EXPECT_TRUE(orders(5, 4, 5, 1)) << "a block in another slot";
  CollectiveOrder suspended = order.suspend();
  EXPECT_FALSE(order.is_on());
  order = std::move(suspended);
  EXPECT_TRUE(orders(5, 4, 5, 1));
  order.begin_block({.block = 3, .warp = 0, .slot = 1, .phase = 0});
  EXPECT_FALSE(orders(5, 4, 5, 1));
}

TEST_F(CollectiveOrderTest, WarpsInLockstepNeedIt) {
  start(kShift, WarpModel::lockstep);
  EXPECT_FALSE(order.is_on());
  EXPECT_FALSE(orders(5, 4, 5, 1));
}

}  // namespace
}  // namespace warpcheck::vgpu
