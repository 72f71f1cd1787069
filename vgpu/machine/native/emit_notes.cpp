// Rows of words in shared memory that meet no other row between two barriers are noted by the code
// itself (noted_rows.hpp).
#include <cstddef>

#include "vgpu/machine/native/emit_access.hpp"

namespace warpcheck::vgpu::native {

bool Emitter::is_noted(const Site& site, bool strided) {
  return site.instr.modifiers.space == ptx::Space::shared && site.count == 1 && site.bytes == 4 &&
         (strided || site.is_load);
}

namespace {

x86::Mem of_notes(std::size_t offset) { return {x86::r9, static_cast<std::int32_t>(offset), 8}; }
x86::Mem of_states(std::size_t offset) { return {x86::rcx, static_cast<std::int32_t>(offset), 8}; }
x86::Mem of_row(std::size_t offset) { return {x86::rsi, static_cast<std::int32_t>(offset), 4}; }

}  // namespace

// Leaves rax and rdx as they are: the offset of the first lane and the sites.  Goes to `untold`,
// and no row is noted, where it is to be told.
void Emitter::note(const Site& site, bool strided, asmjit::Label untold) {
  a.mov(x86::r9, field(offsetof(NativeFrame, notes), 8));
  a.test(x86::r9, x86::r9);
  a.jz(untold);
  a.mov(x86::rsi, of_notes(offsetof(NotedRows, next)));
  a.cmp(x86::rsi, of_notes(offsetof(NotedRows, limit)));
  a.jae(untold);
  a.mov(x86::edi, site.field(offsetof(AccessSite, begin)).cloneResized(4));
  a.add(x86::edi, x86::eax);
  const asmjit::Label unsettled = a.newLabel(), known = a.newLabel();
  a.mov(x86::rcx, field(offsetof(NativeFrame, states), 8));
  a.mov(x86::r10, field(offsetof(NativeFrame, shared_memory), 8));
  a.cmp(x86::r10, of_states(offsetof(NotedStates, settled)));
  a.jne(unsettled);
  later([this, site, strided, unsettled, known, untold] {
    a.bind(unsettled);
    note_states(site, strided, untold);
    a.jmp(known);
  });
  a.bind(known);
  note_meetings(site, strided, untold);

  a.mov(of_row(offsetof(NotedRow, cell)), x86::edi);
  a.mov(of_row(offsetof(NotedRow, pc)), site.pc);
  a.mov(of_row(offsetof(NotedRow, mask)), -1);
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  a.mov(of_row(offsetof(NotedRow, warp)), x86::ecx);
  a.mov(of_row(offsetof(NotedRow, segment)), 0);
  // cells_log2, write and uniform are bytes side by side.
  constexpr std::size_t kFlags = offsetof(NotedRow, cells_log2);
  static_assert(offsetof(NotedRow, write) == kFlags + 1 &&
                offsetof(NotedRow, uniform) == kFlags + 2 && sizeof(NotedRow) == kFlags + 4);
  a.mov(of_row(kFlags), (site.is_load ? 0 : 1 << 8) | (strided ? 0 : 1 << 16));
  a.add(of_notes(offsetof(NotedRows, next)), sizeof(NotedRow));
}

// Of the bytes from number edi of the shared memory r10 on; rcx: NotedStates.
void Emitter::note_states(const Site& site, bool strided, asmjit::Label untold) {
  a.cmp(x86::r10, of_states(offsetof(NotedStates, unsettled)));
  a.jne(untold);
  a.mov(x86::rcx, of_states(offsetof(NotedStates, states)));
  const auto state = [](std::uint32_t byte) {
    return x86::ptr(x86::rcx, x86::rdi, 0, static_cast<std::int32_t>(byte));
  };
  if (!strided) {
    a.mov(x86::r10d, state(0));
    a.and_(x86::r10d, 0x80808080);
    a.cmp(x86::r10d, 0x80808080);
    a.jne(untold);
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
  a.jne(untold);
}

// Makes edi the cell of byte number edi, and sets the bits of the row, unless they meet others.
void Emitter::note_meetings(const Site& site, bool strided, asmjit::Label untold) {
  static_assert(NotedRows::kWordBits == 64);
  a.shr(x86::edi, 2);
  a.lea(x86::ecx, x86::ptr(x86::rdi, static_cast<std::int32_t>(NotedRows::kSlackCells)));
  // r8: the word of bits that the first is in; r10, r11: the row's bits there and in the next one.
  a.mov(x86::r8d, x86::ecx);
  a.shr(x86::r8d, 6);
  a.mov(x86::r10d, strided ? -1 : 1);
  a.shl(x86::r10, x86::cl);
  if (strided) {
    a.mov(x86::r11d, 0x7fffffff);
    a.not_(x86::ecx);
    a.shr(x86::r11, x86::cl);
  }
  const x86::Mem bits = x86::ptr(x86::rcx, x86::r8, 3);
  const x86::Mem next_bits = x86::ptr(x86::rcx, x86::r8, 3, 8);
  const auto look = [&](std::size_t offset) {
    a.mov(x86::rcx, of_notes(offset));
    a.test(bits, x86::r10);
    a.jnz(untold);
    if (!strided) return;
    a.test(next_bits, x86::r11);
    a.jnz(untold);
  };
  if (!site.is_load) look(offsetof(NotedRows, read));
  look(offsetof(NotedRows, written));
  if (site.is_load) a.mov(x86::rcx, of_notes(offsetof(NotedRows, read)));
  a.or_(bits, x86::r10);
  if (strided) a.or_(next_bits, x86::r11);
}

}  // namespace warpcheck::vgpu::native
