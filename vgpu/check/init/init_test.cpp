#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/check/init/init_testing.hpp"

namespace warpcheck::vgpu {
namespace {

TEST_F(InitTest, MemoryStartsUndefined) {
  for (const FakeMemory* memory : {&shared, &global, &local}) {
    const Access row = launch.strided(kRead, *memory, 0, 0, 3);
    EXPECT_EQ(row.undefined, ~0u);
    EXPECT_EQ(row.origin, 3u);
  }
  EXPECT_TRUE(findings().empty()) << "a read alone is no finding";
}

TEST_F(InitTest, AWriteDefinesItsBytes) {
  launch.strided(kWrite, shared, 0, 0, 1);
  EXPECT_EQ(launch.strided(kRead, shared, 0, 0, 2).undefined, 0u);
  EXPECT_EQ(launch.strided(kRead, shared, 0, 0, 2).origin, ptx::kNone);
  EXPECT_EQ(launch.strided(kRead, shared, 0, 0, 2, 1).undefined, 1u << 31);
  EXPECT_EQ(launch.one(kRead, shared, 0, 0, 2, 31).undefined, 0u);
  EXPECT_EQ(launch.one(kRead, shared, 0, 0, 2, 32).undefined, 1u);
}

TEST_F(InitTest, OnlyActiveLanesWriteAndRead) {
  launch.strided(kWrite, shared, 0, 0, 1, 0, 0x0000ff00);
  EXPECT_EQ(launch.strided(kRead, shared, 0, 0, 2).undefined, 0xffff00ff);
  EXPECT_EQ(launch.strided(kRead, shared, 0, 0, 2, 0, 0x0000f000).undefined, 0u);
  EXPECT_EQ(launch.strided(kRead, shared, 0, 0, 2, 0, 0x0001f000).undefined, 0x00010000u);
}

TEST_F(InitTest, EveryWidthAndPattern) {
  for (const std::uint8_t bytes : {1, 2, 4, 8, 16}) {
    launch.start_block(0, 0, &global);  // undefined again
    launch.strided(kWrite, global, 0, 0, 1, 0, ~0u, bytes);
    EXPECT_EQ(launch.strided(kRead, global, 0, 0, 2, 0, ~0u, bytes).undefined, 0u);
    EXPECT_EQ(launch.uniform(kRead, global, 0, 0, 2, 31, 0xf0, bytes).undefined, 0u);
    EXPECT_EQ(launch.uniform(kRead, global, 0, 0, 2, 32, 0xf0, bytes).undefined, 0xf0u);
    launch.uniform(kWrite, global, 0, 0, 1, 40, 0xf0, bytes);
    EXPECT_EQ(launch.one(kRead, global, 0, 0, 2, 40, bytes).undefined, 0u);
    EXPECT_EQ(launch.one(kRead, global, 0, 0, 2, 41, bytes).undefined, 1u);
    launch.one(kWrite, global, 0, 0, 1, 41, bytes);
    EXPECT_EQ(launch.one(kRead, global, 0, 0, 2, 41, bytes).undefined, 0u);
  }
}

TEST_F(InitTest, OneUndefinedByteMakesTheValueUndefined) {
  launch.one(kWrite, shared, 0, 0, 1, 0, 1);
  launch.one(kWrite, shared, 0, 0, 1, 1, 2);
  EXPECT_EQ(launch.one(kRead, shared, 0, 0, 2, 0).undefined, 1u);
  launch.one(kWrite, shared, 0, 0, 1, 1, 1);
  EXPECT_EQ(launch.one(kRead, shared, 0, 0, 2, 0).undefined, 0u);
}

TEST_F(InitTest, SharedMemoryIsUndefinedInTheNextBlock) {
  launch.strided(kWrite, shared, 0, 0, 1);
  launch.start_block(1, 0, &shared);
  EXPECT_EQ(launch.strided(kRead, shared, 1, 0, 2).undefined, ~0u);
}

// While all of a block's shared memory is known to be defined, its rows are not checked.
TEST_F(InitTest, RowsOfSharedMemoryAreTakenWhileAllOfItIsDefined) {
  const auto barrier = [&] {
    Sync sync;
    sync.kind = Sync::Kind::barrier_complete;
    sync.place = launch.place(0, 0);
    sync.shared = &shared.allocation();
    unwritten.on_sync(sync);
  };
  const auto takes = [&](const FakeMemory& of) {
    return unwritten.passes({.allocation = &of.allocation(),
                             .place = launch.place(0, 0),
                             .mask = ~0u,
                             .space = of.allocation().space,
                             .bytes = 4,
                             .element_bytes = 4});
  };
  launch.strided(kWrite, shared, 0, 0, 1);
  barrier();
  EXPECT_TRUE(takes(shared));
  EXPECT_EQ(launch.strided(kRead, shared, 0, 0, 2, 32).undefined, ~0u);  // the other half
  launch.strided(kWrite, shared, 0, 0, 1, 32);
  barrier();
  EXPECT_TRUE(takes(shared));
  EXPECT_FALSE(takes(global));
  store_undefined(shared, 1, 1, 4);
  EXPECT_FALSE(takes(shared));
  launch.strided(kWrite, shared, 0, 0, 1);
  barrier();
  EXPECT_TRUE(takes(shared));
  launch.start_block(1, 0, &shared);
  EXPECT_FALSE(takes(shared));
}

TEST_F(InitTest, GlobalMemoryKeepsItsStateBetweenLaunches) {
  launch.strided(kWrite, global, 0, 0, 1);
  launch.start({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(launch.strided(kRead, global, 0, 0, 2).undefined, 0u);
  unwritten.on_allocate(global.allocation());
  EXPECT_EQ(launch.strided(kRead, global, 0, 0, 2).undefined, ~0u);
}

TEST_F(InitTest, AHostWriteDefines) {
  host(true, 0, 1024);
  EXPECT_EQ(launch.strided(kRead, global, 0, 0, 2, 224).undefined, 0u);
  unwritten.on_allocate(global.allocation());
  host(true, 4, 8);
  EXPECT_EQ(launch.strided(kRead, global, 0, 0, 2).undefined, ~0b110u);
}

TEST_F(InitTest, ABranchIsReportedWithTheLoad) {
  launch.strided(kRead, shared, 0, 0, 3, 0, 0xf0);
  branch(4, 0x60, 3);
  ASSERT_EQ(findings().size(), 1u);
  const Finding& finding = findings()[0];
  EXPECT_EQ(finding.kind, FindingKind::uninitialized_read);
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(finding.space, "shared");
  EXPECT_EQ(finding.object, "s[4], 4 bytes");
  const AccessSide load{"read", {0, 0, 0}, {5, 0, 0}, "k.cu", 103, "op3", "", 0, 3};
  const AccessSide use{"branch", {0, 0, 0}, {5, 0, 0}, "k.cu", 104, "op4", "", 0, 4};
  EXPECT_EQ(finding.accesses, (std::vector{load, use}));
  EXPECT_EQ(finding.message, "(2) branches on a value made from bytes that nothing has written");

  branch(4, 0x60, 3);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].count, 2u);
}

// Shared memory may have been given back when its value is used: causes are asked of global memory.
TEST_F(InitTest, ACauseIsAskedOfGlobalMemoryAlone) {
  struct : Causes {
    std::string of_pointer_to_nothing() const override { return ""; }
    std::string of_use_after_free(const Allocation&) const override { return ""; }
    std::string of_unwritten(const Allocation& allocation, std::uint32_t offset) const override {
      EXPECT_EQ(allocation.space, ptx::Space::global);
      return "byte " + std::to_string(offset);
    }
  } causes;
  reporter.set_causes(&causes);
  launch.strided(kRead, shared, 0, 0, 3);
  branch(5, 1, 3);
  launch.strided(kRead, global, 0, 0, 4, 2);
  branch(6, 1, 4);
  ASSERT_EQ(findings().size(), 2u);
  EXPECT_EQ(findings()[0].cause, "");
  EXPECT_EQ(findings()[1].cause, "byte 8");
}

TEST_F(InitTest, AnAddressIsAnotherFinding) {
  launch.strided(kRead, shared, 0, 0, 3);
  branch(4, 1, 3, UndefinedUse::Kind::address);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].accesses[1].role, "address");
}

