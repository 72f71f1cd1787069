// Emits atomics of all lanes.  Integer sums, bit operations, minima and maxima are performed by
// generated code if no observer needs them: as one row if lanes are adjacent, otherwise lane after
// lane, so that each lane finds what earlier lanes left; and otherwise if the code can record or
// queue them.  All others are reported and performed by a call.
#include "vgpu/machine/native/atomic_emitter.hpp"

namespace warpcheck::vgpu::native {

using ptx::AtomOp;
using ptx::Space;
using ptx::Type;

// The host instructions that combine the value in memory with a lane's operand.
struct AtomicEmitter::Combination {
  asmjit::InstId of_lane;  // cmov: for min and max, moves the operand if it wins
  asmjit::InstId of_row;   // 0: there is none
  bool is_extreme = false;
};

std::optional<AtomicEmitter::Combination> AtomicEmitter::combination_of(const Site& site) const {
  const Type type = site.instr.modifiers.type;
  const bool wide = site.bytes == 8, is_signed = ptx::is_signed(type);
  const Bank bank = wide ? Bank::wide : Bank::word;
  const Ref &value = site.instr[AtomicOperand::value], &old = site.instr[AtomicOperand::old];
  const bool has_rows = (value.bank == bank || value.bank == Bank::constant) &&
                        (old.bank == bank || old.bank == Bank::none);
  if (!has_rows || ptx::is_float(type) || ptx::is_packed(type)) return std::nullopt;
  const auto extreme = [&](asmjit::InstId signed_move, asmjit::InstId unsigned_move, Pair of_signed,
                           Pair of_unsigned) {
    const Pair row = is_signed ? of_signed : of_unsigned;
    const asmjit::InstId of_wides = is_512_ ? row.second : 0;
    return Combination{is_signed ? signed_move : unsigned_move, wide ? of_wides : row.first, true};
  };
  const auto bits = [&](asmjit::InstId lane, asmjit::InstId vex, asmjit::InstId evex) {
    return Combination{lane, is_512_ ? evex : vex};
  };
  switch (site.instr.modifiers.atom_op) {
    case AtomOp::add: return Combination{Inst::kIdAdd, wide ? Inst::kIdVpaddq : Inst::kIdVpaddd};
    case AtomOp::and_: return bits(Inst::kIdAnd, Inst::kIdVpand, Inst::kIdVpandd);
    case AtomOp::or_: return bits(Inst::kIdOr, Inst::kIdVpor, Inst::kIdVpord);
    case AtomOp::xor_: return bits(Inst::kIdXor, Inst::kIdVpxor, Inst::kIdVpxord);
    case AtomOp::min:
      return extreme(Inst::kIdCmovg, Inst::kIdCmova, {Inst::kIdVpminsd, Inst::kIdVpminsq},
                     {Inst::kIdVpminud, Inst::kIdVpminuq});
    case AtomOp::max:
      return extreme(Inst::kIdCmovl, Inst::kIdCmovb, {Inst::kIdVpmaxsd, Inst::kIdVpmaxsq},
                     {Inst::kIdVpmaxud, Inst::kIdVpmaxuq});
    default: return std::nullopt;
  }
}

// Jumps to `otherwise` if the atomic must be reported, or if other machines or processes would
// notice it; leaves the sites in rdx.
void AtomicEmitter::go_unless_private(const Site& site, asmjit::Label otherwise) {
  a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
  a.jne(otherwise);
  go_unless_exclusive(site, otherwise);
}

void AtomicEmitter::go_unless_exclusive(const Site& site, asmjit::Label otherwise) {
  a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
  x86::Mem is_exclusive = site.field(offsetof(AccessSite, is_exclusive));
  is_exclusive.setSize(1);
  a.cmp(is_exclusive, 0);
  a.je(otherwise);
}

// Does the same for lanes whose offsets are in the frame, which are recorded or queued if possible.
// Atomics that order threads are always reported.
void AtomicEmitter::go_unless_recorded(const Site& site, asmjit::Label otherwise) {
  const bool is_shared = site.instr.modifiers.space == Space::shared;
  const ptx::Order order = site.instr.modifiers.order;
  const bool is_relaxed = order == ptx::Order::weak || order == ptx::Order::relaxed;
  if (is_shared ? !is_relaxed : !RecordEmitter::may_queue(site)) {
    return go_unless_private(site, otherwise);
  }
  go_unless_exclusive(site, otherwise);
  const asmjit::Label unwatched = a.newLabel(), watched = a.newLabel();
  a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
  a.jne(watched);
  a.bind(unwatched);
  later([this, site, is_shared, otherwise, unwatched, watched] {
    a.bind(watched);
    if (is_shared) {
      recorder_.record_atomics(site, otherwise);
    } else {
      recorder_.queue_atomics(site, Pattern::scattered, otherwise);
    }
    a.jmp(unwatched);
  });
}

// Performs the atomic as one row, or jumps to `otherwise` if lanes are not adjacent, or if the row
// must be reported.
void AtomicEmitter::perform_adjacent(const Site& site, const Combination& combination,
                                     asmjit::Label otherwise) {
  if (!RecordEmitter::may_queue(site)) {
    go_unless_private(site, otherwise);
    check_lanes(site, std::nullopt, true, otherwise);
    find_row(site, true);
  } else {
    const asmjit::Label begin = a.newLabel(), watched = a.newLabel(), unwatched = a.newLabel();
    go_unless_exclusive(site, otherwise);
    a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
    a.je(begin);
    a.cmp(site.field(offsetof(AccessSite, queue)), 0);
    a.je(otherwise);
    a.bind(begin);
    check_lanes(site, std::nullopt, true, otherwise);
    find_row(site, true);
    a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
    a.jne(watched);
    a.bind(unwatched);
    later([this, site, otherwise, watched, unwatched] {
      a.bind(watched);
      recorder_.queue_atomics(site, Pattern::strided, otherwise);
      a.jmp(unwatched);
    });
  }
  add_origin(site, offsetof(AccessSite, data));
  perform_row(site, combination);
  a.jmp(site.done);
}

// Returns the destination of the old value; absent if the value is never read.
Ref AtomicEmitter::old_of(const Site& site) const {
  return !rows_ || rows_->has_reader(site.pc) ? site.instr[AtomicOperand::old] : Ref{};
}

// Performs the atomic for adjacent lanes from rax on.
void AtomicEmitter::perform_row(const Site& site, const Combination& combination) {
  const bool wide = site.bytes == 8;
  const Ref old = old_of(site);
  for_each_part(wide, [&](std::uint32_t byte) {
    const x86::Mem memory(x86::rax, static_cast<std::int32_t>(byte), 0);
    load(vec(0), memory);
    a.emit(combination.of_row, vec(1), vec(0), row(site.instr[AtomicOperand::value], byte));
    store(memory, vec(1));
    if (old.bank != Bank::none) store(row(old, byte), vec(0));
  });
}

// Performs the atomic for lanes at the frame's offsets from rax.
void AtomicEmitter::perform_lanes(const Site& site, const Combination& combination) {
  const bool wide = site.bytes == 8;
  const auto sized = [&](unsigned id) {
    return wide ? x86::Gp(x86::gpq(id)) : x86::Gp(x86::gpd(id));
  };
  const x86::Gp found = sized(x86::Gp::kIdDx), operand = sized(x86::Gp::kIdSi);
  const Ref old = old_of(site);
  const auto cell = [&](const Ref& ref, std::uint32_t lane) {
    x86::Mem of_lane = row(ref, lane * site.bytes);
    of_lane.setSize(site.bytes);
    return of_lane;
  };
  const Ref& value = site.instr[AtomicOperand::value];
  const bool is_same = is_uniform(value);
  if (is_same) a.mov(operand, cell(value, 0));
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    a.mov(x86::ecx, field(offsetof(NativeFrame, offsets) + std::size_t{4} * lane, 4));
    const x86::Mem memory = x86::ptr(x86::rax, x86::rcx, 0, 0, site.bytes);
    if (!is_same) a.mov(operand, cell(value, lane));
    if (old.bank == Bank::none && !combination.is_extreme) {
      a.emit(combination.of_lane, memory, operand);
      continue;
    }
    a.mov(found, memory);
    if (old.bank != Bank::none) a.mov(cell(old, lane), found);
    if (combination.is_extreme) {
      a.cmp(found, operand);
      a.emit(combination.of_lane, found, operand);
    } else {
      a.emit(combination.of_lane, found, operand);
    }
    a.mov(memory, found);
  }
}

