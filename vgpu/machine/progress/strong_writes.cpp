#include "vgpu/machine/progress/strong_writes.hpp"

#include <bit>

namespace warpcheck::vgpu {

void StrongWrites::note(const RunningFragment& run, const Access& access, std::uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint32_t offset = access.offset[lane];
    writes_[index_of(access.allocation, offset)] = {
        launch_.number(), access.allocation, offset, run.slot.block, run.warp.index, lane, run.pc};
  }
}

void StrongWrites::note_swaps(const RunningFragment& run, const Instr& instr, const Access& access,
                              std::uint32_t mask) {
  const Ref& old = instr[AtomicOperand::old];
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  if (old.bank == Bank::none || bytes > 8) return;
  const bool is_cas = instr.modifiers.atom_op == ptx::AtomOp::cas;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const bool is_equal =
        lane_value(run, old, lane) == lane_value(run, instr[AtomicOperand::value], lane);
    if (is_equal == is_cas) note(run, access, 1u << lane);
  }
}

const StrongWrites::Write* StrongWrites::find(const Allocation* allocation,
                                              std::uint32_t offset) const {
  const Write& write = writes_[index_of(allocation, offset)];
  const bool is_it =
      write.launch == launch_.number() && write.allocation == allocation && write.offset == offset;
  return is_it ? &write : nullptr;
}

}  // namespace warpcheck::vgpu
