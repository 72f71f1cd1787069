// Emits the recording of rows that lanes load from shared memory in any order: of words, and of
// parts of words if they are a tile's (emit_recorded_rows.cpp).
#include <algorithm>
#include <bit>
#include <cstddef>

#include "vgpu/machine/native/emit_record.hpp"

namespace warpcheck::vgpu::native {
namespace {

constexpr unsigned kWordLog2 = 2;

// The marks of the words from number `base` on.
x86::Mem marks_at(const x86::Gp& base, std::uint32_t size) {
  return x86::ptr(x86::r10, base.r64(), 1, 0, size);
}
// The offset in the first lane of a half of the row, then the number of its word.
x86::Gp first_of(unsigned half) { return half == 0 ? x86::eax : x86::r8d; }

}  // namespace

bool RecordEmitter::records_lanes(const Site& site) {
  return site.instr.modifiers.space == ptx::Space::shared && site.count == 1 &&
         (site.is_load ? site.bytes <= 1u << kWordLog2 : site.bytes == 1u << kWordLog2);
}

// Jumps to `recorded` if the row that lanes access at the frame's offsets has been recorded.
// rdx is preserved.
void RecordEmitter::call_record_lanes(const Site& site, asmjit::Label recorded) {
  asmjit::Label& subroutine =
      site.is_load ? record_lanes_[static_cast<unsigned>(std::countr_zero(site.bytes))]
                   : record_stored_lanes_;
  if (!subroutine.isValid()) subroutine = a.newLabel();
  a.mov(x86::ecx, site.pc);
  a.call(subroutine);
  a.test(x86::eax, x86::eax);
  if (!logs_loads_ || !site.is_load) return void(a.jnz(recorded));
  const asmjit::Label reported = a.newLabel();
  a.jz(reported);
  log_load(site, Pattern::scattered, false);
  a.jmp(recorded);
  a.bind(reported);
}

void RecordEmitter::emit_subroutines() {
  for (unsigned size_log2 = 0; size_log2 < record_lanes_.size(); ++size_log2) {
    if (record_lanes_[size_log2].isValid()) record_lanes(size_log2);
  }
  if (record_stored_lanes_.isValid()) record_stored_lanes();
}

// Emits the subroutine for lanes of one size. ecx: the pc; on return, eax says whether the row is
// recorded.  If lanes of one row share words, or other threads have read some of the words, all
// words of the row are marked as read by many.  So a later write by a thread may be reported even
// to a word that only this thread has read.
void RecordEmitter::record_lanes(unsigned size_log2) {
  const bool are_words = size_log2 == kWordLog2;
  const asmjit::Label reported = a.newLabel();
  const LanesLabels to{.reported = reported,
                       .lanes = are_words ? a.newLabel() : reported,
                       .defined = are_words ? a.newLabel() : reported,
                       .row = a.newLabel()};
  a.bind(record_lanes_[size_log2]);
  find_place_of_lanes(to.reported);
  record_halves(to, size_log2);
  if (are_words) record_words_in_any_order(to);
  a.bind(to.row);
  put_scattered_row(size_log2, false);
  a.mov(x86::eax, 1);
  a.ret();
  a.bind(to.reported);
  a.xor_(x86::eax, x86::eax);
  a.ret();
}

// Continues at `row`, which follows.
void RecordEmitter::record_words_in_any_order(const LanesLabels& to) {
  const asmjit::Label many = a.newLabel();
  const auto of_offsets = [](std::uint32_t byte, std::uint32_t size) {
    return x86::ptr(x86::rdi, static_cast<std::int32_t>(byte), size);
  };
  a.bind(to.lanes);
  a.test(x86::rcx, x86::rcx);
  a.jz(to.defined);
  record_lanes_states(to.reported);
  a.bind(to.defined);
  find_marks_of_lanes();
  a.vptest(x86::ymm6, x86::ymm6);
  a.jz(to.row);
  refuse_written_lanes(to.reported);
  // Lanes of a tile share words: lane 0 then has the word of lane 1 or of lane 16.
  a.mov(x86::ecx, of_offsets(0, 4));
  for (const std::uint32_t lane : {1u, 16u}) {
    a.cmp(x86::ecx, of_offsets(4 * lane, 4));
    a.je(many);
  }
  record_lanes_alone(false, many, to.row);
  a.bind(many);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    a.mov(x86::eax, of_offsets(4 * lane, 4));
    a.shr(x86::eax, 1);
    a.mov(x86::ptr(x86::r10, x86::rax, 0, 0, 2), x86::r11w);
  }
}

