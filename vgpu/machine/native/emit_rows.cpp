// Loads and stores the rows of operands, which are in vector registers or in memory.
#include <bit>

#include "vgpu/machine/native/row_emitter.hpp"

namespace warpcheck::vgpu::native {

// Returns the operand from which a part of a source is read.
asmjit::Operand RowEmitter::part(const Ref& ref, std::uint32_t byte) const {
  const CachedRow* const cached = rows_ ? rows_->find(ref) : nullptr;
  if (cached == nullptr) return row(ref, byte);
  if (cached->constant.bank != Bank::none) return row(cached->constant, byte);
  if (cached->is_uniform) return vec(cached->first);
  return vec(cached->first + byte / vector_bytes());
}

// Does the same for half a vector of a row of words.
asmjit::Operand RowEmitter::half_part(const Ref& ref, std::uint32_t byte, unsigned scratch) {
  const asmjit::Operand whole = part(ref, byte / vector_bytes() * vector_bytes());
  if (!whole.isReg()) {
    return whole.as<x86::Mem>().cloneAdjusted(byte % vector_bytes());
  }
  const unsigned number = whole.as<x86::Vec>().id();
  const CachedRow* const cached = rows_->find(ref);
  if (byte % vector_bytes() == 0 || cached->is_uniform) return half(number);
  if (is_512_) {
    a.vextracti64x4(x86::ymm(scratch), x86::zmm(number), 1);
  } else {
    a.vextracti128(x86::xmm(scratch), x86::ymm(number), 1);
  }
  return half(scratch);
}

// Returns the first lane of a row, with 4 or 8 bytes.
asmjit::Operand RowEmitter::first_lane(const Ref& ref, bool wide) const {
  const asmjit::Operand first = part(ref, 0);
  if (first.isReg()) return x86::xmm(first.as<x86::Vec>().id());
  x86::Mem memory = first.as<x86::Mem>();
  memory.setSize(wide ? 8 : 4);
  return memory;
}

x86::Vec RowEmitter::source(const Ref& ref, std::uint32_t byte, unsigned scratch) {
  const asmjit::Operand from = part(ref, byte);
  if (from.isReg()) return from.as<x86::Vec>();
  load(vec(scratch), from.as<x86::Mem>());
  return vec(scratch);
}

// Jumps to `otherwise` unless a row ascends by `step`, a power of two of at most 16, or, if it is
// 0, has the same value for all lanes.
void RowEmitter::check_row(const Ref& ref, bool wide, std::uint32_t step, asmjit::Label otherwise) {
  const auto size = static_cast<std::size_t>(std::countr_zero(step));
  const std::size_t lanes = wide ? offsetof(Tables, wide_lanes) + size * kWideRowBytes
                                 : offsetof(Tables, word_lanes) + size * kWordRowBytes;
  a.emit(wide ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd, vec(0), first_lane(ref, wide));
  bool first = true;
  for_each_part(wide, [&](std::uint32_t byte) {
    const asmjit::Operand found = part(ref, byte);
    x86::Vec expected = vec(0);
    if (step != 0) {
      expected = vec(1);
      a.emit(wide ? Inst::kIdVpaddq : Inst::kIdVpaddd, vec(1), vec(0), table(lanes + byte));
    }
    if (is_512_) {
      a.emit(wide ? Inst::kIdVpcmpq : Inst::kIdVpcmpd, first ? x86::k1 : x86::k2, expected, found,
             asmjit::Imm(x86::VPCmpImm::kNE));
      if (!first) a.korw(x86::k1, x86::k1, x86::k2);
    } else {
      a.emit(Inst::kIdVpxor, first ? vec(2) : vec(3), expected, found);
      if (!first) a.vpor(vec(2), vec(2), vec(3));
    }
    first = false;
  });
  if (is_512_) {
    a.kortestw(x86::k1, x86::k1);
  } else {
    a.vptest(vec(2), vec(2));
  }
  a.jnz(otherwise);
}

// Jumps to `otherwise` unless the row, which is in memory, is what it counts as.
void RowEmitter::check_unproven(const UniformRows::Unproven& unproven, asmjit::Label otherwise) {
  const Ref& ref = unproven.row;
  if (ref.bank != Bank::predicate) {
    return check_row(ref, ref.bank == Bank::wide, unproven.step, otherwise);
  }
  a.mov(x86::eax, predicate(ref));
  a.inc(x86::eax);
  a.cmp(x86::eax, 1);
  a.ja(otherwise);
}

RowPlan RowEmitter::plan(const Ref& ref) {
  return rows_->plan(ref, once_, [this](const CachedRow& given_up) { store_cached(given_up); });
}

// Returns the vector register in which a part of a result should be computed.
x86::Vec RowEmitter::result(const Ref& ref, std::uint32_t byte, unsigned scratch) {
  if (!rows_ || guarded_) return vec(scratch);
  const RowPlan of_row = plan(ref);
  return vec(of_row.is_cached ? of_row.row.first + byte / vector_bytes() : scratch);
}

// Records that a result equals a row of constants.  False: it must be moved.
bool RowEmitter::keep_constant(const Ref& ref, const Ref& constant) {
  if (!rows_ || guarded_) return false;
  if (!rows_->plan_constant(ref, constant).is_stored) return true;
  load(vec(0), row(constant));
  store_parts(ref, vec(0));
  return true;
}

void RowEmitter::store_row(const Ref& ref, std::uint32_t byte, bool wide, const x86::Vec& from) {
  if (guarded_) return store_guarded(ref, byte, wide, from);
  const x86::Mem to = row(ref, byte);
  if (rows_) {
    const RowPlan of_row = plan(ref);
    const unsigned number = of_row.row.first + byte / vector_bytes();
    if (of_row.is_cached && number != from.id()) a.vmovaps(vec(number), from);
    if (of_row.is_stored && once_) {
      store_parts(ref, from);
    } else if (of_row.is_stored) {
      store(to, from);
    }
    return;
  }
  if (!some_) return store(to, from);
  if (is_512_) {
    a.k(lanes_at(byte / (wide ? 64 : 32)));
    a.emit(wide ? Inst::kIdVmovdqu64 : Inst::kIdVmovdqu32, to, from);
    return;
  }
  const std::size_t lanes =
      wide ? offsetof(NativeFrame, wide_lanes) : offsetof(NativeFrame, word_lanes);
  load(vec(14), to);
  load(vec(15), field(lanes + byte, 32));
  a.vpblendvb(vec(14), vec(14), from, vec(15));
  store(to, vec(14));
}

// Stores results for the lanes in r8d, whose masks are also set up.  A row in vector registers
// stays there.
void RowEmitter::store_guarded(const Ref& ref, std::uint32_t byte, bool wide,
                               const x86::Vec& from) {
  const x86::Mem to = row(ref, byte);
  const CachedRow* const cached = rows_ ? rows_->find(ref) : nullptr;
  const bool is_stored = cached == nullptr || cached->is_stored;
  const x86::Vec kept = vec(cached == nullptr ? 0 : cached->first + byte / vector_bytes());
  if (is_512_) {
    const asmjit::InstId move = wide ? Inst::kIdVmovdqu64 : Inst::kIdVmovdqu32;
    const x86::KReg lanes = lanes_at(byte / (wide ? 64 : 32));
    if (cached != nullptr) a.k(lanes).emit(move, kept, from);
    if (is_stored) a.k(lanes).emit(move, to, from);
    return;
  }
  if (byte == 0) begin_lane_masks(wide);
  const x86::Vec lanes = lane_mask(wide, byte);
  if (cached != nullptr) a.vpblendvb(kept, kept, from, lanes);
  if (is_stored) a.vpmaskmovd(to, lanes, from);
}

void RowEmitter::store_half_row(const Ref& ref, std::uint32_t byte, const x86::Vec& from) {
  if (once_) {
    a.vpbroadcastd(vec(from.id()), x86::xmm(from.id()));
    return store_row(ref, byte, false, vec(from.id()));
  }
  const x86::Mem to = row(ref, byte);
  if (!rows_) {
    if (some_) a.k(lanes_at(byte / 32));
    a.emit(Inst::kIdVmovdqu32, to, from);
    return;
  }
  const RowPlan of_row = plan(ref);
  const unsigned number = of_row.row.first + byte / vector_bytes();
  if (of_row.is_cached && byte % vector_bytes() == 0) {
    a.emit(Inst::kIdVmovdqu32, half(number), from);
  } else if (of_row.is_cached) {
    a.vinserti64x4(x86::zmm(number), x86::zmm(number), x86::ymm(from.id()), 1);
  }
  if (of_row.is_stored) a.emit(Inst::kIdVmovdqu32, to, from);
}

void RowEmitter::store_predicate(const Ref& ref, const x86::Gp& bits) {
  if (some_ || guarded_) {
    a.mov(x86::edx, predicate(ref));
    a.xor_(bits, x86::edx);
    if (guarded_) {
      a.and_(bits, x86::r8d);
    } else {
      a.and_(bits, field(offsetof(NativeFrame, lanes), 4));
    }
    a.xor_(bits, x86::edx);
  }
  a.mov(predicate(ref), bits);
}

// Stores a vector as all parts of a row.
void RowEmitter::store_parts(const Ref& ref, const x86::Vec& from) {
  for (std::uint32_t index = 0; index < rows_->parts(ref); ++index) {
    store(row(ref, index * vector_bytes()), from);
  }
}

void RowEmitter::store_cached(const CachedRow& cached) {
  if (cached.is_stored) return;
  if (cached.is_uniform) return store_parts(cached.row, vec(cached.first));
  for (std::uint32_t index = 0; index < rows_->parts(cached.row); ++index) {
    const std::uint32_t byte = index * vector_bytes();
    const bool is_constant = cached.constant.bank != Bank::none;
    if (is_constant) load(vec(0), row(cached.constant, byte));
    store(row(cached.row, byte), vec(is_constant ? 0 : cached.first + index));
  }
}

void RowEmitter::load_cached(const CachedRow& cached) {
  if (cached.constant.bank != Bank::none) return;
  for (std::uint32_t index = 0; index < rows_->registers(cached); ++index) {
    load(vec(cached.first + index), row(cached.row, index * vector_bytes()));
  }
}

// Before a call: stores the rows that were in vector registers before the instruction, if they may
// be read later.
void RowEmitter::store_rows() {
  if (!rows_) return;
  for (const CachedRow& cached : rows_->state.before) {
    if (rows_->is_read(cached.row)) store_cached(cached);
  }
}

// After a call: reloads them, for code that continues in the middle of the instruction.
void RowEmitter::load_sources() {
  if (!rows_) return;
  for (const CachedRow& cached : rows_->state.before) load_cached(cached);
}

// Reloads the results, for code that continues after the instruction.
void RowEmitter::load_results() {
  if (!rows_) return;
  RowCache behind = *rows_;
  behind.end_instruction();
  for (const CachedRow& cached : behind.state.rows) load_cached(cached);
}

void RowEmitter::put_rows_away() {
  if (!rows_) return;
  store_rows();
  rows_->state.rows.clear();
  rows_->state.before.clear();
}

// Code that is emitted apart from its instruction gives up the same vector registers as the
// instruction did.
void RowEmitter::give_up_rows() {
  if (!rows_) return;
  for (const CachedRow& cached : rows_->state.before) {
    if (rows_->find(cached.row) == nullptr) store_cached(cached);
  }
}

void RowEmitter::later_with_rows(std::function<void()> emit) {
  if (!rows_) return later(std::move(emit));
  later([this, state = rows_->state, emit = std::move(emit)] {
    const RowCache::State now = std::exchange(rows_->state, state);
    emit();
    rows_->state = now;
  });
}

}  // namespace warpcheck::vgpu::native
