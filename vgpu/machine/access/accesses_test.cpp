// An access is reported and executed in the same way whether its place is new or remembered, by the
// interpreter and by machine code, and whether an observer takes rows or not.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"

namespace warpcheck::vgpu {
namespace {

using Lines = std::vector<std::string>;

// Writes a line for each access: the lanes with their offsets, and the word that the first of them
// finds there before the access.
class Log final : public Observer {
 public:
  explicit Log(bool takes_rows) : takes_rows_(takes_rows) {}
  bool takes_row(const RowAccess& row) override {
    if (!takes_rows_) return false;
    add(*row.allocation, row.pc, row.kind, row.bytes, row.mask,
        [&](unsigned lane) { return row.offset_of(lane); });
    return true;
  }
  void on_access(const Access& access) override {
    add(*access.allocation, access.pc, access.kind, access.bytes, access.mask,
        [&](unsigned lane) { return access.offset[lane]; });
  }
  Lines lines;

 private:
  template <typename OffsetOf>
  void add(const Allocation& allocation, std::uint32_t pc, AccessKind kind, std::uint32_t bytes,
           std::uint32_t mask, OffsetOf offset_of) {
    std::string line = fmt::format("{} {} {}:", pc, kind == AccessKind::read ? "r" : "w", bytes);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((mask >> lane & 1u) != 0) line += fmt::format(" {}", offset_of(lane));
    }
    std::uint32_t held = 0;
    std::memcpy(&held, allocation.data + offset_of(static_cast<unsigned>(__builtin_ctz(mask))),
                std::min(bytes, 4u));
    lines.push_back(line + fmt::format(" = {}", held));
  }
  bool takes_rows_;
};

class AccessTest : public SyncTest {
 protected:
  static constexpr std::uint32_t kWords = 512;

