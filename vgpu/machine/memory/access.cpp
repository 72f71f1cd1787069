// Loads and stores: address spaces, allocations, faults, events.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/core.hpp"
#include "vgpu/machine/memory/atomics.hpp"

namespace warpcheck::vgpu {

using ptx::Space;

namespace {

bool in_window(std::uint64_t address, std::uint64_t window) {
  return address - window < kWindowBytes;
}

AccessKind kind_of(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load: return AccessKind::read;
    case InstrKind::store: return AccessKind::write;
    default: return AccessKind::atomic;
  }
}

}  // namespace

// Executes a load, store or atomic of the lanes of `active`, one group of lanes at a time: those
// whose bytes lie in the same allocation.  Lanes that no allocation answers fault and are dropped.
void Core::access(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  const Ref& address = instr[MemoryOperand::address];
  if (run.warp.undefined.any()) [[unlikely]] {
    use_of_undefined(run, UndefinedUse::Kind::address, address, active);
  }
  AddressRow row{row_of(run.banks, address),
                 address.bank == Bank::wide || (address.bank == Bank::constant),
                 static_cast<std::uint64_t>(instr.offset), 0};
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type) * instr.modifiers.vector;
  std::uint32_t faulted = 0;
  while (active != 0) {
    const auto lead = static_cast<unsigned>(std::countr_zero(active));
    const std::uint64_t lead_address = address_of(row, lead);
    Target target = target_of(run, instr, lead_address);
    if (instr.provenance != 0) keep_to_object(run, meant_[instr.provenance], target);
    row.base = target.base;
    row.begin = target.begin;
    std::uint32_t group = active;
    RowScan scan;
    if (target.allocation != nullptr) {
      scan = rows_.scan(row, target.limit, bytes, active, access_.offset.data());
      if (!scan.inside) [[unlikely]] {
        group = lanes_inside(row, target, bytes, active);
        if (group != 0) scan = rows_.scan(row, target.limit, bytes, group, access_.offset.data());
      }
    }
    const bool forbidden = target.allocation != nullptr && target.allocation->read_only &&
                           instr.kind != InstrKind::load;
    if (target.allocation == nullptr || ((group >> lead) & 1) == 0 || forbidden) {
      fault(run, instr, target, lead_address, lead, bytes);
      faulted |= 1u << lead;
      active &= ~(1u << lead);
      continue;
    }
    if (target.space == Space::local) {
      perform_local(run, instr, target, group);
    } else {
      perform(run, instr, target, scan, group);
    }
    active &= ~group;
  }
  if (faulted != 0 && instr.kind != InstrKind::store) zero_destinations(run, instr, faulted);
}

Core::Target Core::target_of(const RunningFragment& run, const Instr& instr,
                             std::uint64_t address) {
  Target target;
  target.space = instr.modifiers.space;
  if (target.space == Space::generic) {
    target.space = Space::global;
    if (in_window(address, kSharedWindow)) {
      target.space = Space::shared;
      target.base = kSharedWindow;
    } else if (in_window(address, kLocalWindow)) {
      target.space = Space::local;
      target.base = kLocalWindow;
    } else if (in_window(address, kParamWindow)) {
      target.space = Space::param;
      target.base = kParamWindow;
    }
  }
  switch (target.space) {
    case Space::shared:
      target.allocation = run.slot.shared;
      if (address - target.base >= kWindowBytes) [[unlikely]] {
        target.limit = target.allocation->bytes;
        return cluster_target(run, address, target);
      }
      break;
    case Space::param: target.allocation = parameters_; break;
    case Space::local:
      target.allocation = run.warp.local;
      if (target.allocation != nullptr) target.limit = target.allocation->bytes / kWarpLanes;
      if (!run.warp.local_beyond.empty()) return local_target(run.warp, target.base, address);
      return target;
    default: {
      Allocation*& last = last_target_[run.pc];
      if (last == nullptr || !last->contains(address, 1)) {
        Allocation* found = memory_.find(address);
        if (found == nullptr) return cluster_target(run, address, target);
        last = found;
      }
      target.allocation = last;
      target.base = last->address;
      target.space = last->space;
      break;
    }
  }
  if (target.allocation != nullptr) target.limit = target.allocation->bytes;
  return target;
}

std::uint32_t Core::lanes_inside(const AddressRow& row, const Target& target, std::uint32_t bytes,
                                 std::uint32_t mask) const {
  std::uint32_t inside = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset = address_of(row, lane) - target.base;
    const bool fits =
        target.begin <= offset && bytes <= target.limit && offset <= target.limit - bytes;
    if (fits && offset % bytes == 0) inside |= 1u << lane;
  }
  return inside;
}

