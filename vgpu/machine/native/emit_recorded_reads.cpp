// Emits the recording of reads of global memory, which race with nothing as long as their memory is
// only read (access_record.hpp).
#include <cstddef>

#include "vgpu/machine/native/emit_record.hpp"

namespace warpcheck::vgpu::native {

bool RecordEmitter::may_record_read(const Site& site) {
  return site.is_load && site.instr.modifiers.space != ptx::Space::shared;
}

// Records the read and jumps to `recorded`, or goes on if it must be reported.  Preserves rax, rdx
// and r8: the offset of lane 0 from the site's base, the sites, and the lanes if `some`.
// Scattered lanes are at the frame's offsets.
void RecordEmitter::record_read(const Site& site, Pattern pattern, bool some,
                                asmjit::Label recorded) {
  const auto of_reads = [](std::size_t offset) {
    return x86::ptr(x86::r9, static_cast<std::int32_t>(offset), 8);
  };
  const auto of_read = [](std::size_t offset, std::uint32_t size) {
    return x86::ptr(x86::rsi, static_cast<std::int32_t>(offset), size);
  };
  const asmjit::Label reported = a.newLabel();
  if (site.instr.modifiers.space == ptx::Space::constant) {  // nobody needs such reads for long
    a.cmp(site.field(offsetof(AccessSite, is_unseen)).cloneResized(1), 0);
    a.je(reported);
    a.cmp(field(offsetof(NativeFrame, read_time), 8), 0);
    a.jne(recorded);
    a.bind(reported);
    return;
  }
  a.mov(x86::r9, site.field(offsetof(AccessSite, reads)));
  a.test(x86::r9, x86::r9);
  a.jz(reported);
  a.mov(x86::rsi, of_reads(offsetof(ReadRecord, next)));
  a.cmp(x86::rsi, of_reads(offsetof(ReadRecord, limit)));
  a.jae(reported);
  a.mov(x86::r10, field(offsetof(NativeFrame, read_time), 8));
  a.test(x86::r10, x86::r10);
  a.jz(reported);
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  static_assert(kWarpLanes == 1 << 5);
  a.shl(x86::ecx, 5);
  a.add(x86::rcx, x86::ptr(x86::r10, 0, 8));
  a.mov(of_read(offsetof(RecordedRead, time), 8), x86::rcx);
  if (pattern != Pattern::scattered) {
    a.mov(x86::ecx, site.field(offsetof(AccessSite, begin)).cloneResized(4));
    a.add(x86::ecx, x86::eax);
    a.mov(of_read(offsetof(RecordedRead, first), 4), x86::ecx);
  }
  a.mov(of_read(offsetof(RecordedRead, pc), 4), site.pc);
  if (some) {
    a.mov(of_read(offsetof(RecordedRead, mask), 4), x86::r8d);
  } else {
    a.mov(of_read(offsetof(RecordedRead, mask), 4), -1);
  }
  // bytes and pattern are consecutive bytes.
  constexpr std::size_t kBytes = offsetof(RecordedRead, bytes);
  static_assert(offsetof(RecordedRead, pattern) == kBytes + 1 && sizeof(Pattern) == 1);
  a.mov(of_read(kBytes, 2), site.lane_bytes() | static_cast<std::uint32_t>(pattern) << 8);
  std::size_t bytes = sizeof(RecordedRead);
  if (pattern == Pattern::scattered) {
    for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += vector_bytes()) {
      load(vec(0), field(offsetof(NativeFrame, offsets) + byte, 0));
      store(of_read(bytes + byte, 0), vec(0));
    }
    bytes = kRecordedReadMax;
  }
  a.add(x86::rsi, static_cast<std::int32_t>(bytes));
  a.mov(of_reads(offsetof(ReadRecord, next)), x86::rsi);
  a.jmp(recorded);
  a.bind(reported);
}

}  // namespace warpcheck::vgpu::native
