#include "vgpu/machine/progress/diamond.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "vgpu/machine/link.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

// A program with one branch, and what is found out about it.
struct Branch {
  explicit Branch(const std::string& between) {
    program = decode(ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                                ".shared .align 4 .b8 s[256];\n"
                                ".visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n"
                                "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n" +
                                    between +
                                    "L:\nadd.u32 %r4, %r1, 4;\nst.shared.u32 [s], %r4;\n"
                                    "ret;\n}\n",
                                "test.ptx"),
                     "k");
    while (program.code[pc].kind != InstrKind::branch) ++pc;
    diamond = diamond_of(program, 0, pc, nodes);
  }
  Program program;
  std::uint32_t pc = 0;
  std::size_t nodes = 0;
  Diamond diamond;
};

TEST(Diamond, WaysMeetBehindAnIfAndMayWriteWhatItWrites) {
  const Branch branch("add.u32 %r2, %r1, 2;\nadd.u32 %r3, %r2, 3;\n");
  const Diamond& diamond = branch.diamond;
  EXPECT_EQ(diamond.meets_at, branch.program.code[branch.pc].target);
  EXPECT_EQ(diamond.meets_at, branch.pc + 3);
  ASSERT_EQ(diamond.writes.registers.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t at = branch.pc + 1 + i;
    const Ref written = destinations_of(branch.program, branch.program.code[at]).front();
    EXPECT_TRUE(diamond.writes.registers[0] == written || diamond.writes.registers[1] == written);
  }
  EXPECT_FALSE(diamond.writes.memory);
  EXPECT_GT(branch.nodes, 0u);
}

TEST(Diamond, AStoreInBetweenIsMemory) {
  const Branch branch("st.shared.u32 [s+4], %r1;\n");
  EXPECT_EQ(branch.diamond.meets_at, branch.pc + 2);
  EXPECT_TRUE(branch.diamond.writes.registers.empty());
  EXPECT_TRUE(branch.diamond.writes.memory);
}

TEST(Diamond, WaysDoNotMeetIfOneDoesMore) {
  for (const std::string more :
       {"bar.sync 0;\n", "atom.shared.add.u32 %r2, [s], 1;\n", "exit;\n"}) {
    EXPECT_EQ(Branch(more).diamond.meets_at, ptx::kNone) << more;
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
