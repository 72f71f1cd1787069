// Bytes that nothing has written, from a load to where its value decides something, without any
// checker.
#include <fmt/format.h>

#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {
namespace {

using Lines = std::vector<std::string>;

// Writes a line for each use of an undefined value, origin, and undefined value that a store
// leaves.
class Uses final : public Observer, public UndefinedValuesListener {
 public:
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }
  void on_undefined_use(const UndefinedUse& use) override {
    lines.push_back(fmt::format("use at {} of {} by {:x}", use.pc, use.origin, use.lanes));
  }
  void on_origin(const First& first) override {
    lines.push_back(fmt::format("origin {} at {}", first.index, first.pc));
  }
  void on_stored(const UndefinedUse& use, bool is_atomic) override {
    lines.push_back(
        fmt::format("{} at {} by {:x}", is_atomic ? "atomic" : "store", use.pc, use.lanes));
  }
  Lines lines;
};

class UnwrittenTest : public SyncTest {
 protected:
  UnwrittenTest() {
    out_ = memory_.allocate(4096);
    unwritten_.on_allocate(*out_);
    unwritten_.set_listener(&uses_);
  }
  ~UnwrittenTest() override { unwritten_.set_listener(nullptr); }

  void write(std::uint32_t offset, std::uint32_t bytes) {
    unwritten_.on_host_access({out_, offset, bytes, true, false});
  }
  // Returns what happens in a launch of one warp.
  Lines lines_of(const std::string& body, Compile compile_when) {
    compile(body, ".shared .align 16 .b8 share[256];\n");
    std::memset(out_->data, 0, out_->bytes);
    uses_.lines.clear();
    limits_.compile = compile_when;
    Launch launch;
    launch.program = &program_;
    launch.block = {32, 1, 1};
    launch.parameters = std::as_bytes(std::span(&out_->address, 1));
    Observer* const observers[] = {&uses_, &unwritten_};
    DefaultPolicy policy;
    EXPECT_EQ(machine_.run(launch, model_, policy, observers, limits_).end,
              Outcome::End::completed);
    return uses_.lines;
  }
  // Returns the lanes for which a branch depends on an undefined value; the body leaves it in %r5.
  std::uint32_t lanes_of(const std::string& body) {
    std::uint32_t found[2] = {};
    for (const Compile when : {Compile::never, Compile::at_once}) {
      unwritten_.reset();
      unwritten_.on_allocate(*out_);
      write(0, 128);
      lines_of(body + " setp.eq.u32 %p1, %r5, 77; @%p1 bra L; mov.u32 %r6, 1; L: ", when);
      std::uint32_t& lanes = found[when == Compile::at_once];
      for (const std::string& line : uses_.lines) {
        const std::size_t by = line.find(" by ");
        if (line.starts_with("use")) lanes |= std::stoul(line.substr(by + 4), nullptr, 16);
      }
    }
    EXPECT_EQ(found[0], found[1]) << body;
    return found[0];
  }

  UnwrittenMemory unwritten_;
  Uses uses_;
};

TEST_F(UnwrittenTest, ALoadOfUnwrittenBytesIsUndefined) {
  EXPECT_EQ(lanes_of("ld.global.u32 %r5, [%rd2];"), 0u);
  EXPECT_EQ(lanes_of("ld.global.u32 %r5, [%rd2+4];"), 1u << 31);
  EXPECT_EQ(lanes_of("ld.global.u32 %r5, [%rd1+124];"), 0u);
  EXPECT_EQ(lanes_of("ld.global.u32 %r5, [%rd1+128];"), ~0u);
  EXPECT_EQ(lanes_of("ld.global.u8 %r5, [%rd2+127];"), ~1u);
}

TEST_F(UnwrittenTest, AStoreDefinesTheBytesOfItsLanes) {
  const std::string begin = "mov.u32 %r2, share; shl.b32 %r4, %r1, 2; add.u32 %r3, %r2, %r4;\n";
  EXPECT_EQ(lanes_of(begin + "st.shared.u32 [%r3], %r1; ld.shared.u32 %r5, [%r3];"), 0u);
  EXPECT_EQ(lanes_of(begin + "st.shared.u16 [%r3], 77; ld.shared.u32 %r5, [%r3];"), ~0u);
  EXPECT_EQ(lanes_of(begin + "st.shared.u16 [%r3], %r1; ld.shared.u32 %r5, [%r3];"), 0u)
      << "the defined half alone decides that it is not 77";
  EXPECT_EQ(lanes_of(begin + "st.shared.u16 [%r3], %r1; ld.shared.u16 %r5, [%r3];"), 0u);
  EXPECT_EQ(lanes_of(begin + "st.shared.u32 [%r2+12], %r1; ld.shared.u32 %r5, [%r3];"), ~8u);
  const std::string some = begin + "and.b32 %r6, %r1, 5; setp.ne.u32 %p2, %r6, 0;\n";
  EXPECT_EQ(lanes_of(some + "@%p2 st.shared.u32 [%r3], %r1; ld.shared.u32 %r5, [%r3];"),
            0x05050505u);
  EXPECT_EQ(lanes_of(begin + "xor.b32 %r6, %r4, 20; add.u32 %r6, %r2, %r6;\n"
                             "st.shared.u32 [%r6+4], %r1; ld.shared.u32 %r5, [%r3];"),
            0x00000001u);
}