  // Runs the program twice, and returns the words of the buffer.
  std::vector<std::uint32_t> run_with(std::span<Observer* const> observers, Compile compile) {
    if (out_ == nullptr) out_ = memory_.allocate(kWords * 4);
    std::memset(out_->data, 0, out_->bytes);
    limits_.compile = compile;
    for (int i = 0; i < 2; ++i) {
      Launch launch;
      launch.program = &program_;
      launch.block = {64, 1, 1};
      launch.parameters = std::as_bytes(std::span(&out_->address, 1));
      DefaultPolicy policy;
      EXPECT_EQ(machine_.run(launch, model_, policy, observers, limits_).end,
                Outcome::End::completed);
    }
    return ints(kWords);
  }
  // Executes the body in each of five rounds, %r9; %r2 is the address of 256 words of shared
  // memory, %r3 that of the thread's word there.
  void compile_rounds(const std::string& body) {
    compile(
        "mov.u32 %r2, share; shl.b32 %r4, %r1, 2; add.u32 %r3, %r2, %r4; mov.u32 %r9, 0;\n"
        "LOOP: " +
            body + "\nadd.u32 %r9, %r9, 1; setp.lt.u32 %p8, %r9, 5; @%p8 bra LOOP;",
        ".shared .align 16 .b8 share[1024];\n");
  }
  // Expects that observers see the same, and that the results are the same, each way.
  void expect_same_each_way(const std::string& body) {
    compile_rounds(body);
    Lines expected;
    std::vector<std::uint32_t> words;
    for (const Compile compile : {Compile::never, Compile::at_once}) {
      Log rows(true), whole(false), later(true);
      Observer* const observers[] = {&rows, &whole, &later};
      const std::vector<std::uint32_t> found = run_with(observers, compile);
      if (words.empty()) expected = rows.lines, words = found;
      EXPECT_EQ(found, words) << body;
      EXPECT_EQ(rows.lines, expected) << body;
      EXPECT_EQ(whole.lines, expected) << body;
      EXPECT_EQ(later.lines, expected) << body;
      EXPECT_EQ(run_with({}, compile), words) << body;
    }
    EXPECT_FALSE(expected.empty());
  }
};

TEST_F(AccessTest, RowsOfSharedMemory) {
  expect_same_each_way(
      "st.shared.u32 [%r3], %r9; ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2], %r5;");
  expect_same_each_way(
      "st.shared.u16 [%r2+6], %r9; ld.shared.u16 %r5, [%r2+6]; st.global.u32 [%rd2], %r5;");
  expect_same_each_way(
      "st.shared.u8 [%r3+3], %r1; ld.shared.s8 %r5, [%r3+3]; st.global.u32 [%rd2], %r5;");
}

TEST_F(AccessTest, RowsOfSomeLanes) {
  expect_same_each_way(
      "and.b32 %r6, %r1, 12; setp.eq.u32 %p1, %r6, 8;\n"
      "@%p1 st.shared.u32 [%r3+4], %r9; @%p1 ld.shared.u32 %r5, [%r3+4];\n"
      "@%p1 st.global.u32 [%rd2], %r5;");
}

TEST_F(AccessTest, ScatteredLanes) {
  expect_same_each_way(
      "mad.lo.u32 %r6, %r1, 5, %r9; and.b32 %r6, %r6, 255; shl.b32 %r6, %r6, 2;\n"
      "add.u32 %r6, %r2, %r6; st.shared.u32 [%r6], %r1; ld.shared.u32 %r5, [%r6];\n"
      "setp.lt.u32 %p1, %r1, 50; @%p1 st.shared.u32 [%r6], %r9; @%p1 ld.shared.u32 %r5, [%r6];\n"
      "st.global.u32 [%rd2], %r5;");
}

TEST_F(AccessTest, VectorsAndLargeElements) {
  expect_same_each_way(
      "add.u32 %r6, %r3, %r4; st.shared.v2.u32 [%r6], {%r1, %r9};\n"
      "ld.shared.v2.u32 {%r5, %r7}, [%r6]; ld.shared.u64 %rd5, [%r6];\n"
      "add.u32 %r5, %r5, %r7; st.global.u32 [%rd2], %r5; st.global.u64 [%rd1+1024], %rd5;");
}

TEST_F(AccessTest, LocalMemory) {
  compile(
      ".local .align 8 .b8 mine[32]; mov.u32 %r2, mine; mov.u32 %r9, 0;\n"
      "LOOP: st.local.u32 [%r2+4], %r9; cvt.u64.u32 %rd5, %r1; st.local.u64 [%r2+8], %rd5;\n"
      "ld.local.u32 %r5, [%r2+4]; ld.local.u64 %rd6, [%r2+8]; cvt.u32.u64 %r6, %rd6;\n"
      "add.u32 %r5, %r5, %r6; st.global.u32 [%rd2], %r5;\n"
      "add.u32 %r9, %r9, 1; setp.lt.u32 %p8, %r9, 5; @%p8 bra LOOP;");
  Lines expected;
  for (const Compile compile : {Compile::never, Compile::at_once}) {
    Log rows(true), whole(false);
    Observer* const observers[] = {&rows, &whole};
    const std::vector<std::uint32_t> words = run_with(observers, compile);
    EXPECT_EQ(words[63], 67u);
    if (expected.empty()) expected = rows.lines;
    EXPECT_EQ(rows.lines, expected);
    EXPECT_EQ(whole.lines, expected);
  }
}

// A word behind the shared memory of the block, in a place that is remembered for other words.
TEST_F(AccessTest, APlaceIsNotRememberedForWhatLiesBehindIt) {
  compile_rounds(
      "shl.b32 %r6, %r9, 8; add.u32 %r6, %r3, %r6; st.shared.u32 [%r6], %r1;\n"
      "ld.shared.u32 %r5, [%r6]; st.global.u32 [%rd2], %r5;");
  for (const Compile compile : {Compile::never, Compile::at_once}) {
    Log rows(true);
    SyncRecorder faults;
    faults.keeps_accesses = false;
    Observer* const observers[] = {&rows, &faults};
    EXPECT_EQ(run_with(observers, compile)[0], 0u);
    // In the fifth round, all 64 threads are outside, with a store and a load, in two launches.
    EXPECT_EQ(faults.faults.size(), 2u * 2 * 64);
    EXPECT_EQ(rows.lines.size(), 2u * 2 * (4 * 3 + 1));
  }
}

// Some lanes of a row that ends behind the shared memory of the block.
TEST_F(AccessTest, ARowThatEndsBehindARememberedPlaceIsSplit) {
  compile_rounds(
      "setp.gt.u32 %p2, %r9, 2; selp.b32 %r6, 800, 0, %p2; add.u32 %r6, %r3, %r6;\n"
      "and.b32 %r7, %r1, 31; setp.ne.u32 %p1, %r7, 3; @%p1 st.shared.u32 [%r6], %r9;");
  for (const Compile compile : {Compile::never, Compile::at_once}) {
    SyncRecorder seen;
    Observer* const observers[] = {&seen};
    run_with(observers, compile);
    EXPECT_EQ(seen.faults.size(), 2u * 2 * 8);  // threads 56 to 63, in two rounds
    ASSERT_EQ(seen.accesses.size(), 2u * 2 * 5);
    EXPECT_EQ(seen.accesses.back().mask, 0x00ffffffu & ~8u);
  }
}

// The last lane of some goes to the null page, where no memory is, from the fourth round on.
TEST_F(AccessTest, APlaceInGlobalMemoryIsNotRememberedForOtherAddresses) {
  compile_rounds(
      "setp.eq.u32 %p1, %r1, 63; setp.gt.u32 %p2, %r9, 2; mov.u64 %rd5, %rd2;\n"
      "@%p2 mov.u64 %rd5, 2048;\n"
      "@%p1 st.global.u32 [%rd5], %r9; @%p1 ld.global.u32 %r5, [%rd5+4];");
  for (const Compile compile : {Compile::never, Compile::at_once}) {
    SyncRecorder seen;
    Observer* const observers[] = {&seen};
    EXPECT_EQ(run_with(observers, compile)[63], 2u);
    EXPECT_EQ(seen.faults.size(), 2u * 2 * 2);
    EXPECT_EQ(seen.accesses.size(), 2u * 2 * 3);
  }
}

// From the fourth round on, the addresses are odd.
TEST_F(AccessTest, ARowAtARememberedPlaceMustBeAligned) {
  compile_rounds(
      "setp.gt.u32 %p2, %r9, 2; selp.b32 %r6, 1, 0, %p2; add.u32 %r6, %r3, %r6;\n"
      "st.shared.u32 [%r6], %r1; mov.u32 %r5, 7; ld.shared.u32 %r5, [%r6];\n"
      "st.global.u32 [%rd2], %r5;");
  for (const Compile compile : {Compile::never, Compile::at_once}) {
    SyncRecorder seen;
    Observer* const observers[] = {&seen};
    EXPECT_EQ(run_with(observers, compile)[63], 0u);  // a load that faults reads 0
    ASSERT_EQ(seen.faults.size(), 2u * 2 * 2 * 64);
    EXPECT_EQ(seen.faults.back().kind, Fault::Kind::misaligned);
  }
}

// The loads remember the place; it is still read-only.
TEST_F(AccessTest, AStoreToARememberedPlaceMayBeForbidden) {
  compile_rounds("ld.global.u32 %r5, [%rd2]; st.global.u32 [%rd2], %r9;");
  out_ = memory_.allocate(kWords * 4);
  out_->read_only = true;
  for (const Compile compile : {Compile::never, Compile::at_once}) {
    SyncRecorder seen;
    Observer* const observers[] = {&seen};
    EXPECT_EQ(run_with(observers, compile), std::vector<std::uint32_t>(kWords));
    ASSERT_EQ(seen.faults.size(), 2u * 5 * 64);
    EXPECT_EQ(seen.faults.back().kind, Fault::Kind::read_only);
  }
}

// No memory is at the address, so all four words are 0.
TEST_F(AccessTest, ALoadOf16BytesThatFaultsReadsZeros) {
  compile_rounds(
      ".reg .b128 %q; mov.u64 %rd5, -1; mov.u64 %rd6, -1; mov.b128 %q, {%rd5, %rd6};\n"
      "mov.u64 %rd7, 4096; ld.global.b128 %q, [%rd7]; mov.b128 {%rd5, %rd6}, %q;\n"
      "or.b64 %rd5, %rd5, %rd6; st.global.u64 [%rd1], %rd5; st.global.u32 [%rd2+16], %r9;");
  for (const Compile compile : {Compile::never, Compile::at_once}) {
    SyncRecorder seen;
    Observer* const observers[] = {&seen};
    const std::vector<std::uint32_t> words = run_with(observers, compile);
    EXPECT_EQ(words[0], 0u);
    EXPECT_EQ(words[1], 0u);
    EXPECT_EQ(words[4], 4u);
    EXPECT_EQ(seen.faults.size(), 2u * 5 * 64);
  }
}

// Records the order of what happens at an access.
class Order final : public Observer, private UndefinedMemory {
 public:
  Order(bool takes_rows, bool passes) : takes_rows_(takes_rows), passes_(passes) {}
  [[nodiscard]] UndefinedMemory* undefined_memory() override { return this; }
  bool takes_row(const RowAccess& /*row*/) override {
    seen += "row ";
    return takes_rows_;
  }
  void on_access(const Access& access) override {
    seen += access.undefined != 0 ? "access(undefined) " : "access ";
  }
  std::string seen;

