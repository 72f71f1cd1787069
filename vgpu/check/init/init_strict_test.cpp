// Compare-and-swaps that expect what was read, uses that reach device memory alone, and writes that
// are not known.
#include <string>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/init/init_testing.hpp"

namespace warpcheck::vgpu {
namespace {

class GuessTest : public InitTest {
 protected:
  // Lanes 0 and 1 swap the first word; lane 1 finds what lane 0 has left there.
  Access swap(std::uint32_t guessed) {
    launch.uniform(kRead, global, 0, 0, 3, 0, 3);
    Access row = launch.access(kAtomic, global, 0, 0, 4);
    row.mask = row.undefined = 3;
    row.pattern = Pattern::uniform;
    row.origin = 3;
    row.is_partial = true;
    row.undefined_bits[0][0] = row.undefined_bits[0][1] = 0xffff'0000;
    row.guessed = guessed;
    row.unequal = guessed & 2;
    return launch.emit(row);
  }
};

TEST_F(GuessTest, ASwapLeavesTheUndefinedBitsOfItsValue) {
  const Access row = swap(3);
  EXPECT_EQ(row.undefined, 3u);
  EXPECT_EQ(row.undefined_bits[0][0], 0xffff'ffffu);
  EXPECT_EQ(row.undefined_bits[0][1], 0xffff'0000u);
  host(false, 0, 2);
  EXPECT_TRUE(findings().empty());
  host(false, 0, 4);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].severity, Severity::note);  // half a word, as padding is
}

TEST_F(GuessTest, AnyOtherSwapLeavesNothingDefined) {
  EXPECT_EQ(swap(0).undefined, 3u);
  host(false, 0, 2);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].severity, Severity::error);
}

class StrictTest : public InitTest {
 protected:
  StrictTest() {
    CheckerSet set;
    set.strict_init = true;
    checker.configure(set);
  }
};

TEST_F(StrictTest, AStoreToGlobalOrSharedMemoryIsAUse) {
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(local, 4, 1, 3);
  EXPECT_TRUE(findings().empty());
  store_undefined(shared, 5, 1, 3);
  store_undefined(global, 6, 1, 3);
  store_undefined(global, 6, 1, 3);
  ASSERT_EQ(findings().size(), 2u);
  EXPECT_EQ(findings()[1].accesses[0].line, 103u);
  EXPECT_EQ(findings()[1].accesses[1].line, 106u);
  EXPECT_EQ(findings()[1].accesses[1].role, "write");
  EXPECT_EQ(findings()[1].count, 2u);
  EXPECT_EQ(findings()[1].message, "(2) stores a value made from bytes that nothing has written");
}

TEST_F(StrictTest, ACopyWithinTheDeviceIsAUse) {
  FakeMemory target{4, ptx::Space::global, 1024};
  unwritten.on_allocate(target.allocation());
  host(true, 0, 16);
  DeviceCopy copy{&target.allocation(), &global.allocation(), 0, 0, 16};
  copy_on_device(copy);
  EXPECT_TRUE(findings().empty());
  copy.bytes = 32;
  copy_on_device(copy);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].object, "g[16], first of a copy of 32 bytes");
}

TEST_F(InitTest, ByDefaultOnlyMovesThem) {
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 6, 1, 3);
  EXPECT_TRUE(findings().empty());
}

TEST_F(InitTest, WhatMayHaveBeenWrittenIsNotUnwritten) {
  FakeMemory later{4, ptx::Space::global, 64};
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 6, 1, 3);
  unwritten.on_unknown_writes();
  unwritten.on_allocate(later.allocation());
  host(false, 0, 1024);
  EXPECT_TRUE(findings().empty());
  host({&later.allocation(), 0, 64, false, false});
  EXPECT_EQ(findings().size(), 1u);
}

TEST_F(InitTest, TellsOtherCheckersWhatStoresHaveLeftUndefined) {
  checker.configure({});
  EXPECT_FALSE(reporter.holds_undefined(global.allocation(), 0));
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 6, 2, 3);
  EXPECT_FALSE(reporter.holds_undefined(global.allocation(), 0));
  EXPECT_TRUE(reporter.holds_undefined(global.allocation(), 4));
  launch.strided(kWrite, global, 0, 0, 7);
  EXPECT_FALSE(reporter.holds_undefined(global.allocation(), 4));
}

}  // namespace
}  // namespace warpcheck::vgpu
