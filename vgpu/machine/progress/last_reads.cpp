#include "vgpu/machine/progress/last_reads.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/program/barrier_token.hpp"

namespace warpcheck::vgpu {

void LastReads::note(const Access& access) {
  const bool is_strong = access.kind == AccessKind::atomic || access.order != ptx::Order::weak;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    Read& read = (*current_)[lane];
    if (read.is_strong && !is_strong) continue;
    read = {access.pc, access.allocation, access.offset[lane], access.bytes, is_strong};
  }
}

void LastReads::describe(const Warp& warp, unsigned lane, Waiting& waiting) const {
  const auto of_warp = of_warps_.find(&warp);
  if (of_warp == of_warps_.end()) return;
  const Read& read = of_warp->second[lane];
  if (read.allocation == nullptr) return;
  waiting.pc = read.pc;
  waiting.allocation = read.allocation;
  waiting.offset = read.offset;
  waiting.bytes = read.bytes;
  std::memcpy(&waiting.value, read.allocation->data + read.offset,
              std::min<std::size_t>(read.bytes, sizeof waiting.value));
  for (const Slot* slot : launch_.resident()) {
    const bool is_object = std::ranges::any_of(slot->objects, [&](const BarrierObjectState& one) {
      return one.allocation == read.allocation && one.offset == read.offset;
    });
    if (!is_object) continue;
    const BarrierToken token = BarrierToken::unpack(waiting.value);
    waiting.kind = Waiting::Kind::object;
    waiting.expected = token.expected;
    waiting.arrived = token.expected - std::min(token.pending, token.expected);
    waiting.missing_bytes = token.bytes;
  }
  const StrongWrites::Write* const write = strong_writes_.find(read.allocation, read.offset);
  if (write == nullptr) return;
  waiting.written = {{write->block, write->warp, 0, 0}, write->lane, write->pc, false};
  const Slot* const slot = launch_.slot_of(write->block);
  waiting.written.has_exited =
      slot == nullptr || (slot->warps[write->warp].live >> write->lane & 1u) == 0;
}

}  // namespace warpcheck::vgpu
