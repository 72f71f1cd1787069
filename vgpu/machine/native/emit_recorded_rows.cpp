// Emits the recording of rows of words in shared memory that race with no other row between two
// barriers (access_record.hpp), and of vectors that all lanes load from one place.
#include <cstddef>

#include "vgpu/machine/native/emit_record.hpp"

namespace warpcheck::vgpu::native {

bool RecordEmitter::is_recorded(const Site& site, bool strided) {
  if (site.instr.modifiers.space != ptx::Space::shared || site.lane_bytes() < 4) return false;
  return strided ? site.lane_bytes() == 4 : site.is_load;
}

// Loads the record to r9, and the place of the next row to rsi.  Jumps to `reported` if there is
// none.
//   next, limit: fields of AccessRecord
void RecordEmitter::find_place(std::size_t next, std::size_t limit, asmjit::Label reported) {
  a.mov(x86::r9, field(offsetof(NativeFrame, record), 8));
  a.test(x86::r9, x86::r9);
  a.jz(reported);
  a.mov(x86::rsi, of_record(next));
  a.cmp(x86::rsi, of_record(limit));
  a.jae(reported);
}

// Records a row.  Jumps to `reported` if the row must be reported; it is then not recorded.
// Preserves rax, rdx and r8: the offset of lane 0, the sites, and the lanes if not all run.
void RecordEmitter::record(const Site& site, RecordedAs as, asmjit::Label reported) {
  find_place(offsetof(AccessRecord, next), offsetof(AccessRecord, limit), reported);
  a.mov(x86::edi, site.field(offsetof(AccessSite, begin)).cloneResized(4));
  a.add(x86::edi, x86::eax);
  const asmjit::Label unsettled = a.newLabel(), known = a.newLabel(), done = a.newLabel();
  a.mov(x86::rcx, field(offsetof(NativeFrame, states), 8));
  a.mov(x86::r10, field(offsetof(NativeFrame, shared_memory), 8));
  a.cmp(x86::r10, of_states(offsetof(NotedStates, settled)));
  a.jne(unsettled);
  later([this, site, as, unsettled, known, reported] {
    a.bind(unsettled);
    a.cmp(x86::r10, of_states(offsetof(NotedStates, unsettled)));
    a.jne(reported);
    a.mov(x86::rcx, of_states(offsetof(NotedStates, states)));
    if (as == RecordedAs::some) {
      record_some_states(site, reported);
    } else {
      record_states(site, as == RecordedAs::row, reported);
    }
    a.jmp(known);
  });
  a.bind(known);
  if (as == RecordedAs::some) {  // lane 0 may be before the memory
    a.sar(x86::edi, 2);
    a.movsxd(x86::rdi, x86::edi);
  } else {
    a.shr(x86::edi, 2);
  }
  a.mov(x86::r10, of_record(offsetof(AccessRecord, marks)));
  if (as == RecordedAs::uniform) {
    mark_uniform(site, reported);
  } else {
    if (as == RecordedAs::some) record_single(site, reported, done);
    mark_row(site, as == RecordedAs::some, reported);
  }
  put_row(site, as);
  a.bind(done);
  log_load(site, as == RecordedAs::uniform ? Pattern::uniform : Pattern::strided,
           as == RecordedAs::some);
}

// Writes the row. rsi: its address; edi: its cell.
void RecordEmitter::put_row(const Site& site, RecordedAs as) {
  a.mov(of_row(offsetof(RecordedRow, cell)), x86::edi);
  a.mov(of_row(offsetof(RecordedRow, pc)), site.pc);
  if (as == RecordedAs::some || as == RecordedAs::single) {
    a.mov(of_row(offsetof(RecordedRow, mask)), x86::r8d);
  } else {
    a.mov(of_row(offsetof(RecordedRow, mask)), -1);
  }
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  a.mov(of_row(offsetof(RecordedRow, warp)), x86::ecx);
  a.mov(of_row(offsetof(RecordedRow, segment)), 0);
  // cells_log2, write, uniform and scattered are consecutive bytes.
  constexpr std::size_t kFlags = offsetof(RecordedRow, cells_log2);
  static_assert(
      offsetof(RecordedRow, write) == kFlags + 1 && offsetof(RecordedRow, uniform) == kFlags + 2 &&
      offsetof(RecordedRow, scattered) == kFlags + 3 && sizeof(RecordedRow) == kFlags + 4);
  const bool is_uniform = as == RecordedAs::uniform || as == RecordedAs::single;
  const auto cells_log2 = static_cast<std::uint32_t>(site.log2() - 2);
  a.mov(of_row(kFlags), cells_log2 | (site.is_load ? 0 : 1 << 8) | (is_uniform ? 1 << 16 : 0));
  a.add(of_record(offsetof(AccessRecord, next)), sizeof(RecordedRow));
}

// Checks or sets the states of the bytes from number edi of the shared memory on; rcx: the states.
void RecordEmitter::record_states(const Site& site, bool strided, asmjit::Label reported) {
  const auto state = [](std::uint32_t byte) {
    return x86::ptr(x86::rcx, x86::rdi, 0, static_cast<std::int32_t>(byte));
  };
  if (!strided) {
    switch (site.lane_bytes()) {
      case 4: a.vmovd(x86::xmm0, state(0)); break;
      case 8: a.vmovq(x86::xmm0, state(0)); break;
      default: a.vmovdqu(x86::xmm0, state(0));
    }
    a.vpmovmskb(x86::r10d, x86::xmm0);
    a.cmp(x86::r10d, (1u << site.lane_bytes()) - 1);
    a.jne(reported);
    return;
  }
  const x86::Ymm all = x86::ymm0;
  if (site.is_load) {
    a.vmovdqu(all, state(0));
  } else {
    a.vpbroadcastd(all, field(offsetof(NativeFrame, stored), 4));
    a.vmovdqu(state(0), all);
  }
  for (std::uint32_t byte = 32; byte < kWordRowBytes; byte += 32) {
    if (site.is_load) {
      a.vpand(all, all, state(byte));
    } else {
      a.vmovdqu(state(byte), all);
    }
  }
  if (!site.is_load) return;
  a.vpmovmskb(x86::r10d, all);
  a.cmp(x86::r10d, -1);
  a.jne(reported);
}

// Does the same for the lanes in r8d.  A store of one lane alone would need another state, so such
// a store is reported.
void RecordEmitter::record_some_states(const Site& site, asmjit::Label reported) {
  if (!site.is_load) {
    a.lea(x86::r11d, x86::ptr(x86::r8, -1));
    a.test(x86::r11d, x86::r8d);
    a.jz(reported);
    a.vpbroadcastd(x86::ymm4, field(offsetof(NativeFrame, stored), 4));
  }
  a.movsxd(x86::r11, x86::edi);
  a.vmovd(x86::xmm3, x86::r8d);
  a.vpbroadcastd(x86::ymm3, x86::xmm3);
  a.vpxor(x86::ymm2, x86::ymm2, x86::ymm2);  // collects undefined bytes
  for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += 32) {
    const x86::Mem states = x86::ptr(x86::rcx, x86::r11, 0, static_cast<std::int32_t>(byte), 32);
    const x86::Mem bits = table(offsetof(Tables, word_bits) + byte).cloneResized(32);
    a.vpand(x86::ymm0, x86::ymm3, bits);
    a.vpcmpeqd(x86::ymm0, x86::ymm0, bits);
    a.vmovdqu(x86::ymm1, states);
    if (site.is_load) {
      a.vpandn(x86::ymm1, x86::ymm1, x86::ymm0);
      a.vpor(x86::ymm2, x86::ymm2, x86::ymm1);
    } else {
      a.vpblendvb(x86::ymm1, x86::ymm1, x86::ymm4, x86::ymm0);
      a.vmovdqu(states, x86::ymm1);
    }
  }
  if (!site.is_load) return;
  a.vpmovmskb(x86::r11d, x86::ymm2);
  a.test(x86::r11d, x86::r11d);
  a.jnz(reported);
}

