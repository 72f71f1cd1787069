// Branches at which lanes diverge, for the interpreter and for machine code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

// Some lanes of a fragment take a branch.
inline void diverge(const RunningLaunch& launch, const RunningFragment& run, std::size_t index,
                    const Instr& instr, std::uint32_t taken) {
  launch.diverge_at(run.pc);
  launch.cross(run.slot, run.warp, taken, run.pc, instr.target);
  launch.cross(run.slot, run.warp, run.mask & ~taken, run.pc, run.pc + 1);
  Fragments& fragments = run.warp.fragments;
  fragments[index].pc = run.pc + 1;
  fragments[fragments.split(index, taken)].pc = instr.target;
}

// Returns those of `lanes` in which a register has the same value as in the lowest of them.
inline std::uint32_t lanes_of_same_value(const RunningFragment& run, const Ref& ref,
                                         std::uint32_t lanes) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const std::uint64_t value = lane_value(run, ref, first);
  std::uint32_t same = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    if (lane_value(run, ref, lane) == value) same |= 1u << lane;
  }
  return same;
}

// Returns whether the indices of all lanes are within the table of the instruction.
bool is_within_table(const Program& program, const RunningFragment& run, const Instr& instr);
// Executes brx.idx: each group of lanes with equal indices goes to the label with that index.
Step jump_by_table(RunningLaunch& launch, const RunningFragment& run, std::size_t index,
                   const Instr& instr);

}  // namespace warpcheck::vgpu