void Core::fault(const RunningFragment& run, const Instr& instr, const Target& target,
                 std::uint64_t address, unsigned lane, std::uint32_t bytes) {
  Fault fault;
  fault.program = program_;
  fault.place = place_of(run.slot, run.warp);
  fault.pc = run.pc;
  fault.lane = lane;
  fault.space = target.space;
  fault.access = kind_of(instr);
  fault.bytes = bytes;
  fault.address = address;
  fault.nearest = target.allocation;
  const bool is_arena = target.space == Space::global || target.space == Space::constant;
  if (!is_arena) fault.address -= target.base;
  if (target.allocation == nullptr && is_arena) fault.nearest = memory_.nearest(address);
  const std::uint64_t base = is_arena && fault.nearest != nullptr ? fault.nearest->address : 0;
  const std::uint64_t offset = fault.address - base;
  const std::uint64_t limit = target.allocation != nullptr ? target.limit : 0;
  const MeantObject& meant = meant_[instr.provenance];
  if (meant.symbol != nullptr) {
    fault.symbol = meant.symbol;
    fault.meant = run.slot.shared;
  } else if (meant.is_sure) {
    fault.meant = meant.allocation;
  }
  if (target.allocation == nullptr && fault.nearest != nullptr && !fault.nearest->live &&
      offset < fault.nearest->bytes) {
    fault.kind = Fault::Kind::use_after_free;
  } else if (offset % bytes != 0 && offset >= target.begin && offset < limit) {
    fault.kind = Fault::Kind::misaligned;
  } else if (offset >= target.begin && bytes <= limit && offset <= limit - bytes) {
    fault.kind = Fault::Kind::read_only;
  } else {
    fault.kind = Fault::Kind::out_of_bounds;
    const bool has_rank = target.space == Space::shared && target.allocation == nullptr;
    if (has_rank && target.base != 0) explain_fault_in_cluster(run, target, fault);
  }
  notify([&](Observer& observer) { observer.on_fault(fault); });
}

// What is undefined of the operands that go to memory: the values of a store, b and c of an atomic.
void Core::take_undefined(const RunningFragment& run, const Instr& instr, const Elements& elements,
                          std::uint32_t mask) {
  const std::uint32_t bytes = access_.bytes / elements.count;
  if (instr.kind == InstrKind::store) {
    for (std::uint32_t i = 0; i < elements.count; ++i) {
      access_.of_element[i] =
          take_undefined_of(run, instr[MemoryOperand::value + elements.first + i], elements.byte,
                            i * bytes, bytes, mask);
    }
    return;
  }
  for (const Ref& ref : {instr[AtomicOperand::value], instr[AtomicOperand::swap]}) {
    take_undefined_of(run, ref, 0, 0, std::min(bytes, 8u), mask);
    if (bytes == 16) take_undefined_of(run, row_after(ref, 1), 0, 8, 8, mask);
  }
}

// `bytes` bytes of the register, from `register_byte` on, go to `access_byte` of the access.
UndefinedLanes Core::take_undefined_of(const RunningFragment& run, const Ref& ref,
                                       std::uint32_t register_byte, std::uint32_t access_byte,
                                       std::uint32_t bytes, std::uint32_t mask) {
  UndefinedLanes value = run.warp.undefined.get(run.frame, ref);
  value.mask &= mask;
  if (value.mask == 0) return {};
  if (!access_.is_partial) access_.undefined_bits = {};
  access_.is_partial = true;
  const LaneBits bits = run.warp.undefined.bits_of(run.frame, ref);
  for (std::uint32_t rest = value.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t stored = bits[lane] >> (8 * register_byte) & ones_of(bytes);
    access_.undefined_bits[access_byte / 8][lane] |= stored << (8 * (access_byte % 8));
    if (stored == 0) value.mask &= ~(1u << lane);
  }
  access_.undefined |= value.mask;
  if (value.mask != 0) access_.origin = value.origin;
  return value;
}

// What is undefined of an element that has been read, to the register that it went to.
void Core::give_undefined(RunningFragment& run, const Instr& instr, const Ref& ref,
                          std::uint32_t element, std::uint32_t mask) {
  const UndefinedLanes value = access_.undefined_in(element);
  if ((value.mask & mask) == 0) return run.warp.undefined.set(run.frame, ref, {}, mask, *program_);
  const std::uint32_t bytes = std::min(ptx::bytes_of(instr.modifiers.type), 8u);
  const unsigned unused = 64 - 8 * bytes;
  LaneBits bits{};
  for (std::uint32_t rest = value.mask & mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    bits[lane] = access_.is_partial ? access_.undefined_bits_at(element * bytes, bytes, lane)
                                    : ones_of(bytes);
    if (ptx::is_signed(instr.modifiers.type)) {
      bits[lane] =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(bits[lane] << unused) >> unused);
    }
  }
  run.warp.undefined.set_bits(run.frame, ref, bits, value.origin, mask, *program_);
}

