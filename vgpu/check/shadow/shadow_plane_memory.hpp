// ShadowPlane: accesses to memory, and instructions that are neither these nor compute.
#pragma once

#include <algorithm>

#include "vgpu/check/shadow/shadow_plane.hpp"
#include "vgpu/program/multimem.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {

template <class Domain>
void ShadowPlane<Domain>::begin_memory() {
  const Instr& instr = *current_.instr;
  const std::uint32_t active = current_.step.active;
  current_.moved = current_.fetched = {};
  current_.buffer.clear();
  current_.cells_swapped.clear();
  current_.updated_plain.clear();
  const bool loads = instr.kind == InstrKind::load || instr.kind == InstrKind::group_load;
  if (!loads && instr.kind != InstrKind::store && instr.kind != InstrKind::atomic) {
    roles_of(instr).reads.for_each_in(
        instr.operands, [&](const Ref& ref) { check_lanes(ref, active, ShadowDecision::address); });
    return;
  }
  const Ref& address = instr.kind == InstrKind::group_load ? instr[GroupOperand::descriptor]
                                                           : instr[MemoryOperand::address];
  check_lanes(address, active, ShadowDecision::address);
  if (!loads) return;
  for (const Ref& ref : destinations_of(*current_.step.program, instr)) {
    for_each_lane(active, [&](unsigned lane) {
      current_.warp->registers.make_plain(current_.frame, ref, lane);
    });
  }
}

template <class Domain>
void ShadowPlane<Domain>::on_access(const Access& access) {
  if (access.space == ptx::Space::param) return;
  Cells& memory = memory_of(*access.allocation);
  const bool is_current = access.program == current_.step.program && access.pc == current_.step.pc;
  // The accesses of multimem go to several memories: what they load is lost in any case.
  const Instr& accessing = access.program->code[access.pc];
  const InstrKind kind = is_multimem(accessing) ? InstrKind::nop : accessing.kind;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t offset = access.offset[lane];
    const std::uint64_t at = access.space == ptx::Space::local
                                 ? place_in_lane(*access.allocation, lane, offset)
                                 : offset;
    switch (is_current ? kind : InstrKind::nop) {
      case InstrKind::load:
      case InstrKind::store: return move_accessed(access, lane, memory, at);
      case InstrKind::group_load: return load_of_product(access, lane, memory, at);
      case InstrKind::atomic: return update(access, lane, memory, at);
      case InstrKind::copy:
      case InstrKind::bulk_copy:
      case InstrKind::tensor_copy: return copy_accessed(access, lane, memory, at);
      case InstrKind::barrier_object: return memory.make_plain(at, access.bytes);
      default:
        if (access.kind != AccessKind::read)
          memory.lose(at, access.bytes, site_of(*access.program, access.pc));
    }
  });
}

// Moves the shadows of what a lane loads or stores.  An access to local memory comes word by word.
template <class Domain>
void ShadowPlane<Domain>::move_accessed(const Access& access, unsigned lane, Cells& memory,
                                        std::uint64_t at) {
  const Instr& instr = *current_.instr;
  const ptx::Type type = instr.modifiers.type;
  const std::uint32_t width = std::min(ptx::bytes_of(type), 8u);
  if (memory.empty() && current_.warp->registers.is_empty()) {
    current_.moved[lane] += access.bytes;
    return;
  }
  for (std::uint32_t done = 0; done < access.bytes;) {
    const std::uint32_t from = current_.moved[lane] + done, byte = from % width;
    const std::uint32_t bytes = std::min(width - byte, access.bytes - done);
    const Ref& ref = instr[MemoryOperand::value + from / width];
    if (!is_register(ref)) {
      if (instr.kind == InstrKind::store) memory.make_plain(at + done, bytes);
      done += bytes;
      continue;
    }
    Cells& cells = current_.warp->registers.cells(ref);
    const std::uint64_t row = current_.frame.byte_of(ref, lane);
    if (instr.kind == InstrKind::store) {
      memory.copy(at + done, cells, row + byte, bytes);
    } else {
      cells.copy(row + byte, memory, at + done, bytes);
      const std::uint32_t whole = ShadowRegisters<Value>::bytes_of(ref);
      const bool extends = ptx::is_signed(type) && width < whole;
      if (extends && cells.read(row, width, kTorn).state != ShadowState::plain)
        cells.lose(row + width, whole - width, site());
    }
    done += bytes;
  }
  current_.moved[lane] += access.bytes;
}

