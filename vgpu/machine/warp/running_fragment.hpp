// The state of a fragment while it runs, and access to the rows that its operands name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vgpu/machine/memory/rows.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

// The reason why a warp stopped running.
enum class Stop : std::uint8_t { blocked, exited, quantum, paused, preempted, released, halted };
// The result of a fragment's run.
enum class Step : std::uint8_t { again, quantum, paused, preempted, halted };

inline std::byte* row_of(const LaneBanks& banks, const Ref& ref) {
  return banks.base[static_cast<std::size_t>(ref.bank)] + ref.offset;
}

// Returns one lane's word of a register row or a constant row.
inline std::uint32_t word_of(const LaneBanks& banks, const Ref& ref, unsigned lane) {
  std::uint32_t value = 0;
  std::memcpy(&value, row_of(banks, ref) + lane * sizeof value, sizeof value);
  return value;
}

inline std::uint32_t read_predicate(const LaneBanks& banks, const Ref& ref) {
  return word_of(banks, ref, 0);
}

// Returns those of `lanes` for which the guard of an instruction is true.
inline std::uint32_t guarded_lanes(const LaneBanks& banks, const Instr& instr,
                                   std::uint32_t lanes) {
  const std::uint32_t value = read_predicate(banks, instr.guard);
  return lanes & (instr.guard_negated ? ~value : value);
}

inline std::uint64_t address_of(const AddressRow& row, unsigned lane) {
  std::uint64_t address = 0;
  const std::size_t width = row.wide ? 8 : 4;
  std::memcpy(&address, row.row + lane * width, width);
  address += row.displacement;
  return row.wide ? address : static_cast<std::uint32_t>(address);
}

inline LaneBanks banks_of(const Program& program, Warp& warp, const Fragment& fragment) {
  LaneBanks banks;
  banks.base[static_cast<std::size_t>(Bank::word)] = warp.words.data() + fragment.word_base;
  banks.base[static_cast<std::size_t>(Bank::wide)] = warp.wides.data() + fragment.wide_base;
  banks.base[static_cast<std::size_t>(Bank::predicate)] =
      warp.predicates.data() + fragment.predicate_base;
  banks.base[static_cast<std::size_t>(Bank::constant)] =
      const_cast<std::byte*>(program.constants.data());
  return banks;
}

inline FrameRows frame_of(const Fragment& fragment) {
  return {fragment.word_base / kWordRowBytes, fragment.wide_base / kWideRowBytes,
          fragment.predicate_base / 4};
}

// The running fragment; its fields are copied here for fast access.
struct RunningFragment {
  RunningFragment(Slot& its_slot, Warp& its_warp, const Program& program, const Fragment& fragment)
      : slot(its_slot),
        warp(its_warp),
        banks(banks_of(program, its_warp, fragment)),
        frame(frame_of(fragment)),
        pc(fragment.pc),
        mask(fragment.mask),
        local_base(fragment.local_base) {}

  Slot& slot;
  Warp& warp;
  LaneBanks banks;
  FrameRows frame;
  std::uint32_t pc, mask, local_base;
};

// Returns one lane's value of a register of either width.
inline std::uint64_t lane_value(const RunningFragment& run, const Ref& ref, unsigned lane) {
  if (ref.bank == Bank::word) return word_of(run.banks, ref, lane);
  std::uint64_t value = 0;
  std::memcpy(&value, row_of(run.banks, ref) + lane * sizeof value, sizeof value);
  return value;
}

}  // namespace warpcheck::vgpu