// Tells the observers about the access in access_.offset, before the bytes move.
void Core::announce(RunningFragment& run, const Instr& instr, const Target& target, Pattern pattern,
                    std::uint32_t bytes, std::uint32_t mask, const Elements& elements) {
  access_.allocation = target.allocation;
  access_.program = program_;
  access_.place = place_of(run.slot, run.warp);
  access_.pc = run.pc;
  access_.mask = mask;
  access_.space = target.space;
  access_.kind = kind_of(instr);
  access_.pattern = pattern;
  access_.bytes = static_cast<std::uint8_t>(bytes);
  access_.order = instr.modifiers.order;
  access_.scope = instr.modifiers.scope;
  access_.values = {};
  access_.value_bytes = 0;
  access_.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(instr.modifiers.type));
  access_.asynchronous = asynchronous_;
  access_.undefined = 0;
  access_.is_partial = false;
  access_.origin = ptx::kNone;
  access_.unwritten = 0;
  if (program_->synchronizes_threads && instr.modifiers.atom_op == ptx::AtomOp::cas) {
    access_.unwritten = lanes_that_compare_unequal(run, instr, mask);
  }
  std::size_t values = instr.modifiers.vector;
  if (access_.element_bytes == 16) {
    // To weak accesses it is a vector of two; values of strong ones matter to nobody.
    const bool weak = access_.order == ptx::Order::weak;
    if (weak) access_.element_bytes = 8;
    values = weak ? 2 : 0;
  }
  if (instr.opcode == ptx::Opcode::discard_) {
    access_.undefined = mask;
    access_.of_element.fill({mask, ptx::kNone});
    values = 0;
  }
  if (instr.kind == InstrKind::store) {
    access_.value_bytes =
        instr[MemoryOperand::value].bank == Bank::wide || access_.element_bytes == 8 ? 8 : 4;
    for (std::size_t i = 0; i < values; ++i) {
      access_.values[i] =
          written_ != nullptr ? written_ : row_of(run.banks, instr[MemoryOperand::value + i]);
    }
  }
  const bool brings_values = instr.kind != InstrKind::load && instr.opcode != ptx::Opcode::discard_;
  if (brings_values && run.warp.undefined.any()) {
    take_undefined(run, instr, elements, mask);
  }
  for (Observer* observer : access_observers_) observer->on_access(access_);
}

void Core::perform(RunningFragment& run, const Instr& instr, const Target& target,
                   const RowScan& scan, std::uint32_t mask) {
  // A .b128 moves as two halves.
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  const std::uint32_t width = std::min(whole, 8u);
  const std::uint32_t count = whole > 8 ? 2 : instr.modifiers.vector;
  const Pattern pattern = scan.uniform   ? Pattern::uniform
                          : scan.strided ? Pattern::strided
                                         : Pattern::scattered;
  access_.allocation = target.allocation;
  access_.undefined = 0;
  if (instr.kind == InstrKind::atomic && has_elements(instr.modifiers)) [[unlikely]] {
    perform_elements(run, instr, target, mask);
    return;
  }
  if (!access_observers_.empty())
    announce(run, instr, target, pattern, width * count, mask, {0, count});
  if (instr.kind == InstrKind::atomic) {
    perform_atomic(run, instr, mask);
    return;
  }
  RowMove move;
  move.data = target.allocation->data;
  move.offsets = access_.offset.data();
  move.mask = mask;
  move.uniform = scan.uniform;
  move.strided = scan.strided && count == 1;
  move.width = static_cast<std::uint8_t>(width);
  move.is_signed = ptx::is_signed(instr.modifiers.type);
  if (scan.strided && count != 1 && mask != 0xffffffffu) {
    // Elements move lane by lane: inactive lanes need an offset that exists.
    const std::uint32_t safe = access_.offset[static_cast<unsigned>(std::countr_zero(mask))];
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (((mask >> lane) & 1) == 0) access_.offset[lane] = safe;
    }
  }
  for (std::uint32_t element = 0; element < count; ++element) {
    const Ref& ref = instr[MemoryOperand::value + element];
    if (ref.bank == Bank::none) continue;
    move.displacement = element * width;
    move.row = row_of(run.banks, ref);
    move.wide_row = ref.bank == Bank::wide || (ref.bank == Bank::constant && width == 8);
    if (instr.kind == InstrKind::load) {
      rows_.load(move);
      if (access_.undefined != 0 || run.warp.undefined.any()) {
        give_undefined(run, instr, ref, element, mask);
      }
    } else {
      rows_.store(move);
    }
  }
  if (instr.modifiers.order == ptx::Order::weak) [[likely]]
    return;
  const bool raises_flag = instr.kind == InstrKind::store && (mask & (mask - 1)) == 0;
  if (raises_flag) note_strong_writes(run, mask);
}

