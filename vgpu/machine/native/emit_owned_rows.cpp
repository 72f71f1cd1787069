// Emits the marking of words of global memory as those of the threads that access them
// (OwnerMark), for rows that wait in a queue of reads and writes.
//
// r9: RowQueue. rsi: the row that is being queued. r10: the mark of the word of lane 0, or if lanes
// are scattered, of the first word of the allocation; a mark is as long as its word.  These, and
// rax, rdx and r8 are preserved.  Nothing has been marked if the row must be reported, unless all
// that it says is that a word was read by many, or lanes of the row share a word: then the marks
// refuse the row when it is reported, too.
#include <algorithm>
#include <cstddef>

#include "vgpu/machine/native/emit_record.hpp"

namespace warpcheck::vgpu::native {
namespace {

// The registers of scattered lanes' marks begin with this one.
constexpr unsigned kFirstMarks = 3;

}  // namespace

bool RecordEmitter::may_own(const Site& site, Pattern pattern) {
  const ptx::Space space = site.instr.modifiers.space;
  const bool is_plain = site.instr.kind != InstrKind::atomic && space != ptx::Space::shared &&
                        space != ptx::Space::constant;
  return is_plain &&
         (site.lane_bytes() == 4 || (site.lane_bytes() > 4 && pattern != Pattern::scattered));
}

// Marks the words of a row, or jumps to `reported`.
void RecordEmitter::own_row(const Site& site, Pattern pattern, asmjit::Label reported) {
  a.mov(x86::r10, of_queue(offsetof(RowQueue, owners)));
  if (pattern != Pattern::scattered) {
    a.mov(x86::ecx, site.field(offsetof(AccessSite, begin)).cloneResized(4));
    a.add(x86::ecx, x86::eax);
    a.add(x86::r10, x86::rcx);
  }
  if (pattern == Pattern::uniform) return own_uniform(site, reported);
  a.mov(x86::r11, field(offsetof(NativeFrame, record), 8));
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  static_assert(OwnerMark::kThread * kWarpLanes == 1 << 6);
  a.shl(x86::ecx, 6);
  a.add(x86::ecx, x86::ptr(x86::r11, offsetof(AccessRecord, owner), 4));
  a.add(x86::ecx, of_queue(offsetof(RowQueue, owner), 4));
  if (!site.is_load) a.or_(x86::ecx, OwnerMark::kWritten);
  a.vmovd(x86::xmm0, x86::ecx);
  a.vpbroadcastd(vec(0), x86::xmm0);
  const asmjit::Label met = site.is_load ? a.newLabel() : reported, marked = a.newLabel();
  find_owners(site, pattern, met);
  put_owners(site, pattern);
  if (pattern == Pattern::scattered) check_owners(met);
  if (site.is_load) {
    a.jmp(marked);
    a.bind(met);
    pattern == Pattern::scattered ? own_met_lanes(reported) : own_met_row(site, reported);
  }
  a.bind(marked);
}

// Marks words that all lanes read.
void RecordEmitter::own_uniform(const Site& site, asmjit::Label reported) {
  a.mov(x86::r11d, of_queue(offsetof(RowQueue, owner), 4));
  a.or_(x86::r11d, OwnerMark::kMany);
  for (std::uint32_t byte = 0; byte < site.lane_bytes(); byte += 4) {
    const x86::Mem mark = x86::ptr(x86::r10, static_cast<std::int32_t>(byte), 4);
    a.mov(x86::ecx, mark);
    a.xor_(x86::ecx, x86::r11d);
    // Tests whether the mark is of this period and written.
    a.and_(x86::ecx, ~(OwnerMark::kPeriod - 1) | OwnerMark::kWritten);
    a.cmp(x86::ecx, OwnerMark::kWritten);
    a.je(reported);
    a.mov(mark, x86::r11d);
  }
}

unsigned RecordEmitter::owner_parts(const Site& site) const {
  return kWarpLanes * site.lane_bytes() / vector_bytes();
}

// Leaves in vec(1) the marks of threads for a part of the row.
void RecordEmitter::find_own(const Site& site, unsigned part) {
  const std::size_t lanes =
      offsetof(Tables, owner_lanes) + (site.log2() - 2) * sizeof(Tables::owner_lanes[0]);
  a.emit(Inst::kIdVpaddd, vec(1), vec(0), table(lanes + std::size_t{part} * vector_bytes()));
}

x86::Mem RecordEmitter::owners_at(unsigned part) const {
  return x86::ptr(x86::r10, static_cast<std::int32_t>(part * vector_bytes()));
}

// Loads a part of the marks of scattered lanes.
void RecordEmitter::gather_owners(unsigned to, unsigned part) {
  load(vec(2), field(offsetof(NativeFrame, offsets) + std::size_t{part} * vector_bytes(), 0));
  const x86::Mem from = x86::ptr(x86::r10, vec(2));
  if (is_512_) {
    a.kxnorw(x86::k1, x86::k1, x86::k1);
    a.k(x86::k1).emit(Inst::kIdVpgatherdd, vec(to), from);
  } else {
    const x86::Vec all = vec(to == 7 ? 1 : 7);
    a.vpcmpeqd(all, all, all);
    a.emit(Inst::kIdVpgatherdd, vec(to), from, all);
  }
}

// Jumps to `met` if some word was accessed by another thread.  Leaves the marks of scattered lanes
// in registers.
void RecordEmitter::find_owners(const Site& site, Pattern pattern, asmjit::Label met) {
  const bool is_scattered = pattern == Pattern::scattered;
  const unsigned parts = owner_parts(site);
  if (is_scattered) {
    for (unsigned part = 0; part < parts; ++part) gather_owners(kFirstMarks + part, part);
  }
  const x86::Vec least = vec(7);  // the least distance, minus kOwn
  for (unsigned part = 0; part < parts; ++part) {
    find_own(site, part);
    const x86::Vec distance = part == 0 ? least : vec(2);
    if (is_scattered) {
      a.emit(xor_id(), distance, vec(1), vec(kFirstMarks + part));
    } else {
      a.emit(xor_id(), distance, vec(1), owners_at(part));
    }
    a.emit(Inst::kIdVpsubd, distance, distance, table(offsetof(Tables, owner_own)));
    if (part != 0) a.emit(Inst::kIdVpminud, least, least, distance);
  }
  const x86::Mem others = table(offsetof(Tables, owner_others));
  if (is_512_) {
    a.emit(Inst::kIdVpcmpud, x86::k1, least, others, asmjit::Imm(x86::VPCmpImm::kLT));
    a.kortestw(x86::k1, x86::k1);
    a.jnz(met);
    return;
  }
  a.emit(Inst::kIdVpmaxud, vec(2), least, others);
  a.emit(Inst::kIdVpcmpeqd, vec(2), vec(2), least);
  a.vpmovmskb(x86::ecx, x86::ymm2);
  a.cmp(x86::ecx, -1);
  a.jne(met);
}

// Marks words that only their own threads have accessed.  A word that its thread has written stays
// marked as written when the thread reads it.
void RecordEmitter::put_owners(const Site& site, Pattern pattern) {
  const bool is_scattered = pattern == Pattern::scattered;
  for (unsigned part = 0; part < owner_parts(site); ++part) {
    find_own(site, part);
    if (site.is_load) {
      const x86::Vec distance = vec(2);
      if (is_scattered) {
        a.emit(xor_id(), distance, vec(1), vec(kFirstMarks + part));
      } else {
        a.emit(xor_id(), distance, vec(1), owners_at(part));
      }
      const x86::Mem written = table(offsetof(Tables, owner_written));
      if (is_512_) {
        a.emit(Inst::kIdVpcmpeqd, x86::k1, distance, written);
        a.k(x86::k1).emit(Inst::kIdVpord, vec(1), vec(1), written);
      } else {
        a.emit(Inst::kIdVpcmpeqd, distance, distance, written);
        a.emit(Inst::kIdVpsubd, vec(1), vec(1), distance);
      }
    }
    if (is_scattered) {
      a.vmovaps(vec(kFirstMarks + part), vec(1));
    } else {
      store(owners_at(part), vec(1));
    }
  }
  if (is_scattered) scatter_owners();
}

// Stores the marks of scattered lanes, which are in registers.  Those of a host without scatter
// instructions take the way over the place where the row's offsets will be.
void RecordEmitter::scatter_owners() {
  const std::uint32_t parts = kWordRowBytes / vector_bytes();
  for (unsigned part = 0; part < parts; ++part) {
    const std::size_t byte = std::size_t{part} * vector_bytes();
    if (is_512_) {
      load(vec(2), field(offsetof(NativeFrame, offsets) + byte, 0));
      a.kxnorw(x86::k1, x86::k1, x86::k1);
      a.k(x86::k1).emit(Inst::kIdVpscatterdd, x86::ptr(x86::r10, vec(2)), vec(kFirstMarks + part));
    } else {
      store(of_row(sizeof(QueuedRow) + byte).cloneResized(0), vec(kFirstMarks + part));
    }
  }
  if (is_512_) return;
  for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
    a.mov(x86::ecx, field(offsetof(NativeFrame, offsets) + 4 * lane, 4));
    a.mov(x86::edi, of_row(sizeof(QueuedRow) + 4 * lane));
    a.mov(x86::ptr(x86::r10, x86::rcx, 0, 0, 4), x86::edi);
  }
}