TEST_F(UnwrittenTest, LocalMemoryIsUndefinedPerLane) {
  const std::string begin = ".local .align 8 .b8 mine[16]; mov.u32 %r2, mine;\n";
  EXPECT_EQ(lanes_of(begin + "ld.local.u32 %r5, [%r2];"), ~0u);
  EXPECT_EQ(lanes_of(begin + "st.local.u32 [%r2], %r1; ld.local.u32 %r5, [%r2];"), 0u);
  EXPECT_EQ(lanes_of(begin + "setp.lt.u32 %p2, %r1, 8; @%p2 st.local.u32 [%r2], %r1;\n"
                             "ld.local.u32 %r5, [%r2];"),
            ~0xffu);
}

TEST_F(UnwrittenTest, AValueIsUndefinedWhereverItIsStored) {
  EXPECT_EQ(lanes_of("ld.global.u32 %r2, [%rd2+4]; st.global.u32 [%rd2+512], %r2;\n"
                     "ld.global.u32 %r5, [%rd2+512];"),
            1u << 31);
  EXPECT_EQ(lanes_of("ld.global.v2.u32 {%r2, %r5}, [%rd1+124];"), 0u) << "misaligned: it gives 0";
  EXPECT_EQ(lanes_of("ld.global.v2.u32 {%r5, %r2}, [%rd1+120];"), 0u);
  EXPECT_EQ(lanes_of("atom.global.add.u32 %r5, [%rd2+4], 1;"), 1u << 31);
  EXPECT_EQ(lanes_of("atom.global.exch.b32 %r2, [%rd2+4], %r1; ld.global.u32 %r5, [%rd2+4];"), 0u);
  EXPECT_EQ(lanes_of("red.global.add.u32 [%rd2+4], 1; ld.global.u32 %r5, [%rd2+4];"), 1u << 31);
}

TEST_F(UnwrittenTest, OriginsAndStoresAreReported) {
  const std::string body = "ld.global.u32 %r5, [%rd2]; st.global.u32 [%rd2+512], %r5;";
  const Lines lines = lines_of(body, Compile::never);
  const std::uint32_t load = pc_of("ld.global.u32"), store = pc_of("st.global.u32");
  const std::string stores = fmt::format("store at {} by ffffffff", store);
  EXPECT_EQ(lines, (Lines{fmt::format("origin 0 at {}", load), stores}));
  EXPECT_EQ(lines_of(body, Compile::at_once), Lines{stores}) << "the origin is known";
  EXPECT_TRUE(unwritten_.holds_undefined(*out_, 512));
  EXPECT_FALSE(unwritten_.holds_undefined(*out_, 0)) << "nothing was stored there";
  write(512, 4);
  EXPECT_FALSE(unwritten_.holds_undefined(*out_, 512));
  EXPECT_EQ(unwritten_.bits_of(*out_, 512, 8),
            (std::vector<std::uint8_t>{0, 0, 0, 0, 255, 255, 255, 255}));
}

TEST_F(UnwrittenTest, PassesRowsOfDefinedBytesOnly) {
  RowAccess row;
  row.allocation = out_;
  row.mask = ~0u;
  row.space = ptx::Space::global;
  row.bytes = row.element_bytes = 4;
  EXPECT_FALSE(unwritten_.passes(row));
  row.kind = AccessKind::write;
  row.mask = 0xff;
  EXPECT_TRUE(unwritten_.passes(row));
  row.kind = AccessKind::read;
  row.mask = ~0u;
  EXPECT_FALSE(unwritten_.passes(row));
  row.kind = AccessKind::write;
  EXPECT_TRUE(unwritten_.passes(row));
  row.kind = AccessKind::read;
  EXPECT_TRUE(unwritten_.passes(row));
  EXPECT_TRUE(unwritten_.bits_of(*out_, 0, 128).empty());
  EXPECT_EQ(unwritten_.bits_of(*out_, 124, 8),
            (std::vector<std::uint8_t>{0, 0, 0, 0, 255, 255, 255, 255}));
}

}  // namespace
}  // namespace warpcheck::vgpu
