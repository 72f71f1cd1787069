// Accesses outside of the object that their address was made from: in shared memory, and in the
// memory that a launch's parameters point to.
#include <array>
#include <span>

#include "vgpu/machine/sync/sync_testing.hpp"

namespace warpcheck::vgpu {
namespace {

class ProvenanceObjectsTest : public SyncTest {
 protected:
  static constexpr const char* kArrays =
      ".shared .align 4 .b8 a[128];\n.shared .align 4 .b8 b[128];\n.shared .align 4 .b8 c[128];\n";
  // %r4 = address of b[thread], %r5 = 7.  The code names `a` first, so that it comes first in
  // memory.
  static constexpr const char* kFill =
      "mov.u32 %r9, a;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, b;\nadd.s32 %r4, %r3, %r2;\n"
      "mov.u32 %r5, 7;\n"
      "st.shared.u32 [%r4-128], %r5;\n";  // before b: dropped

  // A kernel of three pointers, in %rd1 to %rd3, of one thread.
  Outcome run_with(const std::array<std::uint64_t, 3>& pointers, const std::string& body) {
    program_ =
        decode(ptx::parse(".version 8.6\n.target sm_90\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 r)\n{\n"
                          ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\n"
                          "ld.param.u64 %rd2, [q];\nld.param.u64 %rd3, [r];\nmov.u32 %r1, 5;\n" +
                              body + "\nret;\n}\n",
                          "test.ptx"),
               "k");
    link(program_);
    return run_again_with(pointers);
  }
  Outcome run_again_with(const std::array<std::uint64_t, 3>& pointers) {
    seen_ = {};
    Launch launch;
    launch.program = &program_;
    launch.parameters = std::as_bytes(std::span(pointers));
    Observer* const observers[] = {&seen_};
    DefaultPolicy policy;
    return machine_.run(launch, model_, policy, observers, limits_);
  }

  Allocation* zeros(std::uint32_t bytes) {
    Allocation* const allocation = memory_.allocate(bytes);
    std::memset(allocation->data, 0, bytes);
    return allocation;
  }
};

TEST_F(ProvenanceObjectsTest, AnArrayOfSharedMemoryEndsWhereTheNextBegins) {
  compile(std::string(kFill) +
              "st.shared.u32 [%r4], %r5;\nld.shared.u32 %r6, [%r4+4];\nst.global.u32 [%rd2], %r6;\n"
              "st.shared.u32 [a], %r5;\nst.shared.u32 [c], %r5;",
          kArrays);
  run(32);
  EXPECT_EQ(ints(32)[30], 7u);
  EXPECT_EQ(ints(32)[31], 0u);  // c[0]
  ASSERT_EQ(seen_.faults.size(), 33u);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(seen_.faults[lane].kind, Fault::Kind::out_of_bounds);
    EXPECT_EQ(seen_.faults[lane].lane, lane);
    EXPECT_EQ(seen_.faults[lane].symbol->name, "b");
    EXPECT_EQ(seen_.faults[lane].address, 4 * lane);
  }
  EXPECT_EQ(seen_.faults[32].access, AccessKind::read);
  EXPECT_EQ(seen_.faults[32].lane, 31u);
}

// Scattered rows, and rows of which only some lanes are inside the object.
TEST_F(ProvenanceObjectsTest, EveryLaneByItself) {
  compile(
      "mov.u32 %r3, b;\nmul.lo.u32 %r2, %r1, %r1;\nshl.b32 %r2, %r2, 2;\n"
      "add.s32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r1;\nst.shared.u32 [c+124], %r1;\n"
      "sub.s32 %r4, %r3, %r2;\nld.shared.u32 %r5, [%r4+124];",
      kArrays);
  run(8);  // squares: lanes 6 and 7 leave b, for c
  ASSERT_EQ(seen_.faults.size(), 4u);
  for (const std::size_t i : {0, 1}) {
    EXPECT_EQ(seen_.faults[i].lane, 6 + i);
    EXPECT_EQ(seen_.faults[i].access, AccessKind::write);
    EXPECT_EQ(seen_.faults[2 + i].lane, 6 + i);
    EXPECT_EQ(seen_.faults[2 + i].access, AccessKind::read);
  }
}

// Machine code reuses the resolved address of its accesses, also in another launch.
TEST_F(ProvenanceObjectsTest, AnArrayOfSharedMemoryIsMeantInOneLaunchAndNotInAnother) {
  limits_.compile = Compile::at_once;
  Allocation *const a = zeros(64), *const b = zeros(64);
  const std::string stores =
      ".shared .align 4 .b8 s[128];\n.shared .align 4 .b8 t[128];\n"
      "mov.u64 %rd4, s;\nadd.s64 %rd5, %rd4, %rd1;\nsub.s64 %rd6, %rd5, %rd2;\n"
      "sub.s64 %rd7, %rd6, %rd3;\nst.shared.u32 [%rd7], %r1;\nst.shared.u32 [t], %r1;";
  run_with({a->address, b->address, a->address - b->address}, stores);
  EXPECT_EQ(seen_.faults.size(), 0u);
  const auto behind = static_cast<std::uint64_t>(-128);
  run_again_with({a->address, b->address, a->address - b->address + behind});  // t, and s perhaps
  EXPECT_EQ(seen_.faults.size(), 0u);
  for (int launch = 0; launch < 2; ++launch) {
    run_again_with({a->address, a->address, behind});
    ASSERT_EQ(seen_.faults.size(), 1u);
    EXPECT_EQ(seen_.faults[0].symbol->name, "s");
    EXPECT_EQ(seen_.faults[0].address, 128u);
    run_again_with({a->address, a->address, 0});
    EXPECT_EQ(seen_.faults.size(), 0u);
  }
}

TEST_F(ProvenanceObjectsTest, AnotherAllocationIsNotMeant) {
  Allocation *const a = zeros(64), *const b = zeros(64), *const c = zeros(64);
  const std::uint64_t distance = b->address - a->address;
  run_with({a->address, distance, c->address},
           "add.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], %r1;\n"
           "st.global.u32 [%rd3], %r1;");
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::out_of_bounds);
  EXPECT_EQ(seen_.faults[0].meant, a);
  EXPECT_EQ(seen_.faults[0].nearest, b);
  EXPECT_EQ(seen_.faults[0].address, b->address);
  EXPECT_EQ(b->data[0], std::byte{0});
  EXPECT_EQ(c->data[0], std::byte{5});
}