TEST_F(InitTest, TheOriginSurvivesMemory) {
  launch.strided(kRead, shared, 0, 0, 3);     // the origin of the undefined values
  store_undefined(global, 4, 0x0000ffff, 3);  // only copies them: not reported
  const Access row = launch.strided(kRead, global, 0, 0, 5);
  EXPECT_EQ(row.undefined, 0x0000ffffu);
  EXPECT_EQ(row.origin, 3u);
  EXPECT_TRUE(findings().empty());
  launch.strided(kWrite, global, 0, 0, 6);  // now defined
  EXPECT_EQ(launch.strided(kRead, global, 0, 0, 5).undefined, 0u);
}

TEST_F(InitTest, AHostCopyOfAnUndefinedValueIsAnError) {
  host(true, 0, 1024);
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 4, 0x10, 3);
  host(false, 0, 16);
  EXPECT_TRUE(findings().empty());
  host(false, 0, 1024);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].severity, Severity::error);
  EXPECT_EQ(findings()[0].object, "s[0], 4 bytes");  // what (1) reads
  EXPECT_EQ(findings()[0].message,
            "(2) takes a value made from bytes that nothing had written; the value lies in global "
            "memory, g[16], first of a copy of 1024 bytes");
  EXPECT_EQ(findings()[0].accesses[0].line, 103u);
  EXPECT_EQ(findings()[0].accesses[1].role, "host copy");
  EXPECT_EQ(findings()[0].kernel, "k");
}

