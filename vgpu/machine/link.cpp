#include "vgpu/machine/link.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/rows.hpp"
#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/warp_ops.hpp"
#include "vgpu/program/flow/passing_edges.hpp"
#include "vgpu/program/flow/read_uses.hpp"
#include "vgpu/program/flow/unwritten_registers.hpp"
#include "vgpu/ptx/memory_order.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::vgpu {

namespace baseline {
extern const std::array<MemoryRowFunctions, 2> kMemoryRowFunctions;  // by concurrent
}
namespace avx2 {
extern const std::array<MemoryRowFunctions, 2> kMemoryRowFunctions;  // by concurrent
}
namespace avx512 {
extern const std::array<MemoryRowFunctions, 2> kMemoryRowFunctions;  // by concurrent
}

const MemoryRowFunctions& memory_row_functions(bool concurrent) {
  return memory_row_functions(chosen_simd_level(), concurrent);
}

const MemoryRowFunctions& memory_row_functions(SimdLevel level, bool concurrent) {
  const std::size_t index = concurrent ? 1 : 0;
  switch (level) {
    case SimdLevel::avx512: return avx512::kMemoryRowFunctions[index];
    case SimdLevel::avx2: return avx2::kMemoryRowFunctions[index];
    default: return baseline::kMemoryRowFunctions[index];
  }
}

namespace {

void refuse(Program& program, std::uint32_t pc, std::string_view why) {
  const Source& source = program.source_of(pc);
  const ptx::SourceLocation place = program.user_location(pc);
  const std::string from = place.file < program.files.size()
                               ? fmt::format(" (from {}:{})", program.files[place.file], place.line)
                               : std::string();
  const std::string refusal = fmt::format("kernel '{}': PTX line {}{}: '{}' is not supported: {}",
                                          program.kernel, source.ptx_line, from, source.text, why);
  if (!program.functions[program.function_of(pc)].by_address) throw Refusal(refusal);
  Instr& instr = program.code[pc];
  instr.kind = InstrKind::refusal;
  instr.refusal = static_cast<std::uint32_t>(program.refusals.size());
  program.refusals.push_back(refusal);
}

// Returns whether the device call launches a kernel or a graph.
bool launches(const Program& program, const Instr& instr) {
  if (instr.kind != InstrKind::device_call) return false;
  const DeviceFunction function = program.device_calls[instr.device_call].function;
  return function == DeviceFunction::__cudaCDP2LaunchDevice ||
         function == DeviceFunction::__cudaCDP2LaunchDeviceV2 ||
         function == DeviceFunction::cudaGraphLaunch ||
         function == DeviceFunction::__cudaCDP2MemcpyAsync ||
         function == DeviceFunction::__cudaCDP2MemsetAsync;
}

// Returns whether the instruction is a fence that orders threads only together with strong
// operations: patterns consist of both (PTX ISA 8.8).
bool is_plain_fence(const Instr& instr) {
  return instr.kind == InstrKind::fence && instr.opcode != ptx::Opcode::griddepcontrol_ &&
         !instr.modifiers.proxy && !instr.modifiers.object_inits && !instr.modifiers.tensor_map;
}

// Returns whether the instruction may be a strong operation of memory that threads share.
bool is_strong(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load:
    case InstrKind::store: return instr.modifiers.order != ptx::Order::weak;
    case InstrKind::atomic:
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
    case InstrKind::device_call: return true;
    default: return false;
  }
}

// Returns whether the instruction can order threads by something other than a barrier of their
// whole block.
bool synchronizes_threads(const Instr& instr) {
  switch (ptx::row_of(instr.opcode).family) {
    case ptx::Family::fence: return !is_plain_fence(instr);
    case ptx::Family::barrier_object:
    case ptx::Family::warpgroup:
    case ptx::Family::tensor_memory:
    case ptx::Family::copy: return true;
    case ptx::Family::barrier:
      return instr.modifiers.warp || instr.modifiers.arrive ||
             instr[BarrierOperand::threads].bank != Bank::none;
    default: break;
  }
  if (instr.modifiers.scope == ptx::Scope::cluster) return true;
  return ptx::acquires(instr.modifiers.order) || ptx::releases(instr.modifiers.order);
}

bool may_write_global(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::store:
    case InstrKind::atomic:
      return instr.modifiers.space == ptx::Space::global ||
             instr.modifiers.space == ptx::Space::generic;
    case InstrKind::copy: return instr.opcode == ptx::Opcode::discard_;
    case InstrKind::bulk_copy:
    case InstrKind::tensor_copy:
    case InstrKind::texture: return true;
    default: return false;
  }
}

void list_noncoherent_accesses(Program& program) {
  std::set<std::uint16_t> loads, writes;
  for (const Instr& instr : program.code) {
    if (instr.modifiers.noncoherent) loads.insert(instr.provenance);
    const bool has_provenance = instr.kind == InstrKind::store || instr.kind == InstrKind::atomic;
    if (may_write_global(instr)) writes.insert(has_provenance ? instr.provenance : 0);
  }
  program.noncoherent_loads.assign(loads.begin(), loads.end());
  program.global_writes.clear();
  if (!loads.empty()) program.global_writes.assign(writes.begin(), writes.end());
}

}  // namespace

std::string_view why_no_machine_code() { return NativeCode::why_none(chosen_simd_level()); }

void link(Program& program) { link(program, chosen_simd_level()); }

void link(Program& program, SimdLevel level) {
  program.native = std::make_shared<NativeTier>(level, program.code.size());
  program.data_reads = find_data_reads(program);
  program.unwritten_registers = unwritten_registers(program);
  program.passing_edges = find_passing_edges(program);
  program.has_collectives = program.has_constant_accesses = false;
  program.synchronizes_threads = program.has_named_barriers || program.uses_clusters;
  bool has_fences = false, has_strong = false;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    Instr& instr = program.code[pc];
    program.has_constant_accesses |= instr.modifiers.space == ptx::Space::constant;
    program.synchronizes_threads |= synchronizes_threads(instr) || launches(program, instr);
    has_fences |= is_plain_fence(instr);
    has_strong |= is_strong(instr);
    switch (instr.kind) {
      case InstrKind::compute:
        instr.compute = find_compute(instr, level);
        if (instr.compute == nullptr) refuse(program, pc, "the machine has no such operation");
        break;
      case InstrKind::warp_sync:
        if (instr.modifiers.warp) break;  // bar.warp.sync computes nothing
        [[fallthrough]];
      case InstrKind::warp:
        instr.compute = find_warp_op(instr, level);
        program.has_collectives |= instr.kind == InstrKind::warp_sync;
        if (instr.compute == nullptr) refuse(program, pc, "the machine has no such operation");
        break;
      case InstrKind::bulk_copy:
      case InstrKind::async_store:
        if (instr.modifiers.atom_op == ptx::AtomOp::none) break;
        [[fallthrough]];
      case InstrKind::atomic:
        if (!atomic_is_supported(instr.modifiers)) {
          refuse(program, pc, "the machine has no such atomic operation or type");
        }
        break;
      default: break;
    }
  }
  program.synchronizes_threads |= has_fences && has_strong;
  list_noncoherent_accesses(program);
}

}  // namespace warpcheck::vgpu
