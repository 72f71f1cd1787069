#include "vgpu/machine/memory/bulk_copies.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "vgpu/machine/memory/multimem.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {

using ptx::Space;
using ptx::Type;

namespace {

constexpr std::uint32_t kUnitBytes = 16;  // sizes and addresses are multiples of this

}  // namespace

Instr part_of_bulk(const Instr& whole, InstrKind kind, Space space, Type type,
                   std::uint8_t elements) {
  Instr part = whole;
  part.kind = kind;
  part.operands = {};
  part.guard = {};
  part.modifiers = {};
  part.modifiers.space = space;
  part.modifiers.type = type;
  part.modifiers.vector = elements;
  return part;
}

// st.bulk: stores zeros, eight bytes at a time, like stores by the lane.
void BulkCopies::clear(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  constexpr std::uint64_t kStep = 8;
  Instr store = part_of_bulk(instr, InstrKind::store, instr.modifiers.space, Type::b64, 1);
  store[MemoryOperand::address] = instr[BulkOperand::target];
  store[MemoryOperand::value] = instr[BulkOperand::source];
  launch_.use_of_undefined(run, UndefinedUse::Kind::address, instr[BulkOperand::bytes], lanes);
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t bytes =
        address_of({row_of(run.banks, instr[BulkOperand::bytes]), true, 0, 0}, lane);
    for (std::uint64_t at = 0; at < std::min(bytes, kWindowBytes); at += kStep) {
      store.displacement = static_cast<std::int64_t>(at);
      accesses_.execute(run, store, 1u << lane);
    }
  }
}

// clusterlaunchcontrol.try_cancel: each lane's request is answered by 16 bytes
// (launch_control.cpp).
void BulkCopies::cancel_blocks(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::array<std::uint32_t, kUnitBytes / 4> words{};
    if (const std::optional<std::uint32_t> first = blocks_.cancel()) {
      const Dim3 place = launch_.request().grid.position_of(*first);
      words = {place.x, place.y, place.z, 1};
    }
    const Ref& rows = instr[BulkOperand::rows];
    for (std::uint32_t i = 0; i < words.size(); ++i) {
      std::memcpy(row_of(run.banks, {Bank::word, rows.offset + i * kWordRowBytes}) + lane * 4,
                  &words[i], 4);
    }
    const Ref& blocks = instr[BulkOperand::blocks];
    if (blocks.bank != Bank::none) {
      const std::uint32_t all = (1u << launch_.request().cluster.count()) - 1;
      std::memcpy(row_of(run.banks, blocks) + lane * sizeof all, &all, sizeof all);
    }
    for_each_target(run, instr, lane, [&](const Instr& one) { respond(run, one, lane); });
  }
}

void BulkCopies::respond(RunningFragment& run, const Instr& instr, unsigned lane) {
  constexpr std::uint8_t kWords = kUnitBytes / 4;
  Instr store = part_of_bulk(instr, InstrKind::store, Space::shared, Type::b32, kWords);
  store[MemoryOperand::address] = instr[BulkOperand::target];
  for (std::uint32_t i = 0; i < kWords; ++i) {
    store[MemoryOperand::value + i] =
        Ref{Bank::word, instr[BulkOperand::rows].offset + i * kWordRowBytes};
  }
  begin_asynchronous(run, instr[BulkOperand::object], lane, true);
  accesses_.execute(run, store, 1u << lane);
  current_.end_asynchronous();
  complete_bytes(run, instr, instr[BulkOperand::object], instr[BulkOperand::bytes], 0, lane);
}

Step BulkCopies::copy(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  if (instr.opcode == ptx::Opcode::st_) {
    clear(run, instr, lanes);
    return Step::again;
  }
  if (is_multimem(instr)) {
    return MultimemAccesses(launch_, targets_, accesses_).execute(run, instr, lanes);
  }
  if (instr.opcode == ptx::Opcode::clusterlaunchcontrol_) {
    cancel_blocks(run, instr, lanes);
    return Step::again;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t bytes = word_of(run.banks, instr[BulkOperand::bytes], lane);
    if (bytes % kUnitBytes == 0) continue;
    return launch_.halt(run, 1u << lane, Trap::Cause::copy_bytes,
                        fmt::format("(1) copies {}, which is no multiple of {}",
                                    counted(bytes, "byte"), kUnitBytes));
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for_each_target(run, instr, lane, [&](const Instr& one) { copy_of_lane(run, one, lane); });
  }
  return Step::again;
}

void BulkCopies::name_target(RunningFragment& run, const Instr& instr, unsigned lane, unsigned rank,
                             Instr& to_one) const {
  to_one[BulkOperand::target] = {Bank::wide, instr.address_rows};
  to_one[BulkOperand::object] = {Bank::wide, instr.address_rows + kWideRowBytes};
  for (const BulkOperand place : {BulkOperand::target, BulkOperand::object}) {
    const AddressRow row{row_of(run.banks, instr[place]), true, 0, 0};
    const std::uint64_t given = address_of(row, lane);
    std::uint64_t in_block = rank;
    if (place == BulkOperand::object && instr.modifiers.cta_group == 2) {
      // The signal goes to that block of the target's pair whose number is as even or odd as that
      // of the block in which the operand lies (PTX ISA 9.0, 9.7.9.27.1.2).
      const std::uint64_t offset = given % kSharedWindow;
      const std::uint32_t of_object =
          offset < kWindowBytes ? run.slot.cluster_rank : rank_of_window(offset);
      in_block = (in_block & ~std::uint64_t{1}) | (of_object & 1);
    }
    const std::uint64_t address = given % kWindowBytes + window_of_rank(in_block);
    std::memcpy(row_of(run.banks, to_one[place]) + lane * sizeof address, &address, sizeof address);
  }
}

