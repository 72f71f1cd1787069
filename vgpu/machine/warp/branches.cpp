#include "vgpu/machine/warp/branches.hpp"

#include <vector>

#include <fmt/format.h>

namespace warpcheck::vgpu {

bool is_within_table(const Program& program, const RunningFragment& run, const Instr& instr) {
  const std::size_t size = program.jump_tables[instr.table].size();
  for (std::uint32_t rest = run.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (lane_value(run, instr[TargetOperand::index], lane) >= size) return false;
  }
  return true;
}

Step jump_by_table(RunningLaunch& launch, const RunningFragment& run, std::size_t index,
                   const Instr& instr) {
  Fragments& fragments = run.warp.fragments;
  const Ref& operand = instr[TargetOperand::index];
  if (run.warp.undefined.any()) {
    launch.use_of_undefined(run, UndefinedUse::Kind::branch, operand, fragments[index].mask);
  }
  const std::vector<std::uint32_t>& table = launch.program().jump_tables[instr.table];
  bool have_diverged = false;
  for (std::uint32_t rest = fragments[index].mask;;) {
    const std::uint32_t group = lanes_of_same_value(run, operand, rest);
    const std::uint64_t number =
        lane_value(run, operand, static_cast<unsigned>(std::countr_zero(rest)));
    if (number >= table.size()) {
      return launch.halt(
          run, group, Trap::Cause::bad_index,
          fmt::format("(1) jumps to label {} of a list of {}", number, table.size()));
    }
    if (group != rest && !have_diverged) launch.diverge_at(run.pc);
    have_diverged = true;
    rest &= ~group;
    const std::size_t other = rest == 0 ? index : fragments.split(index, rest);
    fragments[index].pc = table[number];
    launch.cross(run.slot, run.warp, group, run.pc, table[number]);
    if (rest == 0) return Step::again;
    index = other;
  }
}

}  // namespace warpcheck::vgpu
