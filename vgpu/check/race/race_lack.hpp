// What reports say of two accesses that race, by their instructions: their roles, and what they
// lack, by which the advice is chosen.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {

std::string_view role_at(const Program& program, std::uint32_t pc, AccessKind kind);

// Of two threads of one launch.
constexpr Relation relation_of(bool one_block, bool one_warp) {
  if (!one_block) return Relation::blocks;
  return one_warp ? Relation::lanes : Relation::warps;
}

// What would order threads that are so far apart.
Lack order_between(Relation relation);

// What two accesses of one launch lack that nothing but their instructions tells apart.
//   earlier_pc, later_pc: of `program`
Lack lack_of(const Program& program, const AccessClass& earlier, std::uint32_t earlier_pc,
             const AccessClass& later, std::uint32_t later_pc, Relation relation);

}  // namespace warpcheck::vgpu