TEST_F(InitTest, AHostCopyOfWhatMayBePaddingIsANote) {
  launch.strided(kRead, shared, 0, 0, 3);
  Access access = launch.access(kWrite, global, 0, 0, 4, 8);
  access.mask = access.undefined = 1;
  access.origin = 3;
  access.is_partial = true;
  access.undefined_bits[0][0] = 0xffff'ff00;
  launch.emit(access);
  host(false, 0, 8);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].severity, Severity::note);
  EXPECT_EQ(findings()[0].object, "s[0], 4 bytes");
  EXPECT_EQ(findings()[0].space, "shared");  // the space where the undefined bytes come from
  EXPECT_EQ(findings()[0].accesses.size(), 2u);

  access.undefined_bits[0][0] = ~0ull;
  launch.emit(access);
  host(false, 0, 8);
  ASSERT_EQ(findings().size(), 2u);
  EXPECT_EQ(findings()[1].severity, Severity::error);
}

// A host copy of elements that no thread has written, and of bytes that may be padding.
class CopyTest : public InitTest {
 protected:
  // Lane l of the first `lanes` lanes writes `bytes` bytes at begin + l * stride.
  void store(std::uint32_t begin, std::uint8_t bytes, std::uint32_t stride, unsigned lanes,
             std::uint8_t element_bytes = 0) {
    Access row = launch.access(kWrite, global, 0, 0, 1, bytes);
    row.element_bytes = element_bytes != 0 ? element_bytes : bytes;
    row.mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    row.pattern = stride == bytes ? Pattern::strided : Pattern::scattered;
    for (unsigned lane = 0; lane < 32; ++lane) row.offset[lane] = begin + lane * stride;
    launch.emit(row);
  }
  // Returns the severity of the finding when the host copies the first `bytes` bytes; "" if there
  // is none.
  std::string copied(std::uint32_t bytes, std::uint32_t from = 0) {
    const std::size_t before = findings().size();
    host(false, from, bytes);
    return findings().size() == before ? "" : std::string(name_of(findings().back().severity));
  }
};

