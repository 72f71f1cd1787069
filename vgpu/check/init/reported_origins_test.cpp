#include "vgpu/check/init/reported_origins.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "vgpu/check/init/init_testing.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// A kernel that runs after `program`, and uses at pc 8 what it loads from global memory at pc 7.
class LaterKernelTest : public InitTest {
 protected:
  LaterKernelTest() {
    other.kernel = "_Z5otherPi";
    other.files = {"", "other.cu"};
  }
  void load_and_branch() {
    second.start({1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(second.strided(kRead, global, 0, 0, 7).origin, 7u);
    checker.on_undefined_use({UndefinedUse::Kind::branch, &other, second.place(0, 0), 8, 1, 7});
  }

  Program other = fake_program();
  FakeLaunch second{other, {&reporter, &checker, &unwritten}};
  const AccessSide load{"read", {0, 0, 0}, {0, 0, 0}, "other.cu", 107, "op7", "", 0, 7};
  const AccessSide use{"branch", {0, 0, 0}, {0, 0, 0}, "other.cu", 108, "op8", "", 0, 8};
};

TEST_F(LaterKernelTest, AUseNamesTheLoadOfTheKernelThatHasStoredTheValue) {
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 4, ~0u, 3);
  load_and_branch();
  ASSERT_EQ(findings().size(), 1u);
  const AccessSide origin{"read", {0, 0, 0}, {0, 0, 0}, "k.cu", 103, "op3", "", 0, 3};
  EXPECT_EQ(findings()[0].accesses, (std::vector{load, use, origin}));
  EXPECT_EQ(findings()[0].kernel, "other");
  EXPECT_EQ(findings()[0].space, "global");
  EXPECT_EQ(findings()[0].object, "g[0], 4 bytes");
  EXPECT_EQ(findings()[0].message,
            "(2) branches on a value that kernel k has stored, made from bytes that nothing had "
            "written before (3)");
}

TEST_F(LaterKernelTest, AUseNamesTheShuffleOfTheKernelThatHasStoredTheValue) {
  program.code[3].opcode = ptx::Opcode::shfl_;
  store_undefined(global, 4, ~0u, 3);
  load_and_branch();
  ASSERT_EQ(findings().size(), 1u);
  const AccessSide shuffle{"shuffle", {0, 0, 0}, {0, 0, 0}, "k.cu", 103, "op3", "", 0, 3};
  EXPECT_EQ(findings()[0].accesses, (std::vector{load, use, shuffle}));
  EXPECT_EQ(findings()[0].message,
            "(2) branches on a value that kernel k has stored, made from the register of a lane "
            "that takes no part in (3): it is not in the mask, or has exited");
}

TEST_F(LaterKernelTest, AKernelThatCopiesTheValueIsNotItsOrigin) {
  host(true, 0, 1024);
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 4, ~0u, 3);
  second.start({1, 1, 1}, {32, 1, 1});
  Access row = second.strided(kRead, global, 0, 0, 7);
  row.kind = kWrite;
  row.pc = 8;
  second.emit(row);
  host(false, 0, 1024);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].kernel, "k");
  EXPECT_EQ(findings()[0].accesses[0].line, 103u);
}

TEST_F(LaterKernelTest, TheThreadOfAnOriginIsOneOfItsOwnLaunch) {
  launch.strided(kRead, shared, 0, 1, 3);
  store_undefined(global, 4, ~0u, 3);
  second.start({1, 1, 1}, {32, 1, 1});
  host(false, 0, 128);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].accesses[0],
            (AccessSide{"read", {0, 0, 0}, {32, 0, 0}, "k.cu", 103, "op3", "", 0, 3}));
}

// What one load reads may come from elsewhere the next time.
TEST_F(LaterKernelTest, AUseNamesItsOwnLoadWhereNothingHasStoredAValue) {
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 4, ~0u, 3);
  second.start({1, 1, 1}, {32, 1, 1});
  second.strided(kRead, global, 0, 0, 7);
  second.strided(kRead, global, 0, 0, 7, 64);
  checker.on_undefined_use({UndefinedUse::Kind::branch, &other, second.place(0, 0), 8, 1, 7});
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].accesses, (std::vector{load, use}));
  EXPECT_EQ(findings()[0].message,
            "(2) branches on a value made from bytes that nothing has written");
}

}  // namespace
}  // namespace warpcheck::vgpu
