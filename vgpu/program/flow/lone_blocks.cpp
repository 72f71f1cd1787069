#include "vgpu/program/flow/lone_blocks.hpp"

#include <algorithm>

#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/flow/unwritten_registers.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_of_one_machine(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::special:
      return tells_place_or_time(instr.special) || instr.special == ptx::SpecialRegister::nsmid;
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
    case InstrKind::device_call:
    case InstrKind::bulk_copy:
    case InstrKind::async_store:
    case InstrKind::tensor_copy:
    case InstrKind::group_load:
    case InstrKind::tensor_memory:
    case InstrKind::group_pending: return true;
    default: return false;
  }
}

}  // namespace

bool blocks_may_run_apart(const Program& program) {
  const bool is_whole = program.uses_heap || program.uses_clusters || program.has_grid_workspace;
  return !is_whole && std::ranges::none_of(program.code, is_of_one_machine) &&
         !reads_unwritten_register(program);
}

}  // namespace warpcheck::vgpu