TEST_F(CopyTest, OfNothingButBytesNeverWrittenIsAnError) {
  EXPECT_EQ(copied(4, 8), "error");
  EXPECT_EQ(findings()[0].object, "g[8], first of a copy of 4 bytes");
  EXPECT_EQ(findings()[0].message, "(1) takes bytes none of which anything has written");
  host(false, 8, 4);
  EXPECT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].count, 2u);
}

TEST_F(CopyTest, OfTheRestOfAnArrayIsAnError) {
  store(0, 4, 4, 27);
  EXPECT_EQ(copied(27 * 4), "");
  EXPECT_EQ(copied(128), "error");
  EXPECT_EQ(findings()[0].object, "g[108], first of a copy of 128 bytes");
  EXPECT_EQ(findings()[0].message,
            "(1) takes 20 bytes in a row that nothing has written: whole elements, more than "
            "padding");
}

TEST_F(CopyTest, OfOneElementOfAnyWidthIsAnError) {
  for (const std::uint8_t bytes : {1, 2, 4, 8, 16}) {
    for (const bool is_last : {true, false}) {
      reporter.reset();
      unwritten.on_allocate(global.allocation());
      store(0, bytes, bytes, 16);
      if (!is_last) store(17 * bytes, bytes, bytes, 8);
      EXPECT_EQ(copied(is_last ? 17 * bytes : 25 * bytes), "error") << int(bytes) << is_last;
    }
  }
}

TEST_F(CopyTest, OfPaddingBeforeAMemberIsANote) {
  store(0, 1, 8, 32);  // struct { char; int; }
  store(4, 4, 8, 32);
  EXPECT_EQ(copied(256), "note");
  EXPECT_EQ(findings()[0].object, "g[1], first of a copy of 256 bytes");
  EXPECT_EQ(findings()[0].message, "(1) takes bytes that nothing has written; they may be padding");
}

TEST_F(CopyTest, OfPaddingAtTheEndOfStructsIsANote) {
  store(0, 8, 16, 8);  // struct { double; int; }
  store(8, 4, 16, 8);
  EXPECT_EQ(copied(128), "note");
  EXPECT_EQ(copied(16, 112), "") << "the same allocation";
  EXPECT_EQ(findings()[0].count, 2u);
}

TEST_F(CopyTest, OfPaddingAsOneThreadLeavesItIsANote) {
  store(0, 8, 0, 1);  // struct { double; int; }, and one element more
  store(8, 4, 0, 1);
  EXPECT_EQ(copied(16), "note");
}

TEST_F(CopyTest, OfPaddingBetweenSeveralMembersIsANote) {
  store(0, 8, 32, 4);  // struct { double; char; int; short; float; }
  store(8, 1, 32, 4);
  store(12, 4, 32, 4);
  store(16, 2, 32, 4);
  store(20, 4, 32, 4);
  store(24, 1, 32, 4);
  EXPECT_EQ(copied(128), "note");
}

TEST_F(CopyTest, OfAStructThatNobodyHasFilledIsAnError) {
  for (const unsigned missing : {0u, 3u, 7u}) {
    reporter.reset();
    unwritten.on_allocate(global.allocation());
    for (unsigned i = 0; i < 8; ++i) {
      if (i == missing) continue;
      store(8 * i, 1, 0, 1);
      store(8 * i + 4, 4, 0, 1);
    }
    EXPECT_EQ(copied(64), "error") << missing;
  }
}

TEST_F(CopyTest, OfOneStructOfARowThatNobodyHasFilledIsAnError) {
  store(0, 8, 16, 7);  // struct { double; int; }
  store(8, 4, 16, 7);
  EXPECT_EQ(copied(112), "note");
  EXPECT_EQ(copied(128), "error");
}

TEST_F(CopyTest, OfTheEndOfAStructWithAnAlignmentOfItsOwnIsANote) {
  for (const std::uint32_t member : {0u, 4u, 8u}) store(member, 4, 16, 8);  // alignas(16)
  EXPECT_EQ(copied(128), "note");
  EXPECT_EQ(copied(144), "error") << "one more struct";
}