// Loads what the subroutine needs.  Jumps to `reported` if no row is taken.
// rcx: the states of bytes; 0: all are defined. rdi: where the offsets go. r10: the marks. r11d,
// and each word of ymm7: the mark of a word that many have read.
void RecordEmitter::find_place_of_lanes(asmjit::Label reported) {
  find_place(offsetof(AccessRecord, next), offsetof(AccessRecord, limit), reported);
  a.mov(x86::edi, of_record(offsetof(AccessRecord, scattered)).cloneResized(4));
  a.cmp(x86::edi, of_record(offsetof(AccessRecord, scattered_limit)).cloneResized(4));
  a.jae(reported);
  a.mov(of_row(offsetof(RecordedRow, cell)), x86::edi);
  a.mov(of_row(offsetof(RecordedRow, pc)), x86::ecx);
  static_assert(sizeof(NativeFrame::offsets) == 1 << 7);
  a.shl(x86::rdi, 7);
  a.add(x86::rdi, of_record(offsetof(AccessRecord, offsets)));
  const asmjit::Label unsettled = a.newLabel(), known = a.newLabel();
  a.mov(x86::rcx, field(offsetof(NativeFrame, states), 8));
  a.mov(x86::r10, field(offsetof(NativeFrame, shared_memory), 8));
  a.cmp(x86::r10, of_states(offsetof(NotedStates, settled)));
  a.jne(unsettled);
  a.xor_(x86::ecx, x86::ecx);
  a.jmp(known);
  a.bind(unsettled);
  a.cmp(x86::r10, of_states(offsetof(NotedStates, unsettled)));
  a.jne(reported);
  a.mov(x86::rcx, of_states(offsetof(NotedStates, states)));
  a.bind(known);
  a.mov(x86::r10, of_record(offsetof(AccessRecord, marks)));
  a.mov(x86::r11d, of_record(offsetof(AccessRecord, phase)).cloneResized(4));
  a.or_(x86::r11d, WordMark::kMany);
  a.vmovd(x86::xmm7, x86::r11d);
  a.vpbroadcastd(x86::ymm7, x86::xmm7);
}

// Copies the offsets, and records a row of a tile of 16 lanes: those of each half read at one
// place, or adjacent elements from a word's beginning on.  That takes a third of the time that
// words in any order take.  Jumps to `lanes` if the row is another one, and to `defined` if it is
// and its words are defined.
void RecordEmitter::record_halves(const LanesLabels& to, unsigned size_log2) {
  const auto offsets = [](unsigned half, std::uint32_t byte, std::uint32_t size) {
    return field(offsetof(NativeFrame, offsets) + std::size_t{64} * half + byte, size);
  };
  for (const unsigned half : kHalves) {
    a.mov(first_of(half), offsets(half, 0, 4));
    a.vpbroadcastd(x86::ymm4, offsets(half, 0, 4));
    for (const unsigned part : kHalves) {
      const x86::Ymm from_first = x86::ymm(2 * half + part);
      const std::uint32_t byte = 32 * part;
      a.vmovups(from_first, offsets(half, byte, 32));
      a.vmovups(x86::ptr(x86::rdi, static_cast<std::int32_t>(64 * half + byte), 32), from_first);
      a.vpsubd(from_first, from_first, x86::ymm4);
    }
  }
  // Jumps to `uniform`, or to `lanes` if the elements are not adjacent.
  const auto distinguish = [&](unsigned half, asmjit::Label uniform) {
    const x86::Ymm first = x86::ymm(2 * half), second = x86::ymm(2 * half + 1);
    a.vpor(x86::ymm4, first, second);
    a.vptest(x86::ymm4, x86::ymm4);
    a.jz(uniform);
    const std::size_t steps =
        offsetof(Tables, word_lanes) + size_log2 * sizeof(Tables::word_lanes[0]);
    a.vpxor(x86::ymm4, first, table(steps).cloneResized(32));
    a.vpxor(x86::ymm5, second, table(steps + 32).cloneResized(32));
    a.vpor(x86::ymm4, x86::ymm4, x86::ymm5);
    a.vptest(x86::ymm4, x86::ymm4);
    a.jnz(to.lanes);
    if (size_log2 == kWordLog2) return;
    a.test(first_of(half), (1u << kWordLog2) - 1);
    a.jnz(to.lanes);
  };
  const asmjit::Label first_uniform = a.newLabel(), last_uniform = a.newLabel(),
                      both_uniform = a.newLabel();
  distinguish(0, first_uniform);
  distinguish(1, last_uniform);
  record_halves(to, size_log2, {false, false});
  a.bind(last_uniform);
  record_halves(to, size_log2, {false, true});
  a.bind(first_uniform);
  distinguish(1, both_uniform);
  record_halves(to, size_log2, {true, false});
  a.bind(both_uniform);
  record_halves(to, size_log2, {true, true});
}

