#include "vgpu/machine/memory/local_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpcheck::vgpu {
namespace {

// Returns the place of the first lane's word at this offset of local memory.
constexpr std::uint32_t place_of(std::uint32_t offset) {
  return offset / 4 * (4 * kWarpLanes) + offset % 4;
}

// Moves adjacent words from or to one half of 64-bit registers or all of 32-bit registers.
template <std::uint32_t row_width>
void move_row(std::byte* row, std::byte* words, bool stores) {
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if (stores) {
      std::memcpy(words + lane * 4, row + lane * row_width, 4);
    } else {
      std::memcpy(row + lane * row_width, words + lane * 4, 4);
    }
  }
}

}  // namespace

void LocalMemory::perform(RunningFragment& run, const Instr& instr, const Target& target,
                          std::uint32_t mask) {
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  const std::uint32_t width = std::min(whole, 8u);
  const std::uint32_t count = whole > 8 ? 2 : instr.modifiers.vector;
  const std::array<std::uint32_t, kWarpLanes> lane_offset = current_.access.offset;
  const std::uint32_t lead = lane_offset[static_cast<unsigned>(std::countr_zero(mask))];
  std::uint32_t differs = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    differs |= (lane_offset[lane] ^ lead) & (0U - ((mask >> lane) & 1U));
  }
  std::array<std::uint32_t, kWarpLanes> at{};
  for (std::uint32_t element = 0; element < count; ++element) {
    for (std::uint32_t half = 0; half * 4 < width; ++half) {
      const std::uint32_t piece = std::min(width, 4u);
      const std::uint32_t further = element * width + half * 4;
      const std::uint32_t first = place_of(lead + further);
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) at[lane] = first + lane * 4;
      for (std::uint32_t rest = differs != 0 ? mask : 0; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        at[lane] = place_of(lane_offset[lane] + further) + lane * 4;
      }
      const bool is_row = differs == 0 && piece == 4;
      current_.access.offset = at;
      current_.access.allocation = target.allocation;
      current_.access.undefined = 0;
      if (current_.is_watched()) {
        current_.announce(run, instr, target, is_row ? Pattern::strided : Pattern::scattered, piece,
                          mask, {element, 1, half * 4});
      }
      if (instr.kind == InstrKind::atomic) {
        // The words of such an access are not adjacent, and local memory is private to the lane
        // anyway.
        if (width == 8 || has_elements(instr.modifiers)) {
          targets_.fault(run, instr, target, target.base + lead,
                         static_cast<unsigned>(std::countr_zero(mask)),
                         whole * instr.modifiers.vector);
          return;
        }
        atomics_.perform(run, instr, mask, false);
        return;
      }
      const Ref& ref = instr[MemoryOperand::value + element];
      move_word(run, instr, at, ref, half, mask, is_row && mask == ~0u);
    }
  }
  current_.access.offset = lane_offset;
}

void LocalMemory::move_word(RunningFragment& run, const Instr& instr,
                            const std::array<std::uint32_t, kWarpLanes>& at, const Ref& ref,
                            std::uint32_t half, std::uint32_t mask, bool is_row) {
  if (ref.bank == Bank::none) return;
  const std::uint32_t width = std::min(ptx::bytes_of(instr.modifiers.type), 8u);
  const std::uint32_t piece = std::min(width, 4u);
  const bool wide = ref.bank == Bank::wide || (ref.bank == Bank::constant && width == 8);
  const std::uint32_t row_width = wide ? 8 : 4;
  std::byte* row = row_of(run.banks, ref);
  std::byte* data = current_.access.allocation->data;
  std::uint32_t rest = mask;
  if (is_row && row_width == width) {
    std::byte* const words = data + at[0];
    const bool stores = instr.kind == InstrKind::store;
    width == 4 ? move_row<4>(row, words, stores) : move_row<8>(row + half * 4, words, stores);
    rest = 0;
  }
  for (; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::byte* lane_row = row + lane * row_width;
    if (instr.kind == InstrKind::store) {
      std::memcpy(data + at[lane], lane_row + half * 4, piece);
      continue;
    }
    if (width == 8) {
      std::memcpy(lane_row + half * 4, data + at[lane], 4);
      continue;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, data + at[lane], piece);
    if (ptx::is_signed(instr.modifiers.type)) {
      const unsigned unused = 64 - 8 * piece;
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    }
    std::memcpy(lane_row, &value, row_width);
  }
  if (instr.kind == InstrKind::load &&
      (current_.access.undefined != 0 || run.warp.undefined.any())) {
    give_undefined_word(run, instr, ref, half, mask);
  }
}

// Marks the undefined bits of a word that was read from local memory: half a register or a whole
// one.
void LocalMemory::give_undefined_word(RunningFragment& run, const Instr& instr, const Ref& ref,
                                      std::uint32_t half, std::uint32_t mask) {
  if (ptx::bytes_of(instr.modifiers.type) <= 4)
    return current_.give_undefined(run, instr, ref, 0, mask);
  UndefinedRegisters& undefined = run.warp.undefined;
  LaneBits bits = half == 0 ? LaneBits{} : undefined.bits_of(run.frame, ref);
  for (std::uint32_t rest = current_.access.undefined & mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t word =
        current_.access.is_partial ? current_.access.undefined_bits_at(0, 4, lane) : ones_of(4);
    bits[lane] |= word << (32 * half);
  }
  const bool is_low = half == 1 && current_.access.undefined == 0;
  const std::uint32_t origin =
      is_low ? undefined.get(run.frame, ref).origin : current_.access.origin;
  undefined.set_bits(run.frame, ref, bits, origin, mask, *launch_.program);
}

}  // namespace warpcheck::vgpu