// Loads the mark of a read by the warp's first thread to ecx.
void RecordEmitter::find_mark_of_warp() {
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  a.shl(x86::ecx, 5 + 1);
  static_assert(WordMark::kThread * kWarpLanes == 1 << (5 + 1));
  a.or_(x86::ecx, of_record(offsetof(AccessRecord, phase)).cloneResized(4));
}

// Marks the words that all lanes read.
void RecordEmitter::mark_uniform(const Site& site, asmjit::Label reported) {
  a.mov(x86::r11d, of_record(offsetof(AccessRecord, phase)).cloneResized(4));
  a.or_(x86::r11d, WordMark::kMany);
  if (site.lane_bytes() != 4) {
    const x86::Mem found = mark().cloneResized(site.lane_bytes() / 2);
    const bool are_two = site.lane_bytes() == 8;
    a.vmovd(x86::xmm0, x86::r11d);
    a.vpbroadcastw(x86::xmm0, x86::xmm0);
    are_two ? a.vmovd(x86::xmm1, found) : a.vmovq(x86::xmm1, found);
    a.vpxor(x86::xmm1, x86::xmm1, x86::xmm0);
    a.vpand(x86::xmm1, x86::xmm1, table(offsetof(Tables, mark_state_of_word)).cloneResized(16));
    a.vpcmpeqw(x86::xmm1, x86::xmm1, table(offsetof(Tables, mark_written)).cloneResized(16));
    a.vptest(x86::xmm1, x86::xmm1);
    a.jnz(reported);
    are_two ? a.vmovd(found, x86::xmm0) : a.vmovq(found, x86::xmm0);
    return;
  }
  a.movzx(x86::ecx, mark());
  a.xor_(x86::ecx, x86::r11d);
  // Tests whether the mark is of this phase and written.
  a.and_(x86::ecx, (0xffff & ~(WordMark::kPhase - 1)) | WordMark::kWritten);
  a.cmp(x86::ecx, WordMark::kWritten);
  a.je(reported);
  a.mov(mark(), x86::r11w);
}

