#include "vgpu/machine/warp/exits.hpp"

#include <bit>

#include "vgpu/machine/sync/passed_barriers.hpp"
#include "vgpu/machine/tensor/warpgroup_steps.hpp"
#include "vgpu/machine/warp/branches.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

Step Exits::leave(RunningFragment& run, std::size_t index, const Instr& instr,
                  std::uint32_t lanes) {
  Warp& warp = run.warp;
  if (lanes != run.mask) {  // the other lanes continue
    const std::size_t other = warp.fragments.split(index, run.mask & ~lanes);
    ++warp.fragments[other].pc;
  }
  Fragment& fragment = warp.fragments[index];
  switch (instr.kind) {
    case InstrKind::call: return dependencies_.calls.enter(run, index, instr.function);
    case InstrKind::call_register: return dependencies_.calls.enter_by_register(run, index, instr);
    case InstrKind::jump_table: return jump_by_table(launch_, run, index, instr);
    case InstrKind::ret: return dependencies_.calls.return_to_caller(run, index);
    case InstrKind::stack: return dependencies_.stacks.move(run, index, instr);
    case InstrKind::print: return dependencies_.printing.print(run, index, instr);
    case InstrKind::assertion: return dependencies_.printing.fail_assertion(run, index, instr);
    case InstrKind::refusal: return launch_.refuse(launch_.program().refusals[instr.refusal]);
    case InstrKind::exit: exit(run, index, lanes); return Step::again;
    case InstrKind::barrier:
      if (launch_.program().has_named_barriers) {
        dependencies_.named_barriers.arrive(run, index, instr, lanes);
      } else {
        dependencies_.block_barriers.arrive(run, index, lanes);
      }
      return Step::again;
    case InstrKind::cluster_barrier:
      return dependencies_.cluster_barriers.arrive_or_wait(run, index, instr, lanes);
    case InstrKind::bulk_copy:
      ++fragment.pc;
      return dependencies_.bulk_copies.copy(run, instr, lanes);
    case InstrKind::tensor_copy:
      ++fragment.pc;
      return dependencies_.tensor_copies.execute(run, instr, lanes);
    case InstrKind::group_load:
      ++fragment.pc;
      return dependencies_.warpgroups.load(run, instr, lanes);
    case InstrKind::group_pending:
      if (must_wait_for_warpgroup(launch_, run.slot, warp, fragment)) {
        return launch_.yield(fragment);
      }
      ++fragment.pc;
      dependencies_.warpgroups.change_groups(run, instr, lanes);
      return Step::again;
    case InstrKind::tensor_memory:
      return dependencies_.tensor_memory.execute(run, index, instr, lanes);
    case InstrKind::async_store:
      ++fragment.pc;
      return dependencies_.bulk_copies.store(run, instr, lanes);
    case InstrKind::sleep:
      ++fragment.pc;
      warp.pauses();
      return launch_.yield(fragment);
    default:
      return launch_.halt(
          run, lanes,
          instr.opcode == ptx::Opcode::brkpt_ ? Trap::Cause::breakpoint : Trap::Cause::trap);
  }
}

void Exits::note_exit(const RunningFragment& run, std::uint32_t lanes) {
  Slot& slot = run.slot;
  if (slot.exit_pc != ptx::kNone) return;
  slot.exit_pc = run.pc;
  slot.exit_warp = run.warp.index;
  slot.exit_lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
}

void Exits::exit_together(RunningFragment& run) const {
  Slot& slot = run.slot;
  note_exit(run, run.mask);
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    slot.warps[index].live = 0;
    slot.warps[index].exit_pc = run.pc;
    slot.warps[index].fragments.clear();
  }
  slot.live_lanes = 0;
  end_block(slot);
}

// All threads of the block have exited.
void Exits::end_block(Slot& slot) const {
  compare_warpgroups(launch_, slot);
  dependencies_.tensor_memory.end_block(slot);
}

void Exits::exit(RunningFragment& run, std::size_t index, std::uint32_t lanes) {
  Slot& slot = run.slot;
  Warp& warp = run.warp;
  if (launch_.observers().passed_barriers != nullptr) {
    launch_.observers().passed_barriers->exit(slot, warp, lanes);
  }
  warp.live &= ~lanes;
  warp.exit_pc = run.pc;
  note_exit(run, lanes);
  slot.live_lanes -= lane_count(lanes);
  if (slot.live_lanes == 0) end_block(slot);
  warp.fragments.remove(index);
  dependencies_.meetings.recheck(slot, warp);
  if (launch_.program().has_named_barriers) {
    dependencies_.named_barriers.recount(slot);
  } else {
    dependencies_.block_barriers.complete_if_all_wait(slot);
  }
  if (launch_.program().uses_clusters) dependencies_.cluster_barriers.leave(slot, warp, lanes);
}

}  // namespace warpcheck::vgpu
