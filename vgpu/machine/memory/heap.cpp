// The device heap: malloc() and free() in device code, lane after lane (CUDA Programming Guide,
// "Dynamic Global Memory Allocation and Operations").
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {
namespace {

Dim3 position_in(const Dim3& extent, std::uint32_t linear) {
  return {linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y};
}

}  // namespace

CodePlace Core::code_place(const RunningFragment& run, unsigned lane) const {
  return {program_, run.pc, run.slot.position,
          position_in(launch_->block, run.warp.index * kWarpLanes + lane)};
}

void Core::call_heap(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  const auto row = [&](const Ref& ref) {
    return run.banks.base[static_cast<std::size_t>(ref.bank)] + ref.offset;
  };
  if (run.warp.undefined.any()) [[unlikely]] {
    use_of_undefined(run, UndefinedUse::Kind::address, instr[HeapOperand::argument], active);
    run.warp.undefined.set(run.frame, instr[HeapOperand::result], {}, active, *program_);
  }
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::uint64_t value = 0;
    std::memcpy(&value, row(instr[HeapOperand::argument]) + lane * sizeof value, sizeof value);
    if (instr.kind == InstrKind::heap_free) {
      free_on_heap(run, lane, value);
    } else {
      value = allocate_on_heap(run, lane, value);
      std::memcpy(row(instr[HeapOperand::result]) + lane * sizeof value, &value, sizeof value);
    }
  }
}

std::uint64_t Core::allocate_on_heap(const RunningFragment& run, unsigned lane,
                                     std::uint64_t bytes) {
  Allocation* const allocation = memory_.allocate_on_heap(bytes);
  if (allocation == nullptr) return 0;
  allocation->allocated_at = code_place(run, lane);
  notify([&](Observer& observer) { observer.on_allocate(*allocation); });
  return allocation->address;
}

void Core::free_on_heap(const RunningFragment& run, unsigned lane, std::uint64_t address) {
  if (address == 0) return;
  auto* const nearest = const_cast<Allocation*>(memory_.nearest(address));
  const bool is_valid =
      nearest != nullptr && nearest->on_heap() && nearest->live && nearest->address == address;
  if (!is_valid) {
    InvalidFree invalid{code_place(run, lane), address, ptx::Space::global, nearest};
    if (address - kSharedWindow < kWindowBytes) invalid.space = ptx::Space::shared;
    if (address - kLocalWindow < kWindowBytes) invalid.space = ptx::Space::local;
    notify([&](Observer& observer) { observer.on_invalid_free(invalid); });
    return;
  }
  const HeapFree event{program_, place_of(run.slot, run.warp), run.pc, lane, nearest};
  notify([&](Observer& observer) { observer.on_heap_free(event); });
  notify([&](Observer& observer) { observer.on_free(*nearest); });
  nearest->freed_at = code_place(run, lane);
  std::replace(last_target_.begin(), last_target_.end(), nearest,
               static_cast<Allocation*>(nullptr));
  memory_.free(nearest);
}

}  // namespace warpcheck::vgpu