// Records the row and jumps to `done` if r8d contains one lane.
void RecordEmitter::record_single(const Site& site, asmjit::Label reported, asmjit::Label done) {
  const asmjit::Label single = a.newLabel();
  a.lea(x86::ecx, x86::ptr(x86::r8, -1));
  a.test(x86::ecx, x86::r8d);
  a.jz(single);
  later([this, site, reported, done, single] {
    const asmjit::Label found = a.newLabel(), met = a.newLabel();
    a.bind(single);
    find_mark_of_warp();
    a.bsf(x86::r11d, x86::r8d);
    a.add(x86::rdi, x86::r11);
    a.shl(x86::r11, 1);
    a.add(x86::r11, of_record(offsetof(AccessRecord, lanes)));
    a.or_(x86::cx, x86::ptr(x86::r11, 0, 2));
    // r11d: the present mark, then its distance from the lane's mark.
    a.movzx(x86::r11d, mark());
    a.xor_(x86::r11d, x86::ecx);
    if (!site.is_load) a.or_(x86::ecx, WordMark::kWritten);
    a.cmp(x86::r11d, WordMark::kPhase);
    a.jae(found);
    a.cmp(x86::r11d, WordMark::kOwn);
    a.jae(site.is_load ? met : reported);
    a.or_(x86::ecx, x86::r11d);  // it may have been written
    a.bind(found);
    a.mov(mark(), x86::cx);
    put_row(site, RecordedAs::single);
    a.jmp(done);
    if (!site.is_load) return;
    a.bind(met);
    a.test(x86::r11d, WordMark::kWritten);
    a.jnz(reported);
    a.and_(x86::ecx, ~(WordMark::kPhase - 1));
    a.or_(x86::ecx, WordMark::kMany);
    a.jmp(found);
  });
}

// Marks the words of adjacent lanes.
//   some: only of the lanes in r8d
void RecordEmitter::mark_row(const Site& site, bool some, asmjit::Label reported) {
  const auto constant = [](std::size_t offset) { return table(offset).cloneResized(32); };
  const x86::Mem own = constant(offsetof(Tables, mark_own));
  const x86::Mem others = constant(offsetof(Tables, mark_others));
  const auto distance = [](unsigned half) { return x86::ymm(half); };
  const auto mine = [](unsigned half) { return x86::ymm(2 + half); };
  const auto active = [](unsigned half) { return x86::ymm(4 + half); };
  find_mark_of_warp();
  if (!site.is_load) a.or_(x86::ecx, WordMark::kWritten);
  a.vmovd(x86::xmm0, x86::ecx);
  a.vpbroadcastw(x86::ymm0, x86::xmm0);
  a.mov(x86::r11, of_record(offsetof(AccessRecord, lanes)));
  for (const unsigned half : kHalves) {
    const auto of_lanes = static_cast<std::int32_t>(32 * half);
    a.vpor(mine(half), x86::ymm0, x86::ptr(x86::r11, of_lanes, 32));
  }
  if (some) {
    const x86::Mem bits = constant(offsetof(Tables, mark_bits));
    a.vmovd(x86::xmm6, x86::r8d);
    a.vpbroadcastw(active(0), x86::xmm6);
    a.vpsrld(x86::xmm6, x86::xmm6, 16);
    a.vpbroadcastw(active(1), x86::xmm6);
    for (const unsigned half : kHalves) {
      a.vpand(active(half), active(half), bits);
      a.vpcmpeqw(active(half), active(half), bits);
    }
  }
  for (const unsigned half : kHalves) {
    a.vpxor(distance(half), mine(half), marks(half));
    if (some) a.vpand(distance(half), distance(half), active(half));
    a.vpsubw(distance(half), distance(half), own);
  }
  a.vpminuw(x86::ymm6, distance(0), distance(1));
  a.vmovdqu(x86::ymm7, others);
  a.vpsubusw(x86::ymm7, x86::ymm7, x86::ymm6);
  a.vptest(x86::ymm7, x86::ymm7);
  const asmjit::Label met = a.newLabel(), put = a.newLabel();
  a.jnz(site.is_load ? met : reported);
  if (site.is_load) {
    keep_written();
    later([this, reported, met, put] {
      a.bind(met);
      mark_met(reported);
      a.jmp(put);
    });
  }
  a.bind(put);
  for (const unsigned half : kHalves) {
    if (some) {
      a.vmovdqu(x86::ymm6, marks(half));
      a.vpblendvb(mine(half), x86::ymm6, mine(half), active(half));
    }
    a.vmovdqu(marks(half), mine(half));
  }
}

