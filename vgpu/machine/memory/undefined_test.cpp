// Undefined bits: their way from a load to a store or a use.
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

using Bits = std::uint64_t;

// Makes the bits `loaded` undefined in what lane 0 reads; records the undefined bits of the last
// store, and the uses.
class BitsWatcher final : public Observer, private UndefinedMemory {
 public:
  explicit BitsWatcher(Bits loaded) : loaded_(loaded) {}
  [[nodiscard]] UndefinedMemory* undefined_memory() override { return this; }
  void on_undefined_use(const UndefinedUse& /*use*/) override { ++uses; }
  Bits stored = 0;
  bool is_whole = false, is_calculated = false;  // what was stored last
  int uses = 0;

 private:
  void read(Access& access) override {
    if (access.kind == AccessKind::atomic) return write(access);
    access.undefined = 1;
    access.origin = access.pc;
    access.of_element.fill({1, access.pc});
    access.is_partial = true;
    access.undefined_bits[0][0] = loaded_;
  }
  void write(const Access& access) override {
    stored = (access.undefined & 1) == 0 ? 0
             : access.is_partial         ? access.undefined_bits_at(0, access.bytes, 0)
                                         : ones_of(access.bytes);
    is_whole = (access.of_values.whole & 1) != 0;
    is_calculated = (access.of_values.calculated & 1) != 0;
  }

  Bits loaded_;
};

class UndefinedBits : public SyncTest {
 protected:
  BitsWatcher watch(const std::string& body, Bits loaded, std::uint32_t threads = 1) {
    compile(".reg .b16 %h<4>; " + body);
    if (out_ == nullptr) out_ = memory_.allocate(4096);
    std::memset(out_->data, 0, out_->bytes);
    Launch launch;
    launch.program = &program_;
    launch.block = {threads, 1, 1};
    launch.parameters = std::as_bytes(std::span(&out_->address, 1));
    BitsWatcher watcher(loaded);
    Observer* const observers[] = {&watcher};
    DefaultPolicy policy;
    EXPECT_EQ(machine_.run(launch, model_, policy, observers, limits_).end,
              Outcome::End::completed);
    return watcher;
  }
  // Returns the undefined bits of the u32 that `body` computes in %r5 from a loaded one in %r2, or
  // of the u64 that it computes in %rd5 from a loaded one in %rd4.
  Bits word(const std::string& body, Bits loaded) {
    return watch("ld.global.u32 %r2, [%rd1]; " + body + " st.global.u32 [%rd1], %r5;", loaded)
        .stored;
  }
  Bits wide(const std::string& body, Bits loaded) {
    return watch("ld.global.u64 %rd4, [%rd1]; " + body + " st.global.u64 [%rd1], %rd5;", loaded)
        .stored;
  }
};

