#include "vgpu/machine/memory/device_heap.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpcheck::vgpu {
void DeviceHeap::call(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  const auto row = [&](const Ref& ref) {
    return run.banks.base[static_cast<std::size_t>(ref.bank)] + ref.offset;
  };
  if (run.warp.undefined.any()) [[unlikely]] {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, instr[HeapOperand::argument],
                             active);
    run.warp.undefined.set(run.frame, instr[HeapOperand::result], {}, active, launch_.program());
  }
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::uint64_t value = 0;
    std::memcpy(&value, row(instr[HeapOperand::argument]) + lane * sizeof value, sizeof value);
    if (instr.kind == InstrKind::heap_free) {
      free(run, lane, value);
    } else {
      value = allocate(run, lane, value);
      std::memcpy(row(instr[HeapOperand::result]) + lane * sizeof value, &value, sizeof value);
    }
  }
}

std::uint64_t DeviceHeap::allocate(const RunningFragment& run, unsigned lane, std::uint64_t bytes) {
  Allocation* const allocation = launch_.memory().allocate_on_heap(bytes, launch_.request().device);
  if (allocation == nullptr) return 0;
  allocation->allocated_at = place_with_line(run, lane);
  launch_.notify([&](Observer& observer) { observer.on_allocate(*allocation); });
  return allocation->address;
}

void DeviceHeap::free(const RunningFragment& run, unsigned lane, std::uint64_t address) {
  if (address == 0) return;
  const CodePlace place = place_with_line(run, lane);
  auto* const nearest = const_cast<Allocation*>(launch_.memory().nearest(address));
  const bool is_valid =
      nearest != nullptr && nearest->on_heap() && nearest->live && nearest->address == address;
  if (!is_valid) {
    InvalidFree invalid{place, address, ptx::Space::global, nearest};
    if (address - kSharedWindow < kReservedSharedOffset) invalid.space = ptx::Space::shared;
    if (address - kLocalWindow < kWindowBytes) invalid.space = ptx::Space::local;
    launch_.notify([&](Observer& observer) { observer.on_invalid_free(invalid); });
    return;
  }
  const HeapFree event{&launch_.program(), launch_.place_of(run.slot, run.warp), place.pc, lane,
                       nearest};
  launch_.notify([&](Observer& observer) { observer.on_heap_free(event); });
  launch_.notify([&](Observer& observer) { observer.on_free(*nearest); });
  nearest->freed_at = place;
  targets_.forget(nearest);
  launch_.memory().free(nearest);
}

CodePlace DeviceHeap::place_with_line(const RunningFragment& run, unsigned lane) const {
  CodePlace place = launch_.code_place(run, lane);
  const Program& program = launch_.program();
  const auto has_line = [&](std::uint32_t pc) {
    return program.source_of(pc).location.file < program.files.size();
  };
  if (has_line(place.pc)) return place;
  const auto own = std::ranges::find_if(run.warp.fragments, [&](const Fragment& fragment) {
    return (fragment.mask >> lane & 1) != 0;
  });
  if (own == run.warp.fragments.end()) return place;
  const auto caller = std::find_if(own->callers.rbegin(), own->callers.rend(),
                                   [&](const Return& to) { return has_line(to.pc - 1); });
  if (caller != own->callers.rend()) place.pc = caller->pc - 1;
  return place;
}

}  // namespace warpcheck::vgpu