// Jumps to `apart` if lanes lie at one distance, as members of structs or a column do, so that no
// two of them share a word.
void RecordEmitter::go_if_apart(asmjit::Label apart) {
  const asmjit::Label together = a.newLabel();
  const auto from_lane = [](std::uint32_t lane, std::uint32_t size) {
    return field(offsetof(NativeFrame, offsets) + std::size_t{4} * lane, size);
  };
  a.mov(x86::ecx, from_lane(1, 4));
  a.sub(x86::ecx, from_lane(0, 4));
  a.vmovd(x86::xmm1, x86::ecx);
  a.vpbroadcastd(vec(1), x86::xmm1);
  static_assert(kWarpLanes == 1 << 5);
  a.shl(x86::ecx, 5);
  a.jz(together);
  const std::uint32_t lanes = vector_bytes() / 4;
  for (std::uint32_t lane = 0; lane < kWarpLanes; lane += lanes) {
    const std::uint32_t first = std::min(lane, kWarpLanes - 1 - lanes);
    load(vec(2), from_lane(first + 1, 0));
    a.emit(Inst::kIdVpsubd, vec(2), vec(2), from_lane(first, 0));
    if (is_512_) {
      a.emit(Inst::kIdVpcmpeqd, x86::k1, vec(2), vec(1));
      a.kortestw(x86::k1, x86::k1);
      a.jnc(together);  // some differ
    } else {
      a.emit(Inst::kIdVpcmpeqd, vec(2), vec(2), vec(1));
      a.vpmovmskb(x86::ecx, x86::ymm2);
      a.cmp(x86::ecx, -1);
      a.jne(together);
    }
  }
  a.jmp(apart);
  a.bind(together);
}