TEST_F(CopyTest, OfEverySecondElementIsAnError) {
  store(0, 4, 8, 32);
  EXPECT_EQ(copied(256), "error");
  EXPECT_EQ(findings()[0].object, "g[4], first of a copy of 256 bytes");
}

TEST_F(CopyTest, OfARowsEndInAMatrixIsAnError) {
  for (std::uint32_t row = 0; row < 8; ++row) store(64 * row, 4, 4, 15);
  EXPECT_EQ(copied(512), "error");
}

TEST_F(CopyTest, OfAnArrayBehindVectorsIsAnError) {
  store(0, 16, 16, 8, 4);  // float4 stores of an array of floats
  store(128, 4, 4, 2);
  EXPECT_EQ(copied(144), "error");
}

TEST_F(CopyTest, OfWhatTheHostHasNotWrittenEitherIsAnError) {
  host(true, 0, 80);
  EXPECT_EQ(copied(84), "error");
}

TEST_F(CopyTest, OfWhatIsBetweenTheRowsOfPitchedMemoryIsANote) {
  Allocation& pitched = const_cast<Allocation&>(global.allocation());
  pitched.row_bytes = 100;
  pitched.pitch = 128;
  for (std::uint32_t row = 0; row < 4; ++row) store(128 * row, 4, 4, 25);
  EXPECT_EQ(copied(512), "note");
  EXPECT_EQ(copied(640), "error") << "a row more";
  EXPECT_EQ(findings().back().object, "g[512], first of a copy of 640 bytes");
}

TEST_F(CopyTest, OfNothingButWhatIsBetweenTheRowsIsAnError) {
  Allocation& pitched = const_cast<Allocation&>(global.allocation());
  pitched.row_bytes = 100;
  pitched.pitch = 256;
  for (std::uint32_t row = 0; row < 2; ++row) store(256 * row, 4, 4, 25);
  host({&global.allocation(), 100, 100, false, false});
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].severity, Severity::error);
  EXPECT_TRUE(
      findings()[0].message.ends_with("they lie between the rows of the memory, which are 256 "
                                      "bytes apart; is the pitch of the copy "
                                      "another one?"));
}

TEST_F(CopyTest, TheShapesMoveWithTheBytes) {
  FakeMemory target{4, ptx::Space::global, 1024};
  unwritten.on_allocate(target.allocation());
  store(0, 1, 8, 32);
  store(4, 4, 8, 32);
  copy_on_device({&target.allocation(), &global.allocation(), 0, 0, 1024});
  host({&target.allocation(), 0, 256, false, false});
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].severity, Severity::note);
}

TEST_F(InitTest, ADeviceCopyMovesDefinedness) {
  launch.strided(kWrite, global, 0, 0, 1);  // bytes 0 .. 127 defined
  FakeMemory target{4, ptx::Space::global, 512};
  unwritten.on_allocate(target.allocation());
  const auto copy = [&](std::uint32_t to, std::uint32_t from, std::uint32_t bytes) {
    copy_on_device({&target.allocation(), &global.allocation(), to, from, bytes});
  };
  copy(64, 64, 128);
  EXPECT_EQ(launch.strided(kRead, target, 0, 0, 2, 16).undefined, 0xffff0000u);
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 4, ~0u, 3);
  copy(0, 0, 128);
  EXPECT_EQ(launch.one(kRead, target, 0, 0, 5, 0).origin, 3u);
  host(true, 0, 1024);
  copy(0, 0, 512);
  EXPECT_EQ(launch.strided(kRead, target, 0, 0, 2).undefined, 0u);
  EXPECT_TRUE(findings().empty());
}

TEST_F(InitTest, AnUndefinedValueBehindBytesNeverWrittenIsTheError) {
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 4, ~0u, 3);
  const HostAccess undo{&global.allocation(), 0, 4, true, true};
  host(undo);
  host(false, 0, 128);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].severity, Severity::error);
  EXPECT_EQ(findings()[0].object, "s[0], 4 bytes");
}