 private:
  bool passes(const RowAccess& /*row*/) override {
    seen += "passes ";
    return passes_;
  }
  void read(Access& access) override {
    seen += "read ";
    if (access.pc != marked_) access.undefined = access.mask, access.origin = access.pc;
  }
  void write(const Access& access) override {
    seen += access.undefined != 0 ? "write(undefined) " : "write ";
  }
  bool takes_rows_, passes_;
  std::uint32_t marked_ = ptx::kNone;
};

// Observers see what a load finds, and memory as it is before a store.
TEST_F(AccessTest, ALoadReceivesUndefinedBitsBeforeObserversAndAStoreLeavesThemAfter) {
  const auto seen = [&](bool takes_rows, bool passes) {
    Order order(takes_rows, passes);
    Observer* const observers[] = {&order};
    const std::uint32_t threads = 1;
    if (out_ == nullptr) out_ = memory_.allocate(kWords * 4);
    Launch launch;
    launch.program = &program_;
    launch.block = {threads, 1, 1};
    launch.parameters = std::as_bytes(std::span(&out_->address, 1));
    DefaultPolicy policy;
    machine_.run(launch, model_, policy, observers, limits_);
    return order.seen;
  };
  compile("ld.global.u32 %r5, [%rd2];");
  EXPECT_EQ(seen(false, true), "row passes access ");
  EXPECT_EQ(seen(false, false), "row passes read access(undefined) ");
  EXPECT_EQ(seen(true, true), "row passes ");
  EXPECT_EQ(seen(true, false), "row passes read ");
  compile("st.global.u32 [%rd2], %r1;");
  EXPECT_EQ(seen(false, true), "row access passes ");
  EXPECT_EQ(seen(false, false), "row access passes write ");
  EXPECT_EQ(seen(true, true), "row passes ");
  EXPECT_EQ(seen(true, false), "row passes write ");
  compile("ld.global.u32 %r5, [%rd2]; st.global.u32 [%rd2], %r5;");
  EXPECT_EQ(seen(true, false), "row passes read access(undefined) write(undefined) ");
  compile("atom.global.add.u32 %r5, [%rd2], 1;");
  EXPECT_EQ(seen(true, true), "read access(undefined) ");
}

}  // namespace
}  // namespace warpcheck::vgpu
