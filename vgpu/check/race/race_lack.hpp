// What reports say about two racing accesses, judged by their instructions: their roles, and the
// missing synchronization (Lack), which selects the advice.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_finding.hpp"

namespace warpcheck::vgpu {

// Returns what an access is for a report.  An atomic that has not written still counts as an
// atomic; parts of a copy and uses of an mbarrier count by their effect.
AccessKind kind_at(const Program& program, std::uint32_t pc, unsigned access_class);
std::string_view role_at(const Program& program, std::uint32_t pc, AccessKind kind);

// Returns the relation of two threads of one launch.
constexpr Relation relation_of(bool one_block, bool one_warp) {
  if (!one_block) return Relation::blocks;
  return one_warp ? Relation::lanes : Relation::warps;
}

// Returns what would order threads with that relation.
Lack order_between(Relation relation);

// Adds what a lock lacks whose atomics order nothing, if both accesses are under one.
//   explanation: what else was found
RaceExplanation with_lock(const Program& program, std::uint32_t earlier_pc, std::uint32_t later_pc,
                          RaceExplanation explanation);

// Returns whether a flag may be meant to be the order that is missing.
bool may_be_by_flag(Lack lack);

// Adds that a flag hands data on whose accesses order nothing.
//   explanation: what else was found
//   earlier, later: the programs of the two accesses
RaceExplanation with_flag(const Program& earlier, std::uint32_t earlier_pc, const Program& later,
                          std::uint32_t later_pc, RaceExplanation explanation);

// Explains a race of two strong accesses.
RaceExplanation explain_strong(const AccessClass& earlier, const AccessClass& later);
// Says that nothing orders threads with that relation, of one launch.
std::string_view message_of_threads(Relation relation);

// Returns what two accesses of one launch lack, judged by their instructions alone.
//   earlier_pc, later_pc: in `program`
Lack lack_of(const Program& program, const AccessClass& earlier, std::uint32_t earlier_pc,
             const AccessClass& later, std::uint32_t later_pc, Relation relation);

}  // namespace warpcheck::vgpu