// Calls the function for lanes whose offsets are in the frame.
void AtomicEmitter::perform_told(const Site& site) {
  a.mov(x86::rdi, x86::rbx);
  a.mov(x86::esi, site.pc);
  call(reinterpret_cast<const void*>(calls.perform_atomic));
  follow(site.pc, site.rest);
}

bool AtomicEmitter::emit(const Instr& instr, std::uint32_t pc, const Counted& rest) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint32_t bytes = ptx::bytes_of(m.type);
  const bool is_known =
      m.space == Space::shared || m.space == Space::global || m.space == Space::generic;
  const bool is_single =
      instr.kind == InstrKind::atomic && m.vector == 1 && (bytes == 4 || bytes == 8) && is_known;
  if (!is_single) return false;
  const bool wide_address = instr[MemoryOperand::address].bank != Bank::word;
  const Site site{instr, pc, rest, bytes, 1, wide_address, false, a.newLabel(), a.newLabel()};
  put_rows_away();
  const auto combination = combination_of(site);
  const asmjit::Label scattered = a.newLabel(), done = a.newLabel();
  if (combination && combination->of_row != 0) {
    perform_adjacent(site, *combination, scattered);
  }
  a.bind(scattered);
  find_offsets(site);
  if (combination) {
    go_unless_recorded(site, done);
    a.mov(x86::eax, 0);
    add_origin(site, offsetof(AccessSite, origin));
    perform_lanes(site, *combination);
  } else {
    perform_told(site);
  }
  a.bind(site.done);
  later([this, site, done, is_called = !combination.has_value()] {
    if (!is_called) {
      a.bind(done);
      perform_told(site);
      a.jmp(site.done);
    }
    a.bind(site.slow);
    a.mov(x86::edx, -1);
    call_execute(site.instr, site.pc, site.rest);
    a.jmp(site.done);
  });
  return true;
}

}  // namespace warpcheck::vgpu::native