// Loads so many bytes, again and again, or the first 32.
void RecordEmitter::load_of_half(const x86::Ymm& to, const x86::Mem& from, std::uint32_t bytes) {
  // A larger operand would make the instruction one of AVX-512.
  const x86::Mem sized = from.cloneResized(std::min(bytes, 32u));
  switch (bytes) {
    case 1: return void(a.vpbroadcastb(to, sized));
    case 2: return void(a.vpbroadcastw(to, sized));
    case 4: return void(a.vpbroadcastd(to, sized));
    case 8: return void(a.vpbroadcastq(to, sized));
    case 16: return void(a.vbroadcasti128(to, sized));
    default: return void(a.vmovdqu(to, sized));
  }
}

// Jumps to `reported` if some byte is not defined. rcx: the states; 0: all are.
void RecordEmitter::check_states_of_halves(unsigned size_log2, std::array<bool, 2> uniform,
                                           asmjit::Label reported) {
  const auto at = [](unsigned half, std::uint32_t byte) {
    return x86::ptr(x86::rcx, first_of(half).r64(), 0, static_cast<std::int32_t>(byte), 32);
  };
  const asmjit::Label defined = a.newLabel();
  a.test(x86::rcx, x86::rcx);
  a.jz(defined);
  const std::uint32_t of_lane = 1u << size_log2, of_half = kWarpLanes / 2 * of_lane;
  for (const unsigned half : kHalves) {
    const x86::Ymm states = x86::ymm(half);
    load_of_half(states, at(half, 0), uniform[half] ? of_lane : of_half);
    if (!uniform[half] && of_half > 32) a.vpand(states, states, at(half, 32));
  }
  a.vpand(x86::ymm0, x86::ymm0, x86::ymm1);
  a.vpmovmskb(x86::ecx, x86::ymm0);
  a.cmp(x86::ecx, -1);
  a.jne(reported);
  a.bind(defined);
}