TEST_F(ProvenanceObjectsTest, ADistanceOfTwoPointersLeadsToTheOther) {
  Allocation *const a = zeros(64), *const b = zeros(64), *const c = zeros(64);
  const std::string moves =
      "sub.s64 %rd4, %rd2, %rd1;\nadd.s64 %rd5, %rd3, %rd4;\n"  // r + (q - p)
      "st.global.u32 [%rd5], %r1;\nshr.s64 %rd6, %rd4, 2;\nshl.b64 %rd7, %rd6, 2;\n"
      "add.s64 %rd8, %rd3, %rd7;\nst.global.u32 [%rd8+4], %r1;";
  run_with({a->address, b->address, a->address}, moves);
  EXPECT_EQ(seen_.faults.size(), 0u);
  EXPECT_EQ(b->data[0], std::byte{5});
  EXPECT_EQ(b->data[4], std::byte{5});
  // If both pointers are in one allocation, their difference is a number like any other.
  run_with({a->address, a->address + 64, c->address}, moves);
  ASSERT_EQ(seen_.faults.size(), 2u);
  const std::uint64_t between = c->address - b->address;
  run_with({a->address, a->address + 8, b->address},
           "sub.s64 %rd4, %rd2, %rd1;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5+" +
               std::to_string(between) + "], %r1;");
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].meant, b);
}

// A program that counts from another element passes a pointer to the middle of an allocation.
TEST_F(ProvenanceObjectsTest, APointerToTheMiddleIsSureWhenItHasBeenUsed) {
  Allocation *const a = zeros(4096), *const b = zeros(64);
  const std::uint64_t middle = a->address + 1024, distance = b->address - middle;
  const std::string use =
      "add.s64 %rd4, %rd1, %rd2;\nadd.s64 %rd4, %rd4, %rd3;\nst.global.u32 [%rd4], %r1;\n";
  run_with({middle, distance, 0}, use);
  EXPECT_EQ(seen_.faults.size(), 0u);
  run_with({middle, 8, 0}, use + "add.s64 %rd3, %rd3, " + std::to_string(distance) + ";\n" + use);
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].meant, a);
}

