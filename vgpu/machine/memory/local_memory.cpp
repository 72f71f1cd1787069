#include "vgpu/machine/memory/local_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Moves words from or to one half of 64-bit registers.
//   half: of the first lane's register
void move_half(std::byte* half, const RowAccess& words, bool stores) {
  const auto move_lane = [&](unsigned lane, std::byte* word) {
    if (stores) {
      std::memcpy(word, half + lane * std::size_t{8}, 4);
    } else {
      std::memcpy(half + lane * std::size_t{8}, word, 4);
    }
  };
  std::byte* const data = words.allocation->data;
  if (words.mask == ~0u && words.pattern == Pattern::strided) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      move_lane(lane, data + words.first + lane * std::size_t{4});
    }
    return;
  }
  for (std::uint32_t rest = words.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    move_lane(lane, data + words.offsets[lane]);
  }
}

template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    visit(static_cast<unsigned>(std::countr_zero(rest)));
  }
}

// Returns the undefined bits of a word that a lane accesses.
std::uint64_t undefined_word(const Access& access, unsigned lane) {
  return access.is_partial ? access.undefined_bits_at(0, 4, lane) : ones_of(4);
}

}  // namespace

void LocalMemory::perform(RunningFragment& run, const Instr& instr, const Target& target,
                          bool is_uniform, std::uint32_t mask) {
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  if (instr.kind == InstrKind::atomic && whole > 4) {
    return perform_wide_atomic(run, instr, target, mask);
  }
  const std::uint32_t width = std::min(whole, 8u), piece = std::min(width, 4u);
  const std::uint32_t count = whole > 8 ? 2 : instr.modifiers.vector;
  const Places lane_offset = current_.access.offset;
  const std::uint32_t lead = lane_offset[static_cast<unsigned>(std::countr_zero(mask))];
  Places at;
  RowAccess row{.allocation = target.allocation,
                .place = launch_.place_of(run.slot, run.warp),
                .pc = run.pc,
                .mask = mask,
                .space = target.space,
                .kind = access_kind_of(instr),
                .pattern = is_uniform && piece == 4 ? Pattern::strided : Pattern::scattered,
                .bytes = static_cast<std::uint8_t>(piece),
                .element_bytes = static_cast<std::uint8_t>(width),
                .offsets = at.data()};
  for (std::uint32_t element = 0; element < count; ++element) {
    for (std::uint32_t half = 0; half * 4 < width; ++half) {
      const std::uint32_t further = element * width + half * 4;
      if (is_uniform) {
        row.first = interleaved(lead + further);
        launch_.rows().count_up(at.data(), row.first, 4);
      } else {
        launch_.rows().interleave(lane_offset.data(), further, mask, at.data());
      }
      const CurrentAccess::Elements elements{element, 1, half * 4};
      report(run, instr, row, elements);
      if (instr.kind == InstrKind::atomic) {
        current_.access.allocation = target.allocation;
        current_.access.offset = at;
        atomics_.perform(run, instr, mask, false);
        return;
      }
      move(run, instr, row, elements);
    }
  }
}

// Copies the two words of each lane, which are not adjacent, to a cell; executes the atomic there,
// as no other thread can see its steps; and copies the words back.
void LocalMemory::perform_wide_atomic(RunningFragment& run, const Instr& instr,
                                      const Target& target, std::uint32_t mask) {
  const Places lane_offset = current_.access.offset;
  std::array<std::uint64_t, kWarpLanes> cells{};
  auto* const bytes = reinterpret_cast<std::byte*>(cells.data());
  Places cell_offset;
  launch_.rows().count_up(cell_offset.data(), 0, sizeof cells[0]);
  std::array<Places, 2> at;
  LaneBits undefined{};
  std::uint32_t origin = ptx::kNone;
  for (std::uint32_t half = 0; half < 2; ++half) {
    launch_.rows().interleave(lane_offset.data(), 4 * half, mask, at[half].data());
    const RowAccess row{.allocation = target.allocation,
                        .place = launch_.place_of(run.slot, run.warp),
                        .pc = run.pc,
                        .mask = mask,
                        .space = target.space,
                        .kind = AccessKind::atomic,
                        .pattern = Pattern::scattered,
                        .bytes = 4,
                        .element_bytes = 8,
                        .offsets = at[half].data()};
    report(run, instr, row, {0, 1, 4 * half});
    for_each_lane(mask, [&](unsigned lane) {
      std::memcpy(bytes + cell_offset[lane] + 4 * half, target.allocation->data + at[half][lane],
                  4);
    });
    for_each_lane(current_.access.undefined & mask, [&](unsigned lane) {
      undefined[lane] |= undefined_word(current_.access, lane) << (32 * half);
      origin = current_.access.origin;
    });
  }
  Atomics::calculate(run, instr, bytes, cell_offset.data(), mask);
  for_each_lane(mask, [&](unsigned lane) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      std::memcpy(target.allocation->data + at[half][lane], bytes + cell_offset[lane] + 4 * half,
                  4);
    }
  });
  const Ref& old = instr[AtomicOperand::old];
  if (old.bank == Bank::none || (origin == ptx::kNone && !run.warp.undefined.any())) return;
  run.warp.undefined.set_bits(run.frame, old, undefined, origin, mask, launch_.program());
}

// Reports a word of each lane.
void LocalMemory::report(RunningFragment& run, const Instr& instr, const RowAccess& row,
                         const CurrentAccess::Elements& elements) {
  current_.access.undefined = 0;
  if (!current_.is_watched()) return;
  const bool is_plain = row.kind != AccessKind::atomic && !run.warp.undefined.any() &&
                        instr.modifiers.order == ptx::Order::weak &&
                        instr.opcode != ptx::Opcode::discard_;
  if (is_plain) {
    current_.report(run, instr, row, elements);
    return;
  }
  std::copy_n(row.offsets, kWarpLanes, current_.access.offset.begin());
  current_.describe(run, instr, *row.allocation, row.space, row.pattern, row.bytes, row.mask,
                    elements);
  current_.report();
}

// Moves a word of each lane: a register, or half of one.
void LocalMemory::move(RunningFragment& run, const Instr& instr, const RowAccess& row,
                       const CurrentAccess::Elements& elements) {
  const Ref& ref = instr[MemoryOperand::value + elements.first];
  if (ref.bank == Bank::none) return;
  const bool is_strided = row.pattern == Pattern::strided;
  const bool is_load = row.kind == AccessKind::read;
  std::byte* const data = row.allocation->data;
  if (ptx::bytes_of(instr.modifiers.type) >= 8) {
    move_half(row_of(run.banks, ref) + elements.byte, row, !is_load);
  } else {
    const RowMove move{.data = data,
                       .offsets = row.offsets,
                       .mask = row.mask,
                       .strided = is_strided,
                       .row = row_of(run.banks, ref),
                       .wide_row = ref.bank == Bank::wide,
                       .width = row.bytes,
                       .is_signed = ptx::is_signed(instr.modifiers.type)};
    is_load ? launch_.rows().load(move) : launch_.rows().store(move);
  }
  if (is_load && (current_.access.undefined != 0 || run.warp.undefined.any())) {
    give_undefined_word(run, instr, ref, elements.byte / 4, row.mask);
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
    bits[lane] |= undefined_word(current_.access, lane) << (32 * half);
  }
  const bool is_low = half == 1 && current_.access.undefined == 0;
  const std::uint32_t origin =
      is_low ? undefined.get(run.frame, ref).origin : current_.access.origin;
  undefined.set_bits(run.frame, ref, bits, origin, mask, launch_.program());
}

}  // namespace warpcheck::vgpu
