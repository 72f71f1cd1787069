// Emits the queueing of rows of global memory that race with nothing as long as their memory is
// only read, or only updated by atomics of one kind (access_record.hpp).
#include <cstddef>

#include "vgpu/machine/native/emit_record.hpp"

namespace warpcheck::vgpu::native {
namespace {

// Returns what the two bytes of a kind are as a number.
std::uint32_t kind_number(QueuedKind kind) {
  static_assert(offsetof(QueuedKind, scope) == 0 && offsetof(QueuedKind, bytes) == 1);
  return kind.scope | std::uint32_t{kind.bytes} << 8;
}

}  // namespace

bool RecordEmitter::may_queue(const Site& site) {
  const ptx::Order order = site.instr.modifiers.order;
  const bool is_relaxed = order == ptx::Order::weak || order == ptx::Order::relaxed;
  const bool is_quiet = site.is_load || (site.instr.kind == InstrKind::atomic && is_relaxed);
  return is_quiet && site.instr.modifiers.space != ptx::Space::shared;
}

// Queues the read and jumps to `queued`, or goes on if it must be reported.  Preserves rax, rdx
// and r8: the offset of lane 0 from the site's base, the sites, and the lanes if `some`.
// Scattered lanes are at the frame's offsets.
void RecordEmitter::queue_read(const Site& site, Pattern pattern, bool some, asmjit::Label queued) {
  const asmjit::Label reported = a.newLabel();
  if (site.instr.modifiers.space == ptx::Space::constant) {  // nobody needs such reads for long
    a.cmp(site.field(offsetof(AccessSite, is_unseen)).cloneResized(1), 0);
    a.je(reported);
    a.cmp(field(offsetof(NativeFrame, queue_time), 8), 0);
    a.jne(queued);
    a.bind(reported);
    return;
  }
  const asmjit::Label put = a.newLabel();
  begin_queue(site, reported);
  a.test(x86::ecx, x86::ecx);
  const bool may_be_owned = !some && may_own(site, pattern);
  const asmjit::Label owned = a.newLabel();
  a.jnz(may_be_owned ? owned : reported);
  a.bind(put);
  put_queued(site, pattern, 0, some);
  log_load(site, pattern, some);
  a.jmp(queued);
  if (may_be_owned) {
    a.bind(owned);
    a.cmp(x86::ecx, kind_number(QueuedKind::owned()));
    a.jne(reported);
    own_row(site, pattern, reported);
    a.jmp(put);
  }
  a.bind(reported);
}

// Queues the write and jumps to `queued`, or goes on if it must be reported; as above.
void RecordEmitter::queue_write(const Site& site, Pattern pattern, asmjit::Label queued) {
  const asmjit::Label reported = a.newLabel();
  begin_queue(site, reported);
  a.cmp(x86::ecx, kind_number(QueuedKind::owned()));
  a.jne(reported);
  own_row(site, pattern, reported);
  put_queued(site, pattern, QueuedRow::kWrites, false);
  a.jmp(queued);
  a.bind(reported);
}

// Queues the row, or jumps to `reported`; as above.
void RecordEmitter::queue_atomics(const Site& site, Pattern pattern, asmjit::Label reported) {
  const QueuedKind kind = QueuedKind::atomics(site.instr.modifiers.scope, site.bytes);
  begin_queue(site, reported);
  a.cmp(x86::ecx, kind_number(kind));
  a.jne(reported);
  put_queued(site, pattern, kind.scope, false);
}

// Loads the queue to r9, its next place to rsi, and the number of its kind to ecx.  Jumps to
// `reported` if there is no queue.
void RecordEmitter::begin_queue(const Site& site, asmjit::Label reported) {
  a.mov(x86::r9, site.field(offsetof(AccessSite, queue)));
  a.test(x86::r9, x86::r9);
  a.jz(reported);
  a.mov(x86::rsi, of_queue(offsetof(RowQueue, next)));
  a.cmp(x86::rsi, of_queue(offsetof(RowQueue, limit)));
  a.jae(reported);
  a.cmp(field(offsetof(NativeFrame, queue_time), 8), 0);
  a.je(reported);
  a.movzx(x86::ecx, of_queue(offsetof(RowQueue, kind), 2));
}

// Appends the row at rsi to the queue in r9.
void RecordEmitter::put_queued(const Site& site, Pattern pattern, std::uint8_t scope, bool some) {
  const auto of_queued = [](std::size_t offset, std::uint32_t size) {
    return x86::ptr(x86::rsi, static_cast<std::int32_t>(offset), size);
  };
  a.mov(x86::r10, field(offsetof(NativeFrame, queue_time), 8));
  a.mov(x86::ecx, field(offsetof(NativeFrame, warp), 4));
  static_assert(kWarpLanes == 1 << 5);
  a.shl(x86::ecx, 5);
  a.add(x86::rcx, x86::ptr(x86::r10, 0, 8));
  a.mov(of_queued(offsetof(QueuedRow, time), 8), x86::rcx);
  if (pattern != Pattern::scattered) {
    a.mov(x86::ecx, site.field(offsetof(AccessSite, begin)).cloneResized(4));
    a.add(x86::ecx, x86::eax);
    a.mov(of_queued(offsetof(QueuedRow, first), 4), x86::ecx);
  }
  a.mov(of_queued(offsetof(QueuedRow, pc), 4), site.pc);
  if (some) {
    a.mov(of_queued(offsetof(QueuedRow, mask), 4), x86::r8d);
  } else {
    a.mov(of_queued(offsetof(QueuedRow, mask), 4), -1);
  }
  // bytes, pattern and scope are consecutive bytes.
  constexpr std::size_t kBytes = offsetof(QueuedRow, bytes);
  static_assert(offsetof(QueuedRow, pattern) == kBytes + 1 && sizeof(Pattern) == 1 &&
                offsetof(QueuedRow, scope) == kBytes + 2 && sizeof(QueuedRow) == kBytes + 4);
  a.mov(of_queued(kBytes, 4),
        site.lane_bytes() | static_cast<std::uint32_t>(pattern) << 8 | std::uint32_t{scope} << 16);
  std::size_t bytes = sizeof(QueuedRow);
  if (pattern == Pattern::scattered) {
    for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += vector_bytes()) {
      load(vec(0), field(offsetof(NativeFrame, offsets) + byte, 0));
      store(of_queued(bytes + byte, 0), vec(0));
    }
    bytes = kQueuedRowMax;
  }
  a.add(x86::rsi, static_cast<std::int32_t>(bytes));
  a.mov(of_queue(offsetof(RowQueue, next)), x86::rsi);
}

}  // namespace warpcheck::vgpu::native