// Records halves of which it is known whether they are uniform.
void RecordEmitter::record_halves(const LanesLabels& to, unsigned size_log2,
                                  std::array<bool, 2> uniform) {
  check_states_of_halves(size_log2, uniform, to.reported);
  constexpr std::uint32_t kMark = sizeof(std::uint16_t);
  const std::uint32_t of_half = kMark * (kWarpLanes / 2) >> (kWordLog2 - size_log2);
  a.vpbroadcastw(x86::ymm6, x86::xmm7);
  for (const unsigned half : kHalves) {
    const x86::Ymm distance = x86::ymm(half);
    a.shr(first_of(half), kWordLog2);
    load_of_half(distance, marks_at(first_of(half), 32), uniform[half] ? kMark : of_half);
    a.vpxor(distance, distance, x86::ymm6);
  }
  if (size_log2 == kWordLog2 && !uniform[0] && !uniform[1]) {
    const asmjit::Label shared = a.newLabel();
    // If the lanes share no words, only words that many have read stay as they are.
    a.cmp(first_of(0), first_of(1));
    a.je(shared);
    a.vpor(x86::ymm2, x86::ymm0, x86::ymm1);
    a.vptest(x86::ymm2, x86::ymm2);
    a.jz(to.row);
    a.jmp(to.defined);
    a.bind(shared);
  }
  for (const unsigned half : kHalves) {
    const x86::Ymm written = x86::ymm(half);
    a.vpand(written, written, table(offsetof(Tables, mark_state_of_word)).cloneResized(32));
    a.vpcmpeqw(written, written, table(offsetof(Tables, mark_written)).cloneResized(32));
  }
  a.vpor(x86::ymm0, x86::ymm0, x86::ymm1);
  a.vptest(x86::ymm0, x86::ymm0);
  a.jnz(to.reported);
  for (const unsigned half : kHalves) {
    const std::uint32_t bytes = uniform[half] ? kMark : of_half;
    const x86::Mem at = marks_at(first_of(half), bytes);
    switch (bytes) {
      case 2: a.mov(at, x86::r11w); break;
      case 8: a.vmovq(at, x86::xmm6); break;
      case 16: a.vmovdqu(at, x86::xmm6); break;
      default: a.vmovdqu(at, x86::ymm6);
    }
  }
  a.jmp(to.row);
}

// Leaves in the upper halves of ymm2 to ymm5 the distances of the marks of eight lanes each from
// ymm7, and in ymm6 their disjunction.
void RecordEmitter::find_marks_of_lanes() {
  a.vpxor(x86::ymm6, x86::ymm6, x86::ymm6);
  for (unsigned part = 0; part < 4; ++part) {
    const x86::Ymm distance = x86::ymm(2 + part);
    a.vmovups(x86::ymm0, field(offsetof(NativeFrame, offsets) + std::size_t{32} * part, 32));
    a.vpsrld(x86::ymm0, x86::ymm0, 1);
    a.vpcmpeqd(x86::ymm1, x86::ymm1, x86::ymm1);
    a.vpgatherdd(distance, x86::ptr(x86::r10, x86::ymm0), x86::ymm1);
    a.vpxor(distance, distance, x86::ymm7);
    a.vpslld(distance, distance, 16);
    a.vpor(x86::ymm6, x86::ymm6, distance);
  }
}

// Jumps to `reported` if one of the words has been written in this phase.
void RecordEmitter::refuse_written_lanes(asmjit::Label reported) {
  a.vpxor(x86::ymm6, x86::ymm6, x86::ymm6);
  for (unsigned part = 0; part < 4; ++part) {
    a.vpand(x86::ymm0, x86::ymm(2 + part), table(offsetof(Tables, mark_state)).cloneResized(32));
    a.vpcmpeqd(x86::ymm0, x86::ymm0, table(offsetof(Tables, mark_is_written)).cloneResized(32));
    a.vpor(x86::ymm6, x86::ymm6, x86::ymm0);
  }
  a.vptest(x86::ymm6, x86::ymm6);
  a.jnz(reported);
}

// Writes the remaining fields of the row at rsi.
void RecordEmitter::put_scattered_row(unsigned size_log2, bool is_write) {
  a.mov(of_row(offsetof(RecordedRow, mask)), -1);
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  a.mov(of_row(offsetof(RecordedRow, warp)), x86::ecx);
  a.mov(of_row(offsetof(RecordedRow, segment)), 0);
  const unsigned cells_log2 = size_log2 == kWordLog2 ? 0 : RecordedRow::kParts + size_log2;
  a.mov(of_row(offsetof(RecordedRow, cells_log2)), cells_log2 | (is_write ? 1 << 8 : 0) | 1 << 24);
  a.add(of_record(offsetof(AccessRecord, scattered)).cloneResized(4), 1);
  a.add(of_record(offsetof(AccessRecord, next)), sizeof(RecordedRow));
}

