#include "vgpu/cudart/streams/order_of_arrival.hpp"

#include <algorithm>

#include "vgpu/program/flow/order_sources.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::Instr;
using vgpu::InstrKind;

bool tells_order(const Instr& atomic) {
  const ptx::AtomOp op = atomic.modifiers.atom_op;
  return atomic[vgpu::AtomicOperand::old].bank != vgpu::Bank::none || op == ptx::AtomOp::exch ||
         op == ptx::AtomOp::cas || ptx::is_float(atomic.modifiers.type);
}

bool shows_order(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::atomic: return tells_order(instr);
    case InstrKind::special: return vgpu::tells_place_or_time(instr.special);
    case InstrKind::warp:
    case InstrKind::heap_allocate: return true;
    case InstrKind::async_store:
    case InstrKind::bulk_copy:
      return ptx::is_float(instr.modifiers.type) ||
             instr.opcode == ptx::Opcode::clusterlaunchcontrol_;
    // The tensor map determines the type of the elements that are added.
    case InstrKind::tensor_copy: return instr.modifiers.reduce;
    default: return false;
  }
}

}  // namespace

bool order_shows_in_results_of(const vgpu::Program& kernel) {
  return std::ranges::any_of(kernel.code, shows_order);
}

}  // namespace warpcheck::cudart
