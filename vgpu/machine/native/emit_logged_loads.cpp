// Emits the logging of loads that are not reported, for an observer that needs to know which came
// before an operation of their warp (load_log.hpp).
#include <cstddef>

#include "vgpu/machine/access/load_log.hpp"
#include "vgpu/machine/native/emit_record.hpp"

namespace warpcheck::vgpu::native {

// Logs the load if the record's owner wants it (load_log.hpp).  Preserves rax, rdx and r8: the
// offset of lane 0 from the site's base, the sites, and the lanes if `some`.  Scattered lanes are
// at the frame's offsets.
void RecordEmitter::log_load(const Site& site, Pattern pattern, bool some) {
  if (!logs_loads_ || !site.is_load) return;
  const asmjit::Label unwanted = a.newLabel();
  const auto of_log = [](std::size_t offset) {
    return x86::ptr(x86::rsi, static_cast<std::int32_t>(offset), 4);
  };
  const auto of_load = [](std::size_t offset) {
    return x86::ptr(x86::rdi, static_cast<std::int32_t>(offset), 4);
  };
  a.mov(x86::r9, field(offsetof(NativeFrame, record), 8));
  a.mov(x86::rsi, of_record(offsetof(AccessRecord, loads)));
  a.test(x86::rsi, x86::rsi);
  a.jz(unwanted);
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  a.imul(x86::rcx, x86::rcx, sizeof(LoadLog));
  a.add(x86::rsi, x86::rcx);
  a.mov(x86::ecx, of_log(offsetof(LoadLog, loads)));
  a.inc(of_log(offsetof(LoadLog, loads)));
  a.and_(x86::ecx, LoadLog::kLoads - 1);
  static_assert(sizeof(LoadLog::Load) == 1 << 5);
  a.mov(x86::edi, x86::ecx);
  a.shl(x86::edi, 5);
  a.lea(x86::rdi, x86::ptr(x86::rsi, x86::rdi, 0, offsetof(LoadLog, load)));
  a.mov(x86::r10d, of_log(offsetof(LoadLog, time)));
  a.inc(x86::r10d);
  a.mov(of_log(offsetof(LoadLog, time)), x86::r10d);
  a.mov(of_load(offsetof(LoadLog::Load, time)), x86::r10d);
  a.mov(of_load(offsetof(LoadLog::Load, pc)), site.pc);
  if (some) {
    a.mov(of_load(offsetof(LoadLog::Load, mask)), x86::r8d);
  } else {
    a.mov(of_load(offsetof(LoadLog::Load, mask)), -1);
  }
  a.mov(x86::r10d, of_record(offsetof(AccessRecord, phase_of_block)).cloneResized(4));
  a.mov(of_load(offsetof(LoadLog::Load, phase)), x86::r10d);
  const bool is_shared = site.instr.modifiers.space == ptx::Space::shared;
  a.mov(x86::r10, is_shared ? field(offsetof(NativeFrame, shared_memory), 8)
                            : site.field(offsetof(AccessSite, allocation)));
  static_assert(offsetof(Allocation, id) == 0);
  a.mov(x86::r10d, x86::ptr(x86::r10, 0, 4));
  a.mov(of_load(offsetof(LoadLog::Load, allocation)), x86::r10d);
  const bool is_scattered = pattern == Pattern::scattered;
  if (!is_scattered) {
    a.mov(x86::r10d, site.field(offsetof(AccessSite, begin)).cloneResized(4));
    a.add(x86::r10d, x86::eax);
    a.mov(of_load(offsetof(LoadLog::Load, first)), x86::r10d);
  }
  // bytes and stride are the halves of a word, and `scattered` follows.
  constexpr std::size_t kBytes = offsetof(LoadLog::Load, bytes);
  static_assert(offsetof(LoadLog::Load, stride) == kBytes + 2);
  const std::uint32_t bytes = site.lane_bytes();
  a.mov(of_load(kBytes), bytes | (pattern == Pattern::strided ? bytes << 16 : 0));
  a.mov(of_load(offsetof(LoadLog::Load, scattered)), is_scattered ? 1 : 0);
  if (is_scattered) {
    static_assert(sizeof(LoadLog::offsets[0]) == 1 << 7);
    a.shl(x86::ecx, 7);
    a.add(x86::rsi, x86::rcx);
    for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += vector_bytes()) {
      load(vec(0), field(offsetof(NativeFrame, offsets) + byte, 0));
      store(of_log(offsetof(LoadLog, offsets) + byte).cloneResized(0), vec(0));
    }
  }
  a.bind(unwanted);
}

}  // namespace warpcheck::vgpu::native
