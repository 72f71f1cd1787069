// The lanes that execute a load whose value is not used in the other lanes.
#include <string>

#include <gtest/gtest.h>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

// The code around the first load from shared memory: its guard, and the number of instructions of
// `body` before it.
struct Found {
  std::string guard;  // "", "p1", "!p1"; "made" for a predicate that is calculated for the load
  std::uint32_t before = 0;
  friend bool operator==(const Found&, const Found&) = default;
};
void PrintTo(const Found& found, std::ostream* out) { *out << found.guard << ' ' << found.before; }

Found load_of(const std::string& body) {
  const Program program = decode(
      ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n"
                 ".shared .align 4 .b8 a[64];\n.extern .shared .align 4 .b8 dynamic[];\n"
                 ".visible .entry k(.param .u64 p0, .param .u32 p1)\n{\n"
                 ".reg .pred %p<20>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<4>;\n"
                 "ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p1];\nmov.u32 %r2, %tid.x;\n"
                 "setp.eq.s32 %p1, %r2, 0;\nsetp.ne.s32 %p2, %r2, 0;\n" +
                     body + "\nst.global.u32 [%rd1], %r9;\nret;\n}\n",
                 "test.ptx"),
      "k");
  constexpr std::uint32_t kBefore = 5;
  std::uint32_t at = 0;
  while (program.code[at].kind != InstrKind::load) ++at;
  const Instr& load = program.code[at];
  Found found{.guard = {}, .before = at - kBefore};
  if (load.guard.bank == Bank::none) return found;
  found.guard = load.guard_negated ? "!" : "";
  const Ref rows[] = {program.code[3][ComputeOperand::d], program.code[4][ComputeOperand::d]};
  if (load.guard.offset == rows[0].offset) {
    found.guard += "p1";
  } else {
    found.guard += load.guard.offset == rows[1].offset ? "p2" : "made";
  }
  return found;
}

TEST(SpeculatedLoads, AreExecutedWhereTheirValueMatters) {
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a+4];\nselp.b32 %r9, %r3, %r1, %p1;"), (Found{"p1", 0}));
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nselp.b32 %r9, %r1, %r3, %p1;"), (Found{"!p1", 0}));
  // Through values calculated from the loaded one; the address is in a register.
  EXPECT_EQ(load_of("mov.u32 %r4, a;\nld.shared.u8 %rs1, [%r4+63];\nsetp.ne.s16 %p3, %rs1, 0;\n"
                    "or.pred %p4, %p2, %p3;\nselp.b32 %r9, 1, 2, %p4;"),
            (Found{"!p2", 1}));
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nadd.s32 %r4, %r3, 1;\nsetp.gt.s32 %p3, %r4, 7;\n"
                    "and.pred %p4, %p3, %p1;\n@%p4 bra DONE;\nmov.u32 %r9, 2;\nDONE:"),
            (Found{"p1", 0}));
}

TEST(SpeculatedLoads, ComeAfterTheirCondition) {
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nadd.s32 %r4, %r2, 5;\nsetp.lt.s32 %p3, %r4, %r1;\n"
                    "selp.b32 %r9, %r3, %r1, %p3;"),
            (Found{"made", 2}));
  // For two conditions, their negation and their conjunction are calculated for the load.
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nsetp.eq.s32 %p3, %r3, 5;\nor.pred %p4, %p3, %p2;\n"
                    "and.pred %p5, %p4, %p1;\nselp.b32 %r9, 1, 2, %p5;"),
            (Found{"made", 2}));
  // The condition itself depends on the load.
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nsetp.lt.s32 %p3, %r3, %r1;\n"
                    "selp.b32 %r9, %r3, %r1, %p3;"),
            (Found{"", 0}));
  // The register of the condition has another value before.
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\n@%p1 bra SKIP;\nsetp.lt.s32 %p3, %r2, %r1;\nSKIP:\n"
                    "selp.b32 %r9, %r3, %r1, %p3;"),
            (Found{"", 0}));
}

TEST(SpeculatedLoads, AreFollowedFromBlockToBlock) {
  // The load is on the path where p1 is false; the value is used where p1 is true.
  EXPECT_EQ(load_of("@%p1 bra OWN;\nld.shared.u32 %r3, [a];\nbra.uni BOTH;\nOWN:\n"
                    "mov.u32 %r3, %r1;\nBOTH:\nsetp.gt.s32 %p3, %r3, 2;\n"
                    "and.pred %p4, %p1, %p3;\nselp.b32 %r9, 1, 2, %p4;"),
            (Found{"p1", 1}));
  // It is enough that the value matters on one path.
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\n@%p2 bra ALL;\nselp.b32 %r9, %r3, %r1, %p1;\n"
                    "bra.uni DONE;\nALL:\nadd.s32 %r9, %r3, 1;\nDONE:"),
            (Found{"", 0}));
  // The load is in a loop, whose condition changes in each round.
  EXPECT_EQ(load_of("mov.u32 %r5, 0;\nAGAIN:\nsetp.eq.s32 %p3, %r2, %r5;\nld.shared.u32 %r3, [a];\n"
                    "selp.b32 %r9, %r3, %r1, %p3;\nadd.s32 %r5, %r5, 1;\n"
                    "setp.lt.s32 %p4, %r5, 9;\n@%p4 bra AGAIN;"),
            (Found{"made", 2}));
  EXPECT_EQ(load_of("mov.u32 %r3, 0;\nmov.u32 %r5, 0;\nAGAIN:\nsetp.eq.s32 %p3, %r2, %r5;\n"
                    "selp.b32 %r9, %r3, %r1, %p3;\nld.shared.u32 %r3, [a];\nadd.s32 %r5, %r5, 1;\n"
                    "setp.lt.s32 %p4, %r5, 9;\n@%p4 bra AGAIN;"),
            (Found{"", 4}));
}

TEST(SpeculatedLoads, OthersAreLeftAlone) {
  const std::string select = "\nselp.b32 %r9, %r3, %r1, %p1;";
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];" + select), (Found{"p1", 0}));
  EXPECT_EQ(load_of("ld.volatile.shared.u32 %r3, [a];" + select), (Found{"", 0}));
  EXPECT_EQ(load_of("ld.relaxed.cta.shared.u32 %r3, [a];" + select), (Found{"", 0}));
  // The address is not known to lie in the variable.
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [%r2];" + select), (Found{"", 0}));
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a+64];" + select), (Found{"", 0}));
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [dynamic];" + select), (Found{"", 0}));
  // The value is used elsewhere, too.
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nst.global.u32 [%rd1+4], %r3;" + select),
            (Found{"", 0}));
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nshfl.sync.idx.b32 %r4, %r3, 0, 31, -1;" + select),
            (Found{"", 0}));
  EXPECT_EQ(load_of("ld.shared.u32 %r3, [a];\nadd.cc.u32 %r4, %r3, 1;" + select), (Found{"", 0}));
}

}  // namespace
}  // namespace warpcheck::vgpu
