// Accesses to the aligned word that contains the last bytes of an object.
//
// There are no atomics on bytes, so the C++ library (cuda::atomic_ref<char>) works on the aligned
// word around a byte: a compare-and-swap loop that does not change the other bytes.  The word of
// the last byte may end behind the object.  This is not an overrun, because allocations are aligned
// to more than a word.  It is recognised by the address, which the code makes by a mask (`p & ~3`;
// Instr::is_word_around), not by the place of the code: an atomic on a word at the address itself
// is an error.  The bytes behind the object are 0 here, and are dropped.
#include <algorithm>
#include <array>
#include <cstring>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/memory/weak_memory.hpp"

namespace warpcheck::vgpu {

// Returns whether a word begins in the target and ends behind it, and the access may do so.
bool Accesses::ends_in_word(const Instr& instr, const Target& target, std::uint64_t address) {
  const bool is_strong =
      instr.kind == InstrKind::atomic ||
      (instr.kind == InstrKind::load && instr.modifiers.order != ptx::Order::weak);
  if (!instr.is_word_around || !is_strong || target.allocation->read_only) return false;
  if (target.space != ptx::Space::global && target.space != ptx::Space::shared) return false;
  const std::uint64_t offset = address - target.base;
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  // At the end of the allocation or of a region in it, not only of a variable that the address is
  // meant for.
  const bool is_last =
      target.limit == target.allocation->limit() || target.allocation->object().regions != nullptr;
  return is_last && offset % bytes == 0 && offset >= target.begin && offset < target.limit &&
         offset + bytes > target.limit;
}

void Accesses::perform_at_end(RunningFragment& run, const Instr& instr, const Target& target,
                              unsigned lane) {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type), mask = 1u << lane;
  const AddressRow row{row_of(run.banks, instr[MemoryOperand::address]),
                       instr[MemoryOperand::address].bank != Bank::word,
                       static_cast<std::uint64_t>(instr.displacement), 0};
  const auto begin = static_cast<std::uint32_t>(address_of(row, lane) - target.base);
  const std::uint32_t inside = target.limit - begin;
  if (launch_.observers().weak_memory != nullptr) launch_.observers().weak_memory->forget_past();
  LaneBits undefined{};
  std::uint32_t origin = ptx::kNone;
  current_.access.allocation = target.allocation;
  for (std::uint32_t at = 0, piece = 0; at < inside; at += piece) {
    piece = inside - at >= 4 ? 4 : inside - at >= 2 ? 2 : 1;
    current_.access.offset[lane] = begin + at;
    current_.access.undefined = 0;
    if (!current_.is_watched()) continue;
    current_.describe(run, instr, *target.allocation, target.space, Pattern::scattered, piece, mask,
                      {0, 1, at});
    current_.access.element_bytes = static_cast<std::uint8_t>(piece);
    current_.report();
    if ((current_.access.undefined & mask) == 0) continue;
    const std::uint64_t bits = current_.access.is_partial
                                   ? current_.access.undefined_bits_at(0, piece, lane)
                                   : ones_of(piece);
    undefined[lane] |= bits << (8 * at);
    origin = current_.access.origin;
  }
  std::byte* data = target.allocation->data + begin;
  BlockShare* const share = launch_.request().share;
  if (instr.kind == InstrKind::atomic && share != nullptr && target.space == ptx::Space::global) {
    constexpr std::uint32_t kPage = ReductionPages::kPageBytes;
    data = share->reductions().page_of(*target.allocation, begin / kPage, run.pc);
    if (data == nullptr) return;
    data += begin % kPage;
  }
  alignas(8) std::array<std::byte, 8> cell{};
  constexpr std::array<std::uint32_t, kWarpLanes> kAtBegin{};
  std::memcpy(cell.data(), data, inside);
  const bool is_load = instr.kind == InstrKind::load;
  const Ref to = is_load ? instr[MemoryOperand::value] : instr[AtomicOperand::old];
  if (!is_load) {
    Atomics::calculate(run, instr, cell.data(), kAtBegin.data(), mask);
    std::memcpy(data, cell.data(), inside);
  } else if (to.bank != Bank::none) {
    launch_.rows().load({.data = cell.data(),
                         .offsets = kAtBegin.data(),
                         .mask = mask,
                         .row = row_of(run.banks, to),
                         .wide_row = to.bank == Bank::wide,
                         .width = static_cast<std::uint8_t>(bytes),
                         .is_signed = ptx::is_signed(instr.modifiers.type)});
  }
  if (to.bank == Bank::none || (origin == ptx::kNone && !run.warp.undefined.any())) return;
  run.warp.undefined.set_bits(run.frame, to, undefined, origin, mask, launch_.program());
}

}  // namespace warpcheck::vgpu