TEST_F(InitTest, AnAtomicOnUndefinedBytesLeavesThemUndefined) {
  EXPECT_EQ(launch.uniform(kAtomic, shared, 0, 0, 3, 0, 0xf).undefined, 0xfu);
  const Access row = launch.one(kRead, shared, 0, 0, 4, 0);
  EXPECT_EQ(row.undefined, 1u);
  EXPECT_EQ(row.origin, 3u);
}

TEST_F(InitTest, AnExchangeDefines) {
  program.code[3].modifiers.atom_op = ptx::AtomOp::exch;
  EXPECT_EQ(launch.one(kAtomic, shared, 0, 0, 3, 0).undefined, 1u);
  EXPECT_EQ(launch.one(kRead, shared, 0, 0, 4, 0).undefined, 0u);
}

TEST_F(InitTest, AnAtomicWithAnUndefinedOperandReadsADefinedValue) {
  launch.strided(kRead, global, 0, 0, 3);
  launch.strided(kWrite, shared, 0, 0, 1);
  Access row = launch.access(kAtomic, shared, 0, 0, 5);
  row.mask = row.undefined = 1;
  row.origin = 3;
  launch.emit(row);
  EXPECT_EQ(row.undefined, 0u);
  EXPECT_EQ(row.origin, ptx::kNone);
  EXPECT_EQ(launch.one(kRead, shared, 0, 0, 6, 0).origin, 3u);
}

TEST_F(InitTest, ParametersAreDefined) {
  FakeMemory parameters{3, ptx::Space::param, 64};
  EXPECT_EQ(launch.uniform(kRead, parameters, 0, 0, 1, 0).undefined, 0u);
}

TEST_F(InitTest, ANewTrialForgets) {
  host(true, 0, 1024);
  launch.strided(kRead, shared, 0, 0, 3);
  store_undefined(global, 4, ~0u, 3);
  reporter.reset();
  unwritten.reset();
  checker.reset(WarpModel::independent);
  unwritten.on_allocate(global.allocation());
  EXPECT_EQ(launch.strided(kRead, global, 0, 0, 5).undefined, ~0u);
  EXPECT_EQ(launch.strided(kRead, global, 0, 0, 5).origin, 5u);
}

TEST_F(InitTest, AReadTellsWhichBitsAreUndefined) {
  launch.one(kWrite, shared, 0, 0, 1, 0, 1);
  launch.one(kWrite, shared, 0, 0, 1, 3, 1);
  const Access row = launch.one(kRead, shared, 0, 0, 2, 0, 4);
  EXPECT_EQ(row.undefined, 1u);
  ASSERT_TRUE(row.is_partial);
  EXPECT_EQ(row.undefined_bits_at(0, 4, 0), 0x00ffff00u);
  EXPECT_EQ(row.undefined_bits_at(3, 1, 0), 0u);
}