// Moves the shadows of what a lane loads for a product of its warpgroup: its registers come one
// after the other, whole or in halves.
template <class Domain>
void ShadowPlane<Domain>::load_of_product(const Access& access, unsigned lane, Cells& memory,
                                          std::uint64_t at) {
  const std::uint32_t from = current_.moved[lane];
  const Ref to = row_after((*current_.instr)[GroupOperand::rows], from / 4);
  current_.warp->registers.cells(to).copy(current_.frame.byte_of(to, lane) + from % 4, memory, at,
                                          access.bytes);
  current_.moved[lane] += access.bytes;
}

// A copy reads before it writes; what it writes without having read it are zeros.
template <class Domain>
void ShadowPlane<Domain>::copy_accessed(const Access& access, unsigned lane, Cells& memory,
                                        std::uint64_t at) {
  const std::uint64_t mine = lane * kBufferBytes;
  if (access.kind == AccessKind::read) {
    current_.buffer.copy(mine + current_.fetched[lane], memory, at, access.bytes);
    current_.fetched[lane] += access.bytes;
    return;
  }
  const bool reduces = access.kind == AccessKind::atomic || current_.instr->modifiers.reduce;
  const std::uint32_t bytes = std::min<std::uint32_t>(access.bytes, current_.fetched[lane]);
  if (reduces) {
    memory.lose(at, access.bytes, site());
  } else {
    memory.make_plain(at, access.bytes);
    memory.copy(at, current_.buffer, mine, bytes);
  }
  current_.buffer.make_plain(mine, current_.fetched[lane]);
  current_.fetched[lane] = 0;
}

// An atomic operation of one lane, after those of lower lanes.  One on a packed type is an access
// to each element.
template <class Domain>
void ShadowPlane<Domain>::update(const Access& access, unsigned lane, Cells& memory,
                                 std::uint64_t at) {
  const Instr& instr = *current_.instr;
  ShadowRegisters<Value>& registers = current_.warp->registers;
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  const std::uint32_t bytes = ptx::bytes_of(element_type_of(instr.modifiers.type));
  if (access.bytes != bytes || whole > 8) {
    current_.moved[lane] += access.bytes;
    memory.lose(at, access.bytes, site());
    if (current_.moved[lane] == access.bytes) {
      for (const Ref& ref : destinations_of(*current_.step.program, instr)) {
        registers.lose(current_.frame, ref, lane, site());
      }
    }
    return;
  }
  const std::uint32_t number = current_.moved[lane] / whole, part = current_.moved[lane] % whole;
  current_.moved[lane] += bytes;
  const Ref operand = row_after(instr[AtomicOperand::value], number);
  Cells before;
  before.copy(0, memory, at, bytes);
  std::uint64_t found = 0;
  std::memcpy(&found, access.allocation->data + access.offset[lane], bytes);
  switch (instr.modifiers.atom_op) {
    case ptx::AtomOp::exch: put_register(memory, at, operand, lane, bytes); break;
    case ptx::AtomOp::cas: swap(memory, at, lane, found, bytes); break;
    default: combine(memory, at, operand, lane, part, found); break;
  }
  const Ref old = row_after(instr[AtomicOperand::old], number);
  if (!is_register(old)) return;
  if (part == 0) registers.make_plain(current_.frame, old, lane);
  registers.cells(old).copy(current_.frame.byte_of(old, lane) + part, before, 0, bytes);
}

template <class Domain>
void ShadowPlane<Domain>::put_register(Cells& memory, std::uint64_t at, const Ref& ref,
                                       unsigned lane, std::uint32_t bytes) {
  if (!is_register(ref)) return memory.make_plain(at, bytes);
  memory.copy(at, current_.warp->registers.cells(ref), current_.frame.byte_of(ref, lane), bytes);
}

