#include "vgpu/program/operand_roles.hpp"

#include "vgpu/program/matrix.hpp"
#include "vgpu/program/multimem.hpp"
#include "vgpu/program/tensor_memory.hpp"
#include "vgpu/program/unpacking.hpp"

namespace warpcheck::vgpu {
namespace {

OperandRoles roles_of_rows(const Instr& instr) {
  using enum ComputeOperand;
  if (is_matrix_product(instr)) {
    return {.reads = {MatrixOperand::a, MatrixOperand::b, MatrixOperand::c, MatrixOperand::metadata,
                      WarpOperand::members},
            .writes = {MatrixOperand::d},
            .opaque = true};
  }
  if (unpacks(instr)) return {.reads = {a}, .writes = {d, e, c, f}};
  return {.reads = {a, b, c, f}, .writes = {d, e}};
}

OperandRoles roles_of_warp_operation(const Instr& instr) {
  using enum WarpOperand;
  if (is_matrix_product(instr)) return roles_of_rows(instr);
  return {.reads = {value, lane, clamp, members}, .writes = {result, predicate}};
}

constexpr OperandSet kValueElements{MemoryOperand::value, MemoryOperand::value + 1,
                                    MemoryOperand::value + 2, MemoryOperand::value + 3};
constexpr OperandSet kStored{MemoryOperand::address, MemoryOperand::value, MemoryOperand::value + 1,
                             MemoryOperand::value + 2, MemoryOperand::value + 3};

OperandRoles roles_of_atomic(const Instr& instr) {
  using enum AtomicOperand;
  const bool is_scalar = instr.modifiers.vector <= 1 && ptx::bytes_of(instr.modifiers.type) <= 8;
  return {.reads = {address, value, swap}, .writes = {old}, .opaque = !is_scalar};
}

OperandRoles roles_of_async_store(const Instr& instr) {
  if (instr.modifiers.atom_op != ptx::AtomOp::none) {
    return {.reads = {AtomicOperand::address, AtomicOperand::value, AsyncStoreOperand::object}};
  }
  return {.reads = {MemoryOperand::address, MemoryOperand::value, MemoryOperand::value + 1,
                    MemoryOperand::value + 2, MemoryOperand::value + 3, AsyncStoreOperand::object}};
}

OperandRoles roles_of_bulk_copy(const Instr& instr) {
  using enum BulkOperand;
  if (!is_multimem(instr)) return {.reads = {target, source, bytes, object, blocks}};
  if (is_multimem_load(instr)) return {.reads = {target}, .writes = {rows}, .opaque = true};
  return {.reads = {target, rows}, .opaque = true};
}

std::vector<Ref> rows_from(const Ref& first, std::uint32_t count) {
  std::vector<Ref> rows;
  for (std::uint32_t i = 0; i < count; ++i) rows.push_back(row_after(first, i));
  return rows;
}

}  // namespace

OperandRoles roles_of(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::compute: return roles_of_rows(instr);
    case InstrKind::warp:
    case InstrKind::warp_sync: return roles_of_warp_operation(instr);
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address: return {.writes = {ScalarOperand::result}};
    case InstrKind::fence: return {.reads = {MemoryOperand::address}};
    case InstrKind::load: return {.reads = {MemoryOperand::address}, .writes = kValueElements};
    case InstrKind::store: return {.reads = kStored};
    case InstrKind::atomic: return roles_of_atomic(instr);
    case InstrKind::async_store: return roles_of_async_store(instr);
    case InstrKind::barrier_object:
      return {.reads = {ObjectOperand::address, ObjectOperand::value},
              .writes = {ObjectOperand::result}};
    case InstrKind::barrier:
      return {.reads = {BarrierOperand::number, BarrierOperand::threads, BarrierOperand::predicate},
              .writes = {BarrierOperand::result}};
    case InstrKind::copy:
      return {.reads = {CopyOperand::target, CopyOperand::source, CopyOperand::bytes,
                        CopyOperand::ignores}};
    case InstrKind::copy_group: return {.reads = {CopyGroupOperand::groups_left}};
    case InstrKind::bulk_copy: return roles_of_bulk_copy(instr);
    case InstrKind::tensor_copy:
      return {.reads = {TensorOperand::shared, TensorOperand::map, TensorOperand::coordinates,
                        TensorOperand::object, TensorOperand::blocks},
              .opaque = true};
    case InstrKind::group_load:
      return {.reads = {GroupOperand::descriptor}, .writes = {GroupOperand::rows}, .opaque = true};
    case InstrKind::group_pending: return {.reads = {GroupOperand::groups_left}, .opaque = true};
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
      return {.reads = {HeapOperand::argument}, .writes = {HeapOperand::result}};
    case InstrKind::print:
      return {.reads = {PrintOperand::format, PrintOperand::arguments},
              .writes = {PrintOperand::result}};
    case InstrKind::assertion:
      return {.reads = {AssertionOperand::condition, AssertionOperand::file, AssertionOperand::line,
                        AssertionOperand::function}};
    case InstrKind::stack:
      return {.reads = {StackOperand::argument}, .writes = {StackOperand::result}};
    case InstrKind::jump_table: return {.reads = {TargetOperand::index}};
    case InstrKind::call_register: return {.reads = {TargetOperand::address}, .opaque = true};
    case InstrKind::texture:
    case InstrKind::tensor_memory:
    case InstrKind::device_call: return {.opaque = true};
    case InstrKind::cluster_barrier:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::call:
    case InstrKind::ret:
    case InstrKind::exit:
    case InstrKind::sleep:
    case InstrKind::trap:
    case InstrKind::refusal:
    case InstrKind::nop: break;
  }
  return {};
}

std::vector<Ref> destinations_of(const Program& program, const Instr& instr) {
  if (instr.kind == InstrKind::texture) {
    const auto& values = program.texture_instrs[instr.texture].values;
    return {values.begin(), values.end()};
  }
  if (instr.kind == InstrKind::tensor_memory) {
    return destinations_of(tensor_instr_of(program, instr));
  }
  if (instr.kind == InstrKind::device_call) {
    const DeviceCallInstr& call = program.device_calls[instr.device_call];
    return {call.result, call.stored};
  }
  if (instr.kind == InstrKind::atomic) {
    const bool is_quad = ptx::bytes_of(instr.modifiers.type) == 16;
    return rows_from(instr[AtomicOperand::old], is_quad ? 2u : instr.modifiers.vector);
  }
  if (is_matrix_product(instr)) {
    return rows_from(instr[MatrixOperand::d], registers_of(product_of(instr), MatrixOperand::d));
  }
  if (is_multimem_load(instr)) {
    return rows_from(instr[BulkOperand::rows], instr.modifiers.vector);
  }
  if (instr.kind == InstrKind::group_load) {
    return rows_from(instr[GroupOperand::rows], group_load_of(instr).registers());
  }
  std::vector<Ref> rows;
  // In the order in which a vector is unpacked.
  if (unpacks(instr)) {
    for (const ComputeOperand part : kUnpackedParts) rows.push_back(instr[part]);
    return rows;
  }
  roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& row) { rows.push_back(row); });
  return rows;
}

}  // namespace warpcheck::vgpu