// Jumps to `met` if lanes share a word: a later lane has replaced the mark of an earlier one.
void RecordEmitter::check_owners(asmjit::Label met) {
  const asmjit::Label apart = a.newLabel();
  go_if_apart(apart);
  for (unsigned part = 0; part < kWordRowBytes / vector_bytes(); ++part) {
    gather_owners(1, part);
    a.emit(xor_id(), vec(2), vec(1), vec(kFirstMarks + part));
    if (is_512_) {
      a.emit(Inst::kIdVptestmd, x86::k1, vec(2), vec(2));
      a.kortestw(x86::k1, x86::k1);
    } else {
      a.vptest(vec(2), vec(2));
    }
    a.jnz(met);
  }
  a.bind(apart);
}

// Jumps to `reported` if one of the marks, in vec(from), is written and of this period.  vec(5):
// the mark of a word of this period that many have read.
void RecordEmitter::refuse_written(unsigned from, asmjit::Label reported) {
  a.emit(xor_id(), vec(2), vec(from), vec(5));
  if (is_512_) {
    a.emit(Inst::kIdVpandd, vec(2), vec(2), table(offsetof(Tables, owner_state)));
    a.emit(Inst::kIdVpcmpeqd, x86::k1, vec(2), table(offsetof(Tables, owner_written)));
    a.kortestw(x86::k1, x86::k1);
  } else {
    a.emit(Inst::kIdVpand, vec(2), vec(2), table(offsetof(Tables, owner_state)));
    a.emit(Inst::kIdVpcmpeqd, vec(2), vec(2), table(offsetof(Tables, owner_written)));
    a.vptest(vec(2), vec(2));
  }
  a.jnz(reported);
}