// found: the bits before the instruction, which lower lanes may have swapped since
template <class Domain>
void ShadowPlane<Domain>::swap(Cells& memory, std::uint64_t at, unsigned lane, std::uint64_t found,
                               std::uint32_t bytes) {
  const Instr& instr = *current_.instr;
  const Ref &expected = instr[AtomicOperand::value], &next = instr[AtomicOperand::swap];
  const auto [now, is_first] = current_.cells_swapped.try_emplace(at, found);
  const Reading wanted =
      current_.warp->registers.read(current_.frame, expected, lane, 0, bytes, site());
  const Reading held = memory.read(at, bytes, site());
  for (const Reading& one : {wanted, held}) {
    if (one.state != ShadowState::plain)
      domain_.decided(here(lane), ShadowDecision::operand,
                      one.state == ShadowState::lost ? one.site : site());
  }
  if (now->second != current_.frame.bits_of(expected, lane, 0, bytes)) return;
  now->second = current_.frame.bits_of(next, lane, 0, bytes);
  put_register(memory, at, next, lane, bytes);
}

template <class Domain>
void ShadowPlane<Domain>::combine(Cells& memory, std::uint64_t at, const Ref& ref, unsigned lane,
                                  std::uint32_t part, std::uint64_t found) {
  const Instr& instr = *current_.instr;
  const ptx::Type type = element_type_of(instr.modifiers.type);
  const std::uint32_t bytes = ptx::bytes_of(type);
  const ptx::AtomOp op = instr.modifiers.atom_op;
  const ShadowOperation operation{op == ptx::AtomOp::add   ? ptx::Opcode::add_
                                  : op == ptx::AtomOp::min ? ptx::Opcode::min_
                                  : op == ptx::AtomOp::max ? ptx::Opcode::max_
                                                           : ptx::Opcode::atom_,
                                  &instr.modifiers, type, type};
  const Reading held = memory.read(at, bytes, site());
  const Reading added =
      current_.warp->registers.read(current_.frame, ref, lane, part, bytes, site());
  const bool is_plain = held.state == ShadowState::plain && added.state == ShadowState::plain;
  const bool is_stale = std::ranges::count(current_.updated_plain, at) != 0;
  if (is_plain && (is_stale || !Domain::lifts(operation)))
    return current_.updated_plain.push_back(at);
  const auto operand_of = [&](const Reading& given, std::uint64_t bits) {
    const Reading reading = as_type(given, type);
    const bool trusts = Domain::kTrustsBits && reading.state == ShadowState::lost;
    const std::optional<Value> value = value_of(trusts ? Reading{} : reading, bits, type);
    return value ? std::optional<Operand>({reading.state != ShadowState::value, *value, bits})
                 : std::nullopt;
  };
  const bool is_known = held.state != ShadowState::plain || !is_stale;
  const std::optional<Operand> a = operand_of(held, found);
  const std::optional<Operand> b =
      operand_of(added, current_.frame.bits_of(ref, lane, part, bytes));
  std::optional<Value> value;
  if (a && b && is_known) {
    const std::array<Operand, 2> operands{*a, *b};
    value = domain_.apply(here(lane), operation, operands, nullptr);
  }
  if (value) {
    memory.set(at, bytes, *value);
  } else if (!is_plain) {
    memory.lose(at, bytes,
                held.state == ShadowState::lost    ? held.site
                : added.state == ShadowState::lost ? added.site
                                                   : site());
  }
}

// Instructions whose results are no values that somebody shadows, or for which there is no rule.
template <class Domain>
void ShadowPlane<Domain>::begin_other() {
  const Instr& instr = *current_.instr;
  const std::uint32_t active = current_.step.active;
  switch (instr.kind) {
    case InstrKind::barrier:
    case InstrKind::barrier_object:
    case InstrKind::jump_table:
    case InstrKind::call_register:
    case InstrKind::stack:
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
    case InstrKind::async_store:
      roles_of(instr).reads.for_each_in(instr.operands, [&](const Ref& ref) {
        check_lanes(ref, active, ShadowDecision::operand);
      });
      return lose_results(0);
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::print:
    case InstrKind::cluster_barrier: return lose_results(0);
    case InstrKind::bulk_copy:  // multimem
    case InstrKind::texture:
    case InstrKind::device_call:
    case InstrKind::tensor_memory: return lose_results(active);
    default: return;
  }
}

}  // namespace warpcheck::vgpu
