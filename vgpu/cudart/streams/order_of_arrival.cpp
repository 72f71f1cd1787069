#include "vgpu/cudart/streams/order_of_arrival.hpp"

#include <algorithm>

#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::Instr;
using vgpu::InstrKind;

bool atomic_shows_order(const Instr& atomic) {
  const ptx::AtomOp op = atomic.modifiers.atom_op;
  return atomic[vgpu::AtomicOperand::old].bank != vgpu::Bank::none || op == ptx::AtomOp::exch ||
         op == ptx::AtomOp::cas || ptx::is_float(atomic.modifiers.type);
}

// Local, parameter and constant memory are nobody else's.
bool is_shared_with_others(const Instr& access) {
  using enum ptx::Space;
  const ptx::Space space = access.modifiers.space;
  return space != local && space != param && space != constant;
}

bool is_atomic_load(const Instr& load) {
  return load.modifiers.order != ptx::Order::weak && is_shared_with_others(load);
}

bool is_atomic_store(const Instr& store) {
  const ptx::Order order = store.modifiers.order;
  return order != ptx::Order::weak && order != ptx::Order::volatile_ &&
         is_shared_with_others(store);
}

bool shows_order(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load: return is_atomic_load(instr);
    case InstrKind::store: return is_atomic_store(instr);
    case InstrKind::atomic: return atomic_shows_order(instr);
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

std::optional<std::uint32_t> sees_order_of_arrival(const vgpu::Program& kernel) {
  const auto found = std::ranges::find_if(kernel.code, shows_order);
  if (found == kernel.code.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - kernel.code.begin());
}

}  // namespace warpcheck::cudart
