#include "vgpu/machine/memory/copies.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns the load or the store that is a part of a copy.
Instr part_of(const Instr& copy, InstrKind kind, ptx::Space space) {
  Instr part = copy;
  part.kind = kind;
  part.operands = {};
  part.modifiers.space = space;
  return part;
}

}  // namespace

// A lane may have fewer source bytes than it copies; the rest of its target is filled with zeros.
void Copies::execute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  if (instr.opcode == ptx::Opcode::discard_) return discard(run, instr, active);
  const std::uint32_t total = 4u * instr.modifiers.vector;
  const auto source_bytes = [&](unsigned lane) {
    const Ref& ignore = instr[CopyOperand::ignores];
    const bool ignores =
        ignore.bank != Bank::none && (read_predicate(run.banks, ignore) >> lane & 1u) != 0;
    if (ignores) return 0u;
    const Ref& bytes = instr[CopyOperand::bytes];
    return bytes.bank == Bank::none ? total : std::min(total, word_of(run.banks, bytes, lane));
  };
  current_.begin_asynchronous();
  for (std::uint32_t rest = active; rest != 0;) {
    const std::uint32_t bytes = source_bytes(static_cast<unsigned>(std::countr_zero(rest)));
    std::uint32_t group = 0;
    for (std::uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (source_bytes(lane) == bytes) group |= 1u << lane;
    }
    fetch(run, instr, bytes, group);
    rest &= ~group;
  }
  Instr store = part_of(instr, InstrKind::store, ptx::Space::shared);
  store[MemoryOperand::address] = instr[CopyOperand::target];
  for (std::uint32_t i = 0; i < instr.modifiers.vector; ++i) {
    store[MemoryOperand::value + i] = row_after(instr[CopyOperand::rows], i);
  }
  accesses_.execute(run, store, active);
  current_.end_asynchronous();
}

// Loads the first `bytes` of each lane's source into intermediate rows, and zeros after them.
void Copies::fetch(RunningFragment& run, const Instr& instr, std::uint32_t bytes,
                   std::uint32_t lanes) {
  const std::uint32_t words = instr.modifiers.vector;
  const Ref& rows = instr[CopyOperand::rows];
  Instr load = part_of(instr, InstrKind::load, ptx::Space::global);
  load[MemoryOperand::address] = instr[CopyOperand::source];
  load.provenance = 0;  // its provenance is that of the target
  load.displacement = static_cast<std::int32_t>(instr.source_displacement);
  if (bytes == 4 * words) {
    for (std::uint32_t i = 0; i < words; ++i) load[MemoryOperand::value + i] = row_after(rows, i);
    accesses_.execute(run, load, lanes);
    return;
  }
  load.modifiers.vector = 1;
  const std::int64_t start = load.displacement;
  for (std::uint32_t word = 0; word < words; ++word) {
    const Ref to = row_after(rows, word);
    launch_.rows().broadcast(row_of(run.banks, to), false, 0, lanes);
    run.warp.undefined.set(run.frame, to, {}, lanes, launch_.program());
    if (bytes >= 4 * (word + 1)) {
      load.modifiers.type = ptx::Type::b32;
      load.displacement = start + 4 * word;
      load[MemoryOperand::value] = to;
      accesses_.execute(run, load, lanes);
      continue;
    }
    for (std::uint32_t byte = 4 * word; byte < bytes; ++byte) {
      load.modifiers.type = ptx::Type::u8;
      load.displacement = start + byte;
      load[MemoryOperand::value] = row_after(rows, 4);
      accesses_.execute(run, load, lanes);
      put_byte(run, load[MemoryOperand::value], to, byte - 4 * word, lanes);
    }
  }
}

void Copies::put_byte(RunningFragment& run, const Ref& from, const Ref& to, std::uint32_t position,
                      std::uint32_t lanes) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    row_of(run.banks, to)[lane * 4 + position] = row_of(run.banks, from)[lane * 4];
  }
  UndefinedRegisters& undefined = run.warp.undefined;
  if (!undefined.any()) return;
  const UndefinedLanes byte = undefined.get(run.frame, from);
  const LaneBits added = undefined.bits_of(run.frame, from);
  LaneBits bits = undefined.bits_of(run.frame, to);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    bits[lane] |= (added[lane] & ones_of(1)) << (8 * position);
  }
  const bool is_new = (byte.mask & lanes) != 0;
  const std::uint32_t origin = is_new ? byte.origin : undefined.get(run.frame, to).origin;
  undefined.set_bits(run.frame, to, bits, origin, lanes, launch_.program());
}

// A weak write of undefined values (PTX ISA 9.0, 9.7.9.19), 128 bytes per lane.
void Copies::discard(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  constexpr std::uint32_t kBytes = 128, kPieceBytes = 16;
  Instr piece = part_of(instr, InstrKind::store, instr.modifiers.space);
  piece[MemoryOperand::address] = instr[CopyOperand::target];
  piece.modifiers.type = ptx::Type::b64;
  piece.modifiers.vector = 2;
  const AddressRow row{row_of(run.banks, instr[CopyOperand::target]),
                       instr[CopyOperand::target].bank != Bank::word,
                       static_cast<std::uint64_t>(instr.displacement), 0};
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t address = address_of(row, lane);
    if (address % kBytes == 0) continue;
    targets_.fault(run, piece, targets_.of(run, piece, address), address, lane, kBytes);
    active &= ~(1u << lane);
  }
  for (std::uint32_t at = 0; at < kBytes && active != 0; at += kPieceBytes) {
    accesses_.execute(run, piece, active);
    piece.displacement += kPieceBytes;
  }
}

void Copies::commit_or_wait(const RunningFragment& run, const Instr& instr,
                            std::uint32_t active) const {
  const WarpPlace place = launch_.place_of(run.slot, run.warp);
  if (instr.opcode == ptx::Opcode::tensormap_) {
    CopyWait wait{.program = &launch_.program(), .place = place, .pc = run.pc, .mask = active};
    wait.of_warp = true;
    return launch_.notify([&](Observer& observer) { observer.on_copy_wait(wait); });
  }
  const bool waits = instr.modifiers.copy_op != ptx::CopyOp::commit_group;
  const bool commits = instr.modifiers.copy_op != ptx::CopyOp::wait_group;
  if (commits) {
    const CopyCommit commit{&launch_.program(), place, run.pc, active, instr.modifiers.bulk};
    launch_.notify([&](Observer& observer) { observer.on_copy_commit(commit); });
  }
  if (!waits) return;
  CopyWait wait{&launch_.program(),  place, run.pc, active, 0, instr.modifiers.bulk,
                instr.modifiers.read};
  if (instr.modifiers.copy_op == ptx::CopyOp::wait_group) {
    wait.groups_left = word_of(run.banks, instr[CopyGroupOperand::groups_left],
                               static_cast<unsigned>(std::countr_zero(active)));
  }
  launch_.notify([&](Observer& observer) { observer.on_copy_wait(wait); });
}

}  // namespace warpcheck::vgpu