void RecordEmitter::find_mark_of_many() {
  a.mov(x86::ecx, of_queue(offsetof(RowQueue, owner), 4));
  a.or_(x86::ecx, OwnerMark::kMany);
  a.vmovd(x86::xmm5, x86::ecx);
  a.vpbroadcastd(vec(5), x86::xmm5);
}

// Marks a row of which other threads have read some words.
void RecordEmitter::own_met_row(const Site& site, asmjit::Label reported) {
  find_mark_of_many();
  for (unsigned part = 0; part < owner_parts(site); ++part) {
    load(vec(3), owners_at(part));
    refuse_written(3, reported);
  }
  for (unsigned part = 0; part < owner_parts(site); ++part) {
    find_own(site, part);
    a.emit(xor_id(), vec(2), vec(1), owners_at(part));
    a.emit(Inst::kIdVpsubd, vec(2), vec(2), table(offsetof(Tables, owner_own)));
    const x86::Mem others = table(offsetof(Tables, owner_others));
    if (is_512_) {
      a.emit(Inst::kIdVpcmpud, x86::k1, vec(2), others, asmjit::Imm(x86::VPCmpImm::kLT));
      a.k(x86::k1).emit(Inst::kIdVmovdqa32, vec(1), vec(5));
    } else {
      a.emit(Inst::kIdVpmaxud, vec(3), vec(2), others);
      a.emit(Inst::kIdVpcmpeqd, vec(3), vec(3), vec(2));
      a.vpblendvb(vec(1), vec(5), vec(1), vec(3));
    }
    store(owners_at(part), vec(1));
  }
}

// Marks words that scattered lanes read as read by many: others have read some, or lanes of the row
// share them.
void RecordEmitter::own_met_lanes(asmjit::Label reported) {
  find_mark_of_many();
  const unsigned parts = kWordRowBytes / vector_bytes();
  for (unsigned part = 0; part < parts; ++part) {
    gather_owners(3, part);
    refuse_written(3, reported);
  }
  if (!is_512_) {
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
      a.mov(x86::edi, field(offsetof(NativeFrame, offsets) + 4 * lane, 4));
      a.mov(x86::ptr(x86::r10, x86::rdi, 0, 0, 4), x86::ecx);
    }
    return;
  }
  for (unsigned part = 0; part < parts; ++part) {
    load(vec(2), field(offsetof(NativeFrame, offsets) + std::size_t{part} * vector_bytes(), 0));
    a.kxnorw(x86::k1, x86::k1, x86::k1);
    a.k(x86::k1).emit(Inst::kIdVpscatterdd, x86::ptr(x86::r10, vec(2)), vec(5));
  }
}

}  // namespace warpcheck::vgpu::native