// Checks that the words that lanes load are defined; rcx: the states.
void RecordEmitter::record_lanes_states(asmjit::Label reported) {
  for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += 32) {
    a.vmovups(x86::ymm0, field(offsetof(NativeFrame, offsets) + byte, 32));
    a.vpcmpeqd(x86::ymm1, x86::ymm1, x86::ymm1);
    a.vpgatherdd(x86::ymm2, x86::ptr(x86::rcx, x86::ymm0), x86::ymm1);
    if (byte == 0) {
      a.vmovdqa(x86::ymm3, x86::ymm2);
    } else {
      a.vpand(x86::ymm3, x86::ymm3, x86::ymm2);
    }
  }
  a.vpmovmskb(x86::eax, x86::ymm3);
  a.cmp(x86::eax, -1);
  a.jne(reported);
}

// Marks the words and jumps to `row` if each lane is the only one that has accessed its word;
// otherwise jumps to `others`.
void RecordEmitter::record_lanes_alone(bool is_write, asmjit::Label others, asmjit::Label row) {
  const auto lanes_at = [](unsigned part) {
    return x86::ptr(x86::r8, static_cast<std::int32_t>(16 * part), 16);
  };
  find_mark_of_warp();
  if (is_write) a.or_(x86::ecx, WordMark::kWritten);
  a.vmovd(x86::xmm1, x86::ecx);
  a.vpbroadcastd(x86::ymm1, x86::xmm1);
  a.mov(x86::r8, of_record(offsetof(AccessRecord, lanes)));
  // The word was accessed by the thread itself only, or in an earlier phase.
  for (unsigned part = 0; part < 4; ++part) {
    const x86::Ymm distance = x86::ymm(2 + part);
    a.vpsrld(distance, distance, 16);
    a.vpxor(distance, distance, x86::ymm7);
    a.vpmovzxwd(x86::ymm0, lanes_at(part));
    a.vpaddd(x86::ymm0, x86::ymm0, x86::ymm1);
    a.vpxor(distance, distance, x86::ymm0);
    a.vmovdqu(x86::ymm0, table(offsetof(Tables, mark_phase)).cloneResized(32));
    a.vpcmpgtd(x86::ymm0, x86::ymm0, distance);
    a.vpxor(x86::ymm6, x86::ymm6, x86::ymm6);
    if (is_write) a.vpsrld(distance, distance, 1);  // it may have read the word only
    a.vpcmpgtd(distance, distance, x86::ymm6);
    a.vpand(x86::ymm0, x86::ymm0, distance);
    a.vptest(x86::ymm0, x86::ymm0);
    a.jnz(others);
  }
  a.movzx(x86::r11d, x86::ptr(x86::r8, 2, 2));
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    a.mov(x86::eax, x86::ptr(x86::rdi, static_cast<std::int32_t>(4 * lane), 4));
    a.shr(x86::eax, 1);
    a.mov(x86::ptr(x86::r10, x86::rax, 0, 0, 2), x86::cx);
    a.add(x86::ecx, x86::r11d);  // the mark of the next lane
  }
  a.mov(x86::r11d, of_record(offsetof(AccessRecord, phase)).cloneResized(4));
  a.or_(x86::r11d, WordMark::kMany);
  // Detects lanes that share a word: a later lane has overwritten the mark of an earlier one.
  for (unsigned part = 0; part < 4; ++part) {
    a.vmovups(x86::ymm0, x86::ptr(x86::rdi, static_cast<std::int32_t>(32 * part), 32));
    a.vpsrld(x86::ymm0, x86::ymm0, 1);
    a.vpcmpeqd(x86::ymm2, x86::ymm2, x86::ymm2);
    a.vpgatherdd(x86::ymm3, x86::ptr(x86::r10, x86::ymm0), x86::ymm2);
    a.vpmovzxwd(x86::ymm0, lanes_at(part));
    a.vpaddd(x86::ymm0, x86::ymm0, x86::ymm1);
    a.vpxor(x86::ymm0, x86::ymm0, x86::ymm3);
    a.vpslld(x86::ymm0, x86::ymm0, 16);
    a.vptest(x86::ymm0, x86::ymm0);
    a.jnz(others);
  }
  a.jmp(row);
}

}  // namespace warpcheck::vgpu::native