TEST_F(UndefinedBits, MovesKeepThem) {
  EXPECT_EQ(word("mov.u32 %r5, %r2;", 0x00ff01u), 0x00ff01u);
  EXPECT_EQ(wide("mov.b64 {%r6, %r7}, %rd4; mov.b64 %rd5, {%r7, %r6};", 0xff00'0000'0000'0001),
            0x0000'0001'ff00'0000u);
  EXPECT_EQ(wide("mov.b64 {%r6, _}, %rd4; cvt.u64.u32 %rd5, %r6;", 0xff00'0000'0000'0001), 1u);
  EXPECT_EQ(word("mov.b32 {%h1, %h2}, %r2; mov.b32 %r5, {%h2, %h1};", 0x00ff0102), 0x010200ffu);
  EXPECT_EQ(word("setp.eq.u32 %p1, %r1, 0; selp.b32 %r5, 7, %r2, %p1;", 0xff), 0u);
  EXPECT_EQ(word("setp.eq.u32 %p1, %r1, 0; selp.b32 %r5, %r2, 7, %p1;", 0xff), 0xffu);
  EXPECT_EQ(word("shfl.sync.idx.b32 %r5, %r2, 0, 31, 1;", 0xff00), 0xff00u);
}

TEST_F(UndefinedBits, ConversionsOfIntegersKeepThem) {
  EXPECT_EQ(wide("cvt.u32.u64 %r6, %rd4; cvt.u64.u32 %rd5, %r6;", 0xff00'0000'0000'ff00), 0xff00u);
  EXPECT_EQ(word("cvt.u32.u8 %r5, %r2;", 0xff0f), 0xfu);
  EXPECT_EQ(word("cvt.s32.s8 %r5, %r2;", 0xff80), 0xffffff80u);
  EXPECT_EQ(word("cvt.rn.f32.u32 %r5, %r2;", 1), 0xffffffffu);
}

TEST_F(UndefinedBits, ShiftsAndFieldsMoveThem) {
  EXPECT_EQ(word("shl.b32 %r5, %r2, 8;", 0xff00), 0xff0000u);
  EXPECT_EQ(wide("shr.u64 %rd5, %rd4, 32;", 0xff00'0000'0000'0001), 0xff000000u);
  EXPECT_EQ(word("shr.s32 %r5, %r2, 4;", 0x80000000), 0xf8000000u);
  EXPECT_EQ(word("shr.u32 %r5, 1, %r2;", 1), 0xffffffffu) << "by nobody knows how much";
  EXPECT_EQ(word("shf.l.wrap.b32 %r5, %r2, %r1, 8;", 0xff000000), 0xffu);
  EXPECT_EQ(word("bfe.u32 %r5, %r2, 3, 5;", 0x3f), 0x7u);
  EXPECT_EQ(word("bfi.b32 %r5, %r1, %r2, 4, 4;", 0xff0), 0xf00u);
  EXPECT_EQ(word("bfi.b32 %r5, %r2, %r1, 4, 4;", 0xff2), 0x20u);
  EXPECT_EQ(word("prmt.b32 %r5, %r2, %r1, 0x0123;", 0x000000f0), 0xf0000000u);
  EXPECT_EQ(word("brev.b32 %r5, %r2;", 1), 0x80000000u);
}

TEST_F(UndefinedBits, LogicDecidesBits) {
  EXPECT_EQ(word("and.b32 %r5, %r2, 0xf0;", 0xffff), 0xf0u);
  EXPECT_EQ(word("or.b32 %r5, 0xf0, %r2;", 0xffff), 0xff0fu);
  EXPECT_EQ(word("xor.b32 %r5, %r2, -1;", 0xffff), 0xffffu);
  EXPECT_EQ(word("not.b32 %r5, %r2;", 0xffff), 0xffffu);
  EXPECT_EQ(word("lop3.b32 %r5, %r2, 0xf0, 0, 0xc0;", 0xffff), 0xf0u) << "a & b";
  EXPECT_EQ(word("lop3.b32 %r5, 0xf0, %r1, %r2, 0xca;", 0xffff), 0xff0fu) << "a ? b : c";
}

TEST_F(UndefinedBits, AreAValueIfTheyWereLoadedAsAWhole) {
  const auto is_whole = [&](const std::string& body, Bits loaded) {
    const BitsWatcher seen = watch(body, loaded);
    EXPECT_FALSE(seen.is_calculated) << body;
    return seen.is_whole;
  };
  const std::string load = "ld.global.u32 %r2, [%rd1]; ", load_byte = "ld.global.u8 %h1, [%rd1]; ";
  const std::string store = " st.global.u32 [%rd1], %r5;", wide = " st.global.u64 [%rd1], %rd5;";
  EXPECT_TRUE(is_whole(load + "cvt.u64.u32 %rd5, %r2;" + wide, 0xffffffff));
  EXPECT_FALSE(is_whole(load + "cvt.u64.u32 %rd5, %r2;" + wide, 0xffffff00)) << "padding";
  EXPECT_TRUE(is_whole(load_byte + "cvt.u32.u16 %r5, %h1;" + store, 0xff));
  EXPECT_TRUE(is_whole(load_byte + "cvt.u32.u16 %r2, %h1; and.b32 %r5, %r2, 255;" + store, 0xff));
  EXPECT_TRUE(is_whole(load + "shfl.sync.idx.b32 %r5, %r2, 0, 31, 1; cvt.u64.u32 %rd5, %r5;" + wide,
                       0xffffffff));
  EXPECT_FALSE(is_whole(load + "mov.b64 %rd5, {%r1, %r2};" + wide, 0xffffffff)) << "packed";
  EXPECT_FALSE(is_whole(load + "and.b32 %r5, %r2, 0xff;" + store, 0xffffffff)) << "a part of it";
  EXPECT_FALSE(is_whole(load_byte + "cvt.u32.u16 %r2, %h1; or.b32 %r5, %r2, 0x100;" + store, 0xff));
}

TEST_F(UndefinedBits, AreAValueIfTheyWereCalculated) {
  const auto is_calculated = [&](const std::string& body) {
    const std::string loads = "ld.global.u32 %r2, [%rd1]; mov.u32 %r6, %tid.x; ";
    const BitsWatcher seen = watch(loads + body + " st.global.u64 [%rd1], %rd5;", 0xff);
    EXPECT_FALSE(seen.is_whole) << body;
    return seen.is_calculated;
  };
  EXPECT_TRUE(is_calculated("mov.b32 %r5, %r2; add.s32 %r5, %r5, 1; mov.b64 %rd5, {%r6, %r5};"));
  EXPECT_TRUE(
      is_calculated("cvt.rn.f32.u32 %r5, %r2; shl.b32 %r5, %r5, 8; or.b32 %r5, %r5, %r6; "
                    "cvt.u64.u32 %rd5, %r5;"));
  EXPECT_FALSE(is_calculated("shl.b32 %r5, %r2, 8; or.b32 %r5, %r5, 3; cvt.u64.u32 %rd5, %r5;"));
  EXPECT_FALSE(is_calculated("add.s32 %r5, %r2, 1; mov.b64 %rd5, {%r2, %r5};")) << "not all of it";
}

TEST_F(UndefinedBits, AreAValueIfAPowerOfTwoMultipliesAllThatWasLoaded) {
  const auto is_calculated = [&](const std::string& body) {
    return watch("ld.global.u32 %r2, [%rd1]; " + body + " st.global.u32 [%rd1], %r5;", 0xffffffff)
        .is_calculated;
  };
  EXPECT_TRUE(is_calculated("shl.b32 %r5, %r2, 1;"));
  EXPECT_FALSE(is_calculated("shl.b32 %r5, %r2, 8;")) << "it may pack bytes";
  EXPECT_FALSE(is_calculated("and.b32 %r5, %r2, 7; shl.b32 %r5, %r5, 3;")) << "a bit-field";
}

TEST_F(UndefinedBits, SumsCarryThem) {
  EXPECT_EQ(word("add.s32 %r5, %r2, 0x7fffff00;", 0x100), 0xffffff00u);
  EXPECT_EQ(word("add.s32 %r5, %r1, %r2;", 0xff00), 0xff00u) << "nothing to carry";
  EXPECT_EQ(word("add.s32 %r5, %r2, 0x100;", 0xff00), 0x1ff00u);
  EXPECT_EQ(word("sub.s32 %r5, 0x1ff, %r2;", 0xf0), 0xf0u);
  EXPECT_EQ(word("sub.s32 %r5, %r2, 1;", 0xff00), 0xffffff00u) << "it may borrow";
  EXPECT_EQ(word("neg.s32 %r5, %r2;", 0x10), 0xfffffff0u);
  EXPECT_EQ(word("mul.lo.u32 %r5, %r2, 5;", 0x40000000), 0xc0000000u);
  EXPECT_EQ(word("mul.lo.u32 %r5, 16, %r2;", 0xff), 0xff0u) << "a shift";
  EXPECT_EQ(wide("cvt.u32.u64 %r6, %rd4; mul.wide.s32 %rd5, %r6, 2;", 0x80000000),
            0xffffffff'00000000u);
  EXPECT_EQ(word("mad.lo.u32 %r5, %r2, 256, 255;", 0xff), 0xff00u);
  EXPECT_EQ(word("min.u32 %r5, %r2, 5;", 0x100), 0xffffffffu);
  EXPECT_EQ(word("popc.b32 %r5, %r2;", 0x100), 0xffffffffu);
}

TEST_F(UndefinedBits, ElementsOfPairsAreSeparate) {
  EXPECT_EQ(word("fma.rn.f16x2 %r5, %r2, %r2, %r1;", 0x8000'0000), 0xffff0000u);
  EXPECT_EQ(word("add.bf16x2 %r5, %r1, %r2;", 1), 0xffffu);
  EXPECT_EQ(word("max.s16x2 %r5, %r2, %r1;", 0x0001'0001), 0xffffffffu);
  EXPECT_EQ(wide("mul.rn.f32x2 %rd5, %rd4, %rd1;", 0x100), 0xffffffffu);
  EXPECT_EQ(wide("fma.rn.f32x2 %rd5, %rd1, %rd1, %rd4;", 0x1'0000'0000), 0xffffffff'00000000u);
}

// In lane 0, the registers of d hold the elements (0, 0), (0, 1), (8, 0) and (8, 1).
TEST_F(UndefinedBits, AnElementOfAMatrixReachesItsRowOrItsColumn) {
  const auto product = [&](int stored, const std::string& a, const std::string& b,
                           const std::string& c) {
    const std::string registers = ".reg .b32 %m<16>; mov.b32 %m0, 0; ld.global.u32 %m1, [%rd1]; ";
    const std::string multiply =
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%m4, %m5, %m6, %m7}, {" + a +
        ", %m0, %m0, %m0}, {" + b + ", %m0}, {" + c + ", %m0, %m0, %m0}; ";
    return watch(
               registers + multiply + "st.global.u32 [%rd1], %m" + std::to_string(4 + stored) + ";",
               0x1'0000, 32)
        .stored;
  };
  constexpr Bits kAll = 0xffffffff;
  const auto elements = [&](const std::string& a, const std::string& b, const std::string& c) {
    std::vector<Bits> found;
    for (int i = 0; i < 4; ++i) found.push_back(product(i, a, b, c));
    return found;
  };
  EXPECT_EQ(elements("%m1", "%m0", "%m0"), (std::vector<Bits>{kAll, kAll, 0, 0})) << "row 0";
  EXPECT_EQ(elements("%m0", "%m1", "%m0"), (std::vector<Bits>{kAll, 0, kAll, 0})) << "column 0";
  EXPECT_EQ(elements("%m0", "%m0", "%m1"), (std::vector<Bits>{kAll, 0, 0, 0})) << "(0, 0)";
}

TEST_F(UndefinedBits, TheCarryFlagHandsThemOn) {
  EXPECT_EQ(word("add.cc.u32 %r6, %r2, 1; addc.u32 %r5, 0, 0;", 0xff), 0u) << "it cannot carry";
  EXPECT_EQ(word("add.cc.u32 %r6, %r2, -1; addc.u32 %r5, 0, 0;", 0xff), 1u);
  EXPECT_EQ(word("add.cc.u32 %r6, %r2, -1; addc.u32 %r5, 7, 8;", 0xff), 0x1fu) << "15 or 16";
  EXPECT_EQ(word("add.cc.u32 %r5, %r2, 0x7fffff00;", 0x100), 0xffffff00u);
  EXPECT_EQ(word("sub.cc.u32 %r6, 1, %r2; addc.u32 %r5, 0, 0;", 1), 0u) << "it cannot borrow";
  EXPECT_EQ(word("sub.cc.u32 %r6, 1, %r2; addc.u32 %r5, 0, 0;", 2), 1u);
  EXPECT_EQ(word("sub.cc.u32 %r6, 1, %r2; subc.u32 %r5, 0, 0;", 2), 0xffffffffu) << "0 or -1";
  EXPECT_EQ(word("sub.cc.u32 %r5, %r2, 1;", 0xff00), 0xffffff00u);
  EXPECT_EQ(wide("sub.cc.u64 %rd6, 1, %rd4; subc.cc.u64 %rd6, 0, 0; addc.u64 %rd5, 0, 0;", 2), 1u);
  EXPECT_EQ(word("mad.lo.cc.u32 %r6, %r2, 1, 1; addc.u32 %r5, 0, 0;", 1), 1u);
}

TEST_F(UndefinedBits, OnlyWhatIsLoadedAndStoredCounts) {
  EXPECT_EQ(watch("ld.global.u32 %r2, [%rd1]; st.global.u8 [%rd1], %r2;", 0xff00).stored, 0u);
  EXPECT_EQ(watch("ld.global.u32 %r2, [%rd1]; st.global.u16 [%rd1], %r2;", 0xff00).stored, 0xff00u);
  EXPECT_EQ(watch("ld.global.s8 %r2, [%rd1]; st.global.u32 [%rd1], %r2;", 0x80).stored,
            0xffffff80u);
  EXPECT_EQ(watch("ld.global.v2.u32 {%r2, %r3}, [%rd1]; st.global.v2.u32 [%rd1], {%r3, %r2};",
                  0xff00'0000'0000'0001)
                .stored,
            0x0000'0001'ff00'0000u);
}

TEST_F(UndefinedBits, ComparisonsLookAtWhatTheyCompare) {
  const auto uses_of = [&](const std::string& compared, Bits loaded) {
    return watch("ld.global.u32 %r2, [%rd1]; " + compared + " @%p1 bra L; mov.u32 %r4, 1;\nL: ",
                 loaded)
        .uses;
  };
  EXPECT_EQ(uses_of("setp.eq.u32 %p1, %r2, 0;", 1), 1);
  EXPECT_EQ(uses_of("setp.eq.u32 %p1, %r2, 0x100;", 1), 0) << "the defined bits differ";
  EXPECT_EQ(uses_of("setp.lt.u32 %p1, %r2, 0x100;", 0xff), 0) << "compilers shift both sides";
  EXPECT_EQ(uses_of("setp.lt.u32 %p1, %r2, 0x100;", 0x1ff), 1);
  EXPECT_EQ(uses_of("setp.le.u32 %p1, %r2, 0xff;", 0xff), 0);
  EXPECT_EQ(uses_of("setp.le.u32 %p1, %r2, 0xfe;", 0xff), 1);
  EXPECT_EQ(uses_of("setp.ge.u32 %p1, 0, %r2;", 0x1), 1);
  EXPECT_EQ(uses_of("setp.gt.s32 %p1, 0, %r2;", 0x7fffffff), 0) << "its sign is known";
  EXPECT_EQ(uses_of("setp.gt.s32 %p1, 0, %r2;", 0x80000000), 1);
  EXPECT_EQ(uses_of("setp.lt.f32 %p1, %r2, 0f40000000;", 1), 1);
  EXPECT_EQ(uses_of("and.b32 %r3, %r2, 0xff00; setp.lt.u32 %p1, %r3, 9;", 0xff), 0);
  EXPECT_EQ(uses_of("and.b32 %r3, %r2, 0xff00; setp.lt.u32 %p1, %r3, 9;", 0x1ff), 1);
  EXPECT_EQ(uses_of("cvt.u16.u32 %h1, %r2; setp.ne.s16 %p1, %h1, 0;", 0x10000), 0);
}

TEST_F(UndefinedBits, AnAddressMayNotHaveAny) {
  const std::string load = "ld.global.u32 %r2, [%rd1]; and.b32 %r3, %r2, 12; cvt.u64.u32 %rd5, ";
  EXPECT_EQ(watch(load + "%r3; add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r4, [%rd6];", 4).uses, 1);
  EXPECT_EQ(watch(load + "%r3; add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r4, [%rd6];", 2).uses, 0);
}

// The row of each bank is given by its index in the bank.
TEST(UndefinedRegisters, ForgetWhatCanNoLongerBeRead) {
  Program program;
  program.words_max = 4;
  program.wides_max = 3;
  program.predicates_max = 2;
  UndefinedRegisters registers;
  const Ref word{Bank::word, 2 * kWordRowBytes}, wide{Bank::wide, kWideRowBytes},
      predicate{Bank::predicate, 4};
  const auto mask_of = [&](const Ref& ref) { return registers.get({}, ref).mask; };
  for (const Ref& ref : {word, wide, predicate}) registers.set({}, ref, {0xffu, 7}, ~0u, program);
  registers.forget_dead(0x1u, 0xfu, [](Bank bank, std::uint32_t row) {
    return (bank == Bank::word && row == 2) || (bank == Bank::predicate && row == 0);
  });
  EXPECT_EQ(mask_of(word), 0xf0u);
  EXPECT_EQ(mask_of(wide), 0xfeu);
  EXPECT_EQ(mask_of(predicate), 0xfeu);
  EXPECT_TRUE(registers.any());
  registers.forget_dead(0xf0u, 0xfu, [](Bank, std::uint32_t) { return true; });
  EXPECT_FALSE(registers.any());
}

// Whoever makes a lane undefined, also by a copy, is looked at when others are forgotten.
TEST(UndefinedRegisters, ACopyOutlivesWhatWasCopied) {
  Program program = decode(
      ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 s[256];\n"
                 ".visible .entry k()\n{\n.reg .b32 %r<4>;\nmov.u32 %r2, %r1;\n"
                 "st.shared.u32 [s], %r2;\nret;\n}\n",
                 "test.ptx"),
      "k");
  link(program);
  const Instr& copy = program.code[0];
  const Ref &from = copy[ComputeOperand::a], &to = copy[ComputeOperand::d];
  RowBank rows;
  rows.reset(8 * kWideRowBytes);
  LaneBanks banks;
  banks.base.fill(rows.data());
  UndefinedRegisters registers;
  registers.set({}, from, {~0u, 7}, ~0u, program);
  registers.propagate({}, banks, copy, ~0u, program);
  registers.forget_dead(
      0, ~0u, [&](Bank /*bank*/, std::uint32_t row) { return row == from.offset / kWordRowBytes; });
  EXPECT_TRUE(registers.any());
  EXPECT_EQ(registers.get({}, from).mask, 0u);
  EXPECT_EQ(registers.get({}, to).mask, ~0u);
  registers.forget_dead(0, ~0u, [](Bank, std::uint32_t) { return true; });
  EXPECT_FALSE(registers.any());
  registers.set({}, from, {1u, 9}, ~0u, program);
  EXPECT_EQ(registers.get({}, to).mask, 0u);
  EXPECT_EQ(registers.get({}, to).origin, ptx::kNone);
}

}  // namespace
}  // namespace warpcheck::vgpu