// Machine code keeps the resolved addresses of the last launch if they are right for the next one.
class KeptSites : public ProvenanceObjectsTest {
 protected:
  KeptSites() { limits_.compile = Compile::at_once; }
  void expect_fault(Fault::Kind kind, std::uint64_t address) const {
    ASSERT_EQ(seen_.faults.size(), 1u);
    EXPECT_EQ(seen_.faults[0].kind, kind);
    EXPECT_EQ(seen_.faults[0].address, address);
  }
  static constexpr const char* kTwoStores =
      "add.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], %r1;\n"
      "add.s64 %rd5, %rd1, %rd3;\nst.global.u32 [%rd5], %r1;";
};

TEST_F(KeptSites, AFreedAllocationIsNotFoundAgain) {
  Allocation *const a = zeros(64), *const b = zeros(64);
  run_with({a->address, 0, 4}, kTwoStores);
  run_again_with({b->address, 0, 4});
  EXPECT_EQ(seen_.faults.size(), 0u);
  EXPECT_EQ(b->data[4], std::byte{5});
  const std::uint64_t freed = b->address;
  memory_.free(b);
  run_again_with({freed, 0, a->address - freed});
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::use_after_free);
  EXPECT_EQ(seen_.faults[0].address, freed);
}

TEST_F(KeptSites, AnAllocationMayHaveBecomeReadOnly) {
  Allocation* const a = zeros(64);
  run_with({a->address, 0, 0}, "add.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], %r1;");
  EXPECT_EQ(seen_.faults.size(), 0u);
  a->read_only = true;
  run_again_with({a->address, 0, 0});
  expect_fault(Fault::Kind::read_only, a->address);
}

// The memory of the next trial has the same address, and even the same Allocation object.
TEST_F(KeptSites, AnAllocationMayHaveAnotherSizeAndOtherBytes) {
  const std::uint64_t address = zeros(64)->address;
  run_with({address, 0, 32}, kTwoStores);
  EXPECT_EQ(seen_.faults.size(), 0u);
  memory_.reset();
  Allocation* const larger = zeros(4096);
  ASSERT_EQ(larger->address, address);
  run_again_with({address, 0, 2048});
  EXPECT_EQ(seen_.faults.size(), 0u);
  EXPECT_EQ(larger->data[2048], std::byte{5});
  memory_.reset();
  ASSERT_EQ(zeros(32)->address, address);
  run_again_with({address, 0, 32});
  expect_fault(Fault::Kind::out_of_bounds, address + 32);
}

TEST_F(KeptSites, AnotherProgramMayBeAtTheAddressOfTheLast) {
  Allocation *const a = zeros(64), *const b = zeros(64);
  run_with({a->address, b->address, 0}, "st.global.u32 [%rd1], %r1;");
  run_with({a->address, b->address, 0}, "st.global.u32 [%rd2], %r1;");
  EXPECT_EQ(seen_.faults.size(), 0u);
  EXPECT_EQ(a->data[0], std::byte{5});
  EXPECT_EQ(b->data[0], std::byte{5});
}

TEST_F(KeptSites, AnotherAllocationMayBeMeant) {
  Allocation *const a = zeros(64), *const b = zeros(64);
  run_with({a->address, 0, 4}, kTwoStores);
  EXPECT_EQ(seen_.faults.size(), 0u);
  run_again_with({b->address, a->address - b->address, 4});  // into `a`, where it went before
  expect_fault(Fault::Kind::out_of_bounds, a->address);
  EXPECT_EQ(seen_.faults[0].meant, b);
}

TEST_F(KeptSites, APointerToTheMiddleIsSureOnlyWhenThisLaunchHasUsedIt) {
  Allocation *const a = zeros(4096), *const b = zeros(64);
  const std::uint64_t middle = a->address + 1024, distance = b->address - middle;
  const std::string stores =
      ".reg .pred %p1;\nadd.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], %r1;\n"
      "setp.ne.s64 %p1, %rd3, 0;\n@%p1 st.global.u32 [%rd4+" +
      std::to_string(distance) + "], %r1;";
  run_with({middle, 0, 0}, stores);
  EXPECT_EQ(seen_.faults.size(), 0u);
  run_again_with({middle, 0, 1});
  expect_fault(Fault::Kind::out_of_bounds, b->address);
  EXPECT_EQ(seen_.faults[0].meant, a);
}

}  // namespace
}  // namespace warpcheck::vgpu
