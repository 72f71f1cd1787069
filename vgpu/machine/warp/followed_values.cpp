#include "vgpu/machine/warp/followed_values.hpp"

#include "vgpu/program/matrix.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

// The code that handles addresses, branches and table lookups reports those uses itself.
OperandSet deciding_operands(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::warp_sync:
      if (is_matrix_product(instr)) return {WarpOperand::members};
      return {WarpOperand::lane, WarpOperand::clamp, WarpOperand::members};
    case InstrKind::barrier: return {BarrierOperand::number, BarrierOperand::threads};
    case InstrKind::copy: return {CopyOperand::bytes, CopyOperand::ignores};
    case InstrKind::copy_group: return {CopyGroupOperand::groups_left};
    case InstrKind::stack: return {StackOperand::argument};
    default: return {};
  }
}

void follow_texture(const RunningLaunch& launch, const RunningFragment& run,
                    const TextureInstr& texture, std::uint32_t active) {
  const bool of_surface = texture.operation == TextureInstr::Operation::load ||
                          texture.operation == TextureInstr::Operation::store;
  if (of_surface) return report_unfollowed(launch, run, active);
  const auto report = [&](const Ref& ref) {
    launch.use_of_undefined(run, UndefinedUse::Kind::operand, ref, active);
  };
  report(texture.level);
  for (const Ref& ref : texture.dx) report(ref);
  for (const Ref& ref : texture.dy) report(ref);
}

}  // namespace

void report_unfollowed(const RunningLaunch& launch, const RunningFragment& run,
                       std::uint32_t lanes) {
  UndefinedUse use;
  use.kind = UndefinedUse::Kind::instruction;
  use.program = &launch.program();
  use.place = launch.place_of(run.slot, run.warp);
  use.pc = use.origin = run.pc;
  use.lanes = lanes;
  launch.notify([&](Observer& observer) { observer.on_undefined_use(use); });
}

void follow_values(const RunningLaunch& launch, const RunningFragment& run, const Instr& instr,
                   std::uint32_t active) {
  // If the guard is false, the old value stays, so the guard decides what the register contains.
  if (instr.kind == InstrKind::compute) {
    launch.use_of_undefined(run, UndefinedUse::Kind::branch, instr.guard, run.mask);
    return;
  }
  if (active == 0) return;
  switch (instr.kind) {
    case InstrKind::warp:
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic:
    case InstrKind::cluster_barrier:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::jump_table:
    case InstrKind::call:
    case InstrKind::call_register:
    case InstrKind::ret:
    case InstrKind::exit:
    case InstrKind::fence:
    case InstrKind::sleep:
    case InstrKind::trap:
    case InstrKind::nop: return;
    case InstrKind::texture:
      return follow_texture(launch, run, launch.program().texture_instrs[instr.texture], active);
    case InstrKind::warp_sync:
    case InstrKind::barrier:
    case InstrKind::copy:
    case InstrKind::copy_group:
    case InstrKind::stack:
      return deciding_operands(instr).for_each_in(instr.operands, [&](const Ref& ref) {
        launch.use_of_undefined(run, UndefinedUse::Kind::operand, ref, active);
      });
    default: return report_unfollowed(launch, run, active);
  }
}

void mark_results(const RunningLaunch& launch, RunningFragment& run, const Instr& instr,
                  std::uint32_t lanes) {
  roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& ref) {
    run.warp.undefined.set(run.frame, ref, {lanes, run.pc}, lanes, launch.program());
  });
}

}  // namespace warpcheck::vgpu