TEST_F(InitTest, UndefinedBitsSurviveMemory) {
  launch.strided(kRead, shared, 0, 0, 3);
  const auto store = [&](AccessKind kind, std::uint64_t bits) {
    Access access = launch.access(kind, global, 0, 0, 4, 8);
    access.mask = access.undefined = 1;
    access.origin = 3;
    access.is_partial = true;
    access.undefined_bits[0][0] = bits;
    launch.emit(access);
    return access;
  };
  store(kWrite, 0x0000'00ff'0000'0730);
  const Access row = launch.one(kRead, global, 0, 0, 5, 0, 8);
  EXPECT_EQ(row.undefined_bits_at(0, 8, 0), 0x0000'00ff'0000'0730u);
  EXPECT_EQ(row.origin, 3u);
  EXPECT_EQ(launch.one(kRead, global, 0, 0, 5, 1, 4).undefined_bits_at(0, 4, 0), 0xffu);
  EXPECT_EQ(launch.one(kRead, global, 0, 0, 5, 1, 2).undefined, 0u);
  host(false, 2, 2);
  host(false, 5, 3);
  EXPECT_TRUE(findings().empty()) << "the host takes defined bytes";

  program.code[4].modifiers.atom_op = ptx::AtomOp::exch;
  EXPECT_EQ(store(kAtomic, 0x10).undefined_bits_at(0, 8, 0), 0x0000'00ff'0000'0730u);
  EXPECT_EQ(launch.one(kRead, global, 0, 0, 5, 0, 8).undefined_bits_at(0, 8, 0), 0x10u);
  program.code[4].modifiers.atom_op = ptx::AtomOp::add;
  EXPECT_EQ(store(kAtomic, 0x20).undefined_bits_at(0, 8, 0), 0x10u);
  EXPECT_EQ(launch.one(kRead, global, 0, 0, 5, 0, 8).undefined_bits_at(0, 8, 0), ~0ull);
}

// The words of the lanes are adjacent in local memory.
TEST_F(InitTest, LocalMemoryOfAFrameThatEndsIsUndefinedForItsLanes) {
  const auto row = [&](AccessKind kind, std::uint32_t word) {
    Access words = launch.access(kind, local, 0, 0, kind == kRead ? 5 : 1);
    words.mask = ~0u;
    words.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < 32; ++lane) words.offset[lane] = 128 * word + 4 * lane;
    launch.emit(words);
    return words.undefined;
  };
  for (const std::uint32_t word : {0, 1, 2, 3}) row(kWrite, word);
  unwritten.on_frame_end({&local.allocation(), 4, 8, 0xf0});
  EXPECT_EQ(row(kRead, 0), 0u);
  EXPECT_EQ(row(kRead, 1), 0xf0u);
  EXPECT_EQ(row(kRead, 2), 0xf0u);
  EXPECT_EQ(row(kRead, 3), 0u);
  unwritten.on_frame_end({&local.allocation(), 12, 4, ~0u});
  EXPECT_EQ(row(kRead, 0), 0u);
  EXPECT_EQ(row(kRead, 3), ~0u);
}

TEST_F(InitTest, ElementsOfAVectorAreUndefinedOneByOne) {
  const auto vectors = [&](AccessKind kind, std::uint32_t pc) {
    Access row = launch.access(kind, shared, 0, 0, pc, 16);
    row.element_bytes = 4;
    row.mask = 0xff;
    row.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < 32; ++lane) row.offset[lane] = 16 * lane;
    return row;
  };
  for (const std::uint32_t element : {0, 1, 3}) launch.one(kWrite, shared, 0, 0, 1, element);
  for (const std::uint32_t element : {8, 9, 10, 11}) launch.one(kWrite, shared, 0, 0, 1, element);
  Access read = vectors(kRead, 2);
  launch.emit(read);
  EXPECT_EQ(read.undefined, 0xfbu);
  EXPECT_EQ(read.undefined_in(0).mask, 0xfau);
  EXPECT_EQ(read.undefined_in(2).mask, 0xfbu);
  EXPECT_EQ(read.undefined_in(2).origin, 2u);

  Access write = vectors(kWrite, 3);
  write.undefined = 0x7;
  write.of_element = {{{0x1, 2}, {0x2, 2}, {0x4, 2}, {0, ptx::kNone}}};
  launch.emit(write);
  Access back = vectors(kRead, 4);
  launch.emit(back);
  EXPECT_EQ(back.undefined, 0x7u);
  EXPECT_EQ(back.undefined_in(0).mask, 0x1u);
  EXPECT_EQ(back.undefined_in(1).mask, 0x2u);
  EXPECT_EQ(back.undefined_in(2).mask, 0x4u);
  EXPECT_EQ(back.undefined_in(2).origin, 2u) << "where the value was made";
  EXPECT_EQ(back.undefined_in(3).mask, 0u);
}

}  // namespace
}  // namespace warpcheck::vgpu