// A word that a thread has written stays marked as written when the thread reads it. ymm0 and ymm1:
// distances minus kOwn; ymm2 and ymm3: the new marks.
void RecordEmitter::keep_written() {
  const x86::Mem written = table(offsetof(Tables, mark_all)).cloneResized(32);
  for (const unsigned half : kHalves) {
    a.vpcmpeqw(x86::ymm(half), x86::ymm(half), written);
    a.vpsubw(x86::ymm(2 + half), x86::ymm(2 + half), x86::ymm(half));
  }
}

// Marks the words of a row if some of its lanes read words that other threads have accessed.
void RecordEmitter::mark_met(asmjit::Label reported) {
  const auto constant = [](std::size_t offset) { return table(offset).cloneResized(32); };
  for (const unsigned half : kHalves) {
    const x86::Ymm distance = x86::ymm(half);
    a.vpminuw(x86::ymm6, distance, constant(offsetof(Tables, mark_last)));
    a.vpcmpeqw(x86::ymm6, x86::ymm6, distance);
    a.vpand(x86::ymm7, x86::ymm6, distance);
    a.vptest(x86::ymm7, constant(offsetof(Tables, mark_written)));
    a.jnz(reported);
    a.vpcmpeqw(distance, distance, constant(offsetof(Tables, mark_all)));
    a.vpsubw(x86::ymm(2 + half), x86::ymm(2 + half), distance);
    a.vmovdqa(distance, x86::ymm6);
  }
  a.mov(x86::ecx, of_record(offsetof(AccessRecord, phase)).cloneResized(4));
  a.or_(x86::ecx, WordMark::kMany);
  a.vmovd(x86::xmm6, x86::ecx);
  a.vpbroadcastw(x86::ymm6, x86::xmm6);
  for (const unsigned half : kHalves) {
    a.vpblendvb(x86::ymm(2 + half), x86::ymm(2 + half), x86::ymm6, x86::ymm(half));
  }
}

// Records a row of atomics whose offsets are in the frame; preserves rdx and rax.
void RecordEmitter::record_atomics(const Site& site, asmjit::Label reported) {
  find_place(offsetof(AccessRecord, next_update), offsetof(AccessRecord, update_limit), reported);
  a.mov(x86::rcx, of_record(offsetof(AccessRecord, next)));
  a.cmp(x86::rcx, of_record(offsetof(AccessRecord, first)));
  a.jne(reported);
  a.cmp(of_record(offsetof(AccessRecord, update_bytes)).cloneResized(4), site.bytes);
  a.jne(reported);
  a.mov(x86::rcx, field(offsetof(NativeFrame, states), 8));
  a.mov(x86::r10, field(offsetof(NativeFrame, shared_memory), 8));
  a.cmp(x86::r10, of_states(offsetof(NotedStates, settled)));
  a.jne(reported);
  for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += 32) {
    a.vmovups(x86::ymm0, field(offsetof(NativeFrame, offsets) + byte, 32));
    a.vmovups(of_row(offsetof(RecordedAtomics, offset) + byte).cloneResized(32), x86::ymm0);
  }
  a.mov(of_row(offsetof(RecordedAtomics, pc)), site.pc);
  a.mov(of_row(offsetof(RecordedAtomics, mask)), -1);
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  a.mov(of_row(offsetof(RecordedAtomics, warp)), x86::ecx);
  // bytes and scope are consecutive bytes.
  constexpr std::size_t kBytes = offsetof(RecordedAtomics, bytes);
  static_assert(offsetof(RecordedAtomics, scope) == kBytes + 1 && sizeof(ptx::Scope) == 1);
  const auto scope = static_cast<std::uint32_t>(site.instr.modifiers.scope);
  a.mov(of_row(kBytes).cloneResized(2), site.bytes | scope << 8);
  a.add(of_record(offsetof(AccessRecord, next_update)), sizeof(RecordedAtomics));
  a.mov(of_record(offsetof(AccessRecord, limit)), 0);
}

}  // namespace warpcheck::vgpu::native
