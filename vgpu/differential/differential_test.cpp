#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "vgpu/differential/compare.hpp"
#include "vgpu/differential/random_program.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

TEST(Differential, TheMachineAgreesWithTheReference) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) EXPECT_EQ(difference(seed), "");
}

// Lanes are at the same place of a function that they have entered from different ones.
TEST(Differential, LanesThatCannotMeetDoNotWaitForEachOther) { EXPECT_EQ(difference(771), ""); }

// Or the comparison would say little.
TEST(Differential, ProgramsUseWhatTheyAreMadeFor) {
  std::set<InstrKind> kinds;
  bool recursion = false;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Program program = decode(ptx::parse(random_program(seed), "random"), "k");
    recursion |= program.dynamic_stack;
    for (const Instr& instr : program.code) kinds.insert(instr.kind);
  }
  EXPECT_TRUE(recursion);
  for (const InstrKind kind : {InstrKind::branch, InstrKind::jump, InstrKind::jump_table,
                               InstrKind::call, InstrKind::call_register, InstrKind::ret,
                               InstrKind::load, InstrKind::store, InstrKind::compute}) {
    EXPECT_TRUE(kinds.contains(kind)) << static_cast<int>(kind);
  }
}

TEST(Differential, ASeedGivesOneProgram) {
  EXPECT_EQ(random_program(7), random_program(7));
  EXPECT_NE(random_program(7), random_program(8));
}

}  // namespace
}  // namespace warpcheck::vgpu