void BulkCopies::begin_asynchronous(const RunningFragment& run, const Ref& object, unsigned lane,
                                    bool async_proxy) {
  if (object.bank == Bank::none) return current_.begin_asynchronous(async_proxy);
  const AddressRow row{row_of(run.banks, object), true, 0, 0};
  Instr place;
  place.modifiers.space = Space::shared;
  const std::uint64_t address = address_of(row, lane);
  const Target target = targets_.of(run, place, address);
  current_.begin_asynchronous(async_proxy, target.allocation,
                              static_cast<std::uint32_t>(address - target.base));
}

void BulkCopies::copy_of_lane(RunningFragment& run, const Instr& instr, unsigned lane) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint32_t bytes = word_of(run.banks, instr[BulkOperand::bytes], lane);
  const Type type = m.reduce ? m.type : m.cp_mask ? Type::b8 : Type::b32;
  const std::uint8_t elements = m.reduce || m.cp_mask ? 1 : kUnitBytes / 4;
  Instr load = part_of_bulk(instr, InstrKind::load, m.source_space, type, elements);
  Instr store =
      part_of_bulk(instr, m.reduce ? InstrKind::atomic : InstrKind::store, m.space, type, elements);
  load[MemoryOperand::address] = instr[BulkOperand::source];
  load.provenance = 0;  // its provenance is that of the target
  store[MemoryOperand::address] = instr[BulkOperand::target];
  for (std::uint32_t i = 0; i < elements; ++i) {
    const bool is_wide = ptx::bytes_of(type) == 8;
    const Ref row = is_wide ? Ref{Bank::wide, instr.address_rows}
                            : Ref{Bank::word, instr[BulkOperand::rows].offset + i * kWordRowBytes};
    load[MemoryOperand::value + i] = row;
    if (m.reduce) {
      store[AtomicOperand::value] = row;
    } else {
      store[MemoryOperand::value + i] = row;
    }
  }
  if (m.reduce) {  // each element separately
    store.modifiers.atom_op = m.atom_op;
    store.modifiers.order = ptx::Order::relaxed;
    store.modifiers.scope = m.space == Space::global ? ptx::Scope::gpu : ptx::Scope::cluster;
  }
  begin_asynchronous(run, instr[BulkOperand::object], lane, true);
  const std::uint32_t step = ptx::bytes_of(type) * elements;
  // .cp_mask: bit i says whether byte i of each 16 bytes is copied.
  const std::uint32_t mask =
      m.cp_mask ? word_of(run.banks, instr[BulkOperand::blocks], lane) : 0xffff;
  for (std::uint32_t at = 0; at < bytes; at += step) {
    if ((mask >> at % kUnitBytes & 1) == 0) continue;
    load.displacement = store.displacement = at;
    accesses_.execute(run, load, 1u << lane);
    accesses_.execute(run, store, 1u << lane);
  }
  current_.end_asynchronous();
  if (instr[BulkOperand::object].bank != Bank::none) {
    complete_bytes(run, instr, instr[BulkOperand::object], instr[BulkOperand::bytes], 0, lane);
  }
}

Step BulkCopies::store(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool reduces = m.atom_op != ptx::AtomOp::none;
  const auto elements = static_cast<std::uint8_t>(instr.elements);
  Instr part = part_of_bulk(instr, reduces ? InstrKind::atomic : InstrKind::store, Space::shared,
                            m.type, elements);
  part.operands = instr.operands;
  part[AsyncStoreOperand::object] = {};
  part.modifiers.atom_op = m.atom_op;
  part.modifiers.order = m.order;
  part.modifiers.scope = m.scope;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    begin_asynchronous(run, instr[AsyncStoreOperand::object], lane, false);
    accesses_.execute(run, part, 1u << lane);
    current_.end_asynchronous();
    complete_bytes(run, instr, instr[AsyncStoreOperand::object], {},
                   ptx::bytes_of(m.type) * elements, lane);
  }
  return Step::again;
}

void BulkCopies::complete_bytes(RunningFragment& run, const Instr& instr, const Ref& object,
                                const Ref& bytes, std::uint32_t constant_bytes, unsigned lane) {
  Instr done = part_of_bulk(instr, InstrKind::barrier_object, Space::shared, Type::b64, 1);
  done.opcode = ptx::Opcode::mbarrier_;
  done.modifiers.object_op = ptx::ObjectOp::complete_tx;
  done.modifiers.scope = ptx::Scope::cluster;
  done.modifiers.async = true;
  done.displacement = 0;
  done[ObjectOperand::address] = object;
  done[ObjectOperand::value] = bytes;
  done.completed_bytes = constant_bytes;
  // Like the bytes, the signal comes before the continuation of every thread that waits for the
  // phase.
  begin_asynchronous(run, object, lane, false);
  barrier_objects_.execute(run, done, 1u << lane);
  current_.end_asynchronous();
}

}  // namespace warpcheck::vgpu