// Local memory is interleaved: the 4-byte words of the lanes lie side by side, so that lanes at
// the same offset touch one row.  Wider accesses are announced and moved a word at a time.
void Core::perform_local(RunningFragment& run, const Instr& instr, const Target& target,
                         std::uint32_t mask) {
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  const std::uint32_t width = std::min(whole, 8u);
  const std::uint32_t count = whole > 8 ? 2 : instr.modifiers.vector;
  const std::array<std::uint32_t, kWarpLanes> lane_offset = access_.offset;
  std::array<std::uint32_t, kWarpLanes> at{};
  for (std::uint32_t element = 0; element < count; ++element) {
    for (std::uint32_t half = 0; half * 4 < width; ++half) {
      const std::uint32_t piece = std::min(width, 4u);
      bool uniform = true;
      const std::uint32_t lead = lane_offset[static_cast<unsigned>(std::countr_zero(mask))];
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const bool active = ((mask >> lane) & 1) != 0;
        const std::uint32_t offset =
            (active ? lane_offset[lane] : lead) + element * width + half * 4;
        uniform &= !active || lane_offset[lane] == lead;
        at[lane] = offset / 4 * (4 * kWarpLanes) + lane * 4 + offset % 4;
      }
      access_.offset = at;
      access_.allocation = target.allocation;
      access_.undefined = 0;
      if (!access_observers_.empty()) {
        announce(run, instr, target, uniform && piece == 4 ? Pattern::strided : Pattern::scattered,
                 piece, mask, {element, 1, half * 4});
      }
      if (instr.kind == InstrKind::atomic) {
        // Its words are not side by side; every lane has its own anyway.
        if (width == 8 || has_elements(instr.modifiers)) {
          fault(run, instr, target, target.base + lead,
                static_cast<unsigned>(std::countr_zero(mask)), whole * instr.modifiers.vector);
          return;
        }
        perform_atomic(run, instr, mask);
        return;
      }
      move_local_word(run, instr, at, instr[MemoryOperand::value + element], half, mask);
    }
  }
  access_.offset = lane_offset;
}

void Core::move_local_word(RunningFragment& run, const Instr& instr,
                           const std::array<std::uint32_t, kWarpLanes>& at, const Ref& ref,
                           std::uint32_t half, std::uint32_t mask) {
  if (ref.bank == Bank::none) return;
  const std::uint32_t width = std::min(ptx::bytes_of(instr.modifiers.type), 8u);
  const std::uint32_t piece = std::min(width, 4u);
  const bool wide = ref.bank == Bank::wide || (ref.bank == Bank::constant && width == 8);
  const std::uint32_t row_width = wide ? 8 : 4;
  std::byte* row = row_of(run.banks, ref);
  std::byte* data = access_.allocation->data;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
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
  if (instr.kind == InstrKind::load && (access_.undefined != 0 || run.warp.undefined.any())) {
    give_undefined_word(run, instr, ref, half, mask);
  }
}

// The same of a word of local memory, half of a register or all of it.
void Core::give_undefined_word(RunningFragment& run, const Instr& instr, const Ref& ref,
                               std::uint32_t half, std::uint32_t mask) {
  if (ptx::bytes_of(instr.modifiers.type) <= 4) return give_undefined(run, instr, ref, 0, mask);
  UndefinedRegisters& undefined = run.warp.undefined;
  LaneBits bits = half == 0 ? LaneBits{} : undefined.bits_of(run.frame, ref);
  for (std::uint32_t rest = access_.undefined & mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t word =
        access_.is_partial ? access_.undefined_bits_at(0, 4, lane) : ones_of(4);
    bits[lane] |= word << (32 * half);
  }
  const bool is_low = half == 1 && access_.undefined == 0;
  const std::uint32_t origin = is_low ? undefined.get(run.frame, ref).origin : access_.origin;
  undefined.set_bits(run.frame, ref, bits, origin, mask, *program_);
}

void Core::zero_destinations(RunningFragment& run, const Instr& instr, std::uint32_t mask) {
  const auto zero = [&](const Ref& ref) {
    if (ref.bank == Bank::none) return;
    rows_.broadcast(row_of(run.banks, ref), ref.bank == Bank::wide, 0, mask);
    if (run.warp.undefined.any()) run.warp.undefined.set(run.frame, ref, {}, mask, *program_);
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
