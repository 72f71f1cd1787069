// The planted defects exist, and are hidden.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

std::string kinds_for(const std::vector<int>& bytes, const Settings& settings) {
  return kinds_of(run_case(case_of("planted_magic", {{"bytes", bytes}}, settings)));
}

TEST(PlantedMagic, NeedsAllFourBytes) {
  const std::vector<int> magic{0xa7, 0x3c, 0x5e, 0x91};
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_for(magic, settings), "out-of-bounds");
    for (std::size_t i = 0; i < magic.size(); ++i) {
      std::vector<int> near = magic;
      near[i] ^= 1;
      EXPECT_EQ(kinds_for(near, settings), "");
    }
  }
}

// Warp 1 in each round: 40 steps of work, the raising and the lowering of the flag.
vgpu::Decision look_while_raised(std::uint64_t round) {
  const std::uint64_t lowering = round * 42 + 41;
  return {.at = {0, 1}, .index = lowering, .held = 1, .next = {0, 0}};
}

std::string kinds_under(const std::vector<vgpu::Decision>& decisions) {
  Case a_case = case_of("planted_order", {{"value", 7}});
  a_case.schedule = vgpu::Schedule{decisions};
  return kinds_of(run_case(a_case));
}

TEST(PlantedOrder, NeedsAllThreeDecisions) {
  const vgpu::Decision first = look_while_raised(0);
  const vgpu::Decision second = look_while_raised(1);
  const vgpu::Decision third = look_while_raised(2);
  EXPECT_EQ(kinds_under({}), "");
  EXPECT_EQ(kinds_under({first, second}), "");
  EXPECT_EQ(kinds_under({first, third}), "");
  EXPECT_EQ(kinds_under({second, third}), "");
  EXPECT_EQ(kinds_under({first, second, third}), "out-of-bounds");
}

}  // namespace
}  // namespace warpcheck
