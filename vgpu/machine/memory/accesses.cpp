#include "vgpu/machine/memory/accesses.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpcheck::vgpu {

using ptx::Space;

void Accesses::execute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  const Ref& address = instr[MemoryOperand::address];
  if (run.warp.undefined.any()) [[unlikely]] {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, address, active);
  }
  AddressRow row{row_of(run.banks, address),
                 address.bank == Bank::wide || (address.bank == Bank::constant),
                 static_cast<std::uint64_t>(instr.displacement), 0};
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type) * instr.modifiers.vector;
  std::uint32_t faulted = 0;
  while (active != 0) {
    const auto lead = static_cast<unsigned>(std::countr_zero(active));
    const std::uint64_t lead_address = address_of(row, lead);
    Target target = targets_.of(run, instr, lead_address);
    if (instr.provenance != 0) meant_objects_.keep(instr.provenance, run.slot.shared, target);
    row.base = target.base;
    row.begin = target.begin;
    std::uint32_t group = active;
    RowScan scan;
    if (target.allocation != nullptr) {
      scan = launch_.rows.scan(row, target.limit, bytes, active, current_.access.offset.data());
      if (!scan.inside) [[unlikely]] {
        group = Targets::lanes_inside(row, target, bytes, active);
        if (group != 0)
          scan = launch_.rows.scan(row, target.limit, bytes, group, current_.access.offset.data());
      }
    }
    const bool forbidden = target.allocation != nullptr && target.allocation->read_only &&
                           instr.kind != InstrKind::load;
    if (target.allocation == nullptr || ((group >> lead) & 1) == 0 || forbidden) {
      targets_.fault(run, instr, target, lead_address, lead, bytes);
      faulted |= 1u << lead;
      active &= ~(1u << lead);
      continue;
    }
    if (target.space == Space::local) {
      local_memory_.perform(run, instr, target, group);
    } else {
      perform(run, instr, target, scan, group);
    }
    active &= ~group;
  }
  if (faulted != 0 && instr.kind != InstrKind::store) zero_destinations(run, instr, faulted);
}

void Accesses::perform(RunningFragment& run, const Instr& instr, const Target& target,
                       const RowScan& scan, std::uint32_t mask) {
  // A .b128 moves as two halves.
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  const std::uint32_t width = std::min(whole, 8u);
  const std::uint32_t count = whole > 8 ? 2 : instr.modifiers.vector;
  const Pattern pattern = scan.uniform   ? Pattern::uniform
                          : scan.strided ? Pattern::strided
                                         : Pattern::scattered;
  current_.access.allocation = target.allocation;
  current_.access.undefined = 0;
  if (instr.kind == InstrKind::atomic && has_elements(instr.modifiers)) [[unlikely]] {
    atomics_.perform_elements(run, instr, target, mask);
    return;
  }
  if (current_.is_watched())
    current_.announce(run, instr, target, pattern, width * count, mask, {0, count});
  if (instr.kind == InstrKind::atomic) {
    atomics_.perform(run, instr, mask);
    return;
  }
  RowMove move;
  move.data = target.allocation->data;
  move.offsets = current_.access.offset.data();
  move.mask = mask;
  move.uniform = scan.uniform;
  move.strided = scan.strided && count == 1;
  move.width = static_cast<std::uint8_t>(width);
  move.is_signed = ptx::is_signed(instr.modifiers.type);
  if (scan.strided && count != 1 && mask != 0xffffffffu) {
    // Elements move lane by lane: inactive lanes need an offset that exists.
    const std::uint32_t safe =
        current_.access.offset[static_cast<unsigned>(std::countr_zero(mask))];
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (((mask >> lane) & 1) == 0) current_.access.offset[lane] = safe;
    }
  }
  for (std::uint32_t element = 0; element < count; ++element) {
    const Ref& ref = instr[MemoryOperand::value + element];
    if (ref.bank == Bank::none) continue;
    move.displacement = element * width;
    move.row = row_of(run.banks, ref);
    move.wide_row = ref.bank == Bank::wide || (ref.bank == Bank::constant && width == 8);
    if (instr.kind == InstrKind::load) {
      launch_.rows.load(move);
      if (current_.access.undefined != 0 || run.warp.undefined.any()) {
        current_.give_undefined(run, instr, ref, element, mask);
      }
    } else {
      launch_.rows.store(move);
    }
  }
  if (instr.modifiers.order == ptx::Order::weak) [[likely]]
    return;
  const bool raises_flag = instr.kind == InstrKind::store && (mask & (mask - 1)) == 0;
  if (raises_flag) strong_writes_.note(run, current_.access, mask);
}

void Accesses::zero_destinations(RunningFragment& run, const Instr& instr, std::uint32_t mask) {
  const auto zero = [&](const Ref& ref) {
    if (ref.bank == Bank::none) return;
    launch_.rows.broadcast(row_of(run.banks, ref), ref.bank == Bank::wide, 0, mask);
    if (run.warp.undefined.any())
      run.warp.undefined.set(run.frame, ref, {}, mask, *launch_.program);
  };
  const bool is_quad = instr.modifiers.type == ptx::Type::b128;
  if (instr.kind == InstrKind::load) {
    const std::size_t count = is_quad ? 2 : instr.modifiers.vector;
    for (std::size_t i = 0; i < count; ++i) zero(instr[MemoryOperand::value + i]);
    return;
  }
  // An mbarrier has its result in the same place.
  const Ref& old = instr[AtomicOperand::old];
  for (std::uint32_t i = 0; i < instr.modifiers.vector; ++i) zero(row_after(old, i));
  if (is_quad) zero(row_after(old, 1));
}

}  // namespace warpcheck::vgpu
