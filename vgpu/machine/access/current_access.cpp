#include "vgpu/machine/access/current_access.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/memory/atomics.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

void CurrentAccess::begin_asynchronous(bool async_proxy, const Allocation* object,
                                       std::uint32_t object_offset) {
  access.asynchronous = true;
  access.async_proxy = async_proxy;
  access.object = object;
  access.object_offset = object_offset;
}

void CurrentAccess::end_asynchronous() {
  access.asynchronous = access.async_proxy = false;
  access.object = nullptr;
}

// Collects the undefined bits of operands that go to memory: the value of a store, b and c of an
// atomic.
void CurrentAccess::take_undefined(const RunningFragment& run, const Instr& instr,
                                   const Elements& elements, std::uint32_t mask) {
  const std::uint32_t bytes = access.bytes / elements.count;
  if (instr.kind == InstrKind::store) {
    for (std::uint32_t i = 0; i < elements.count; ++i) {
      access.of_element[i] =
          take_undefined_of(run, instr[MemoryOperand::value + elements.first + i], elements.byte,
                            i * bytes, bytes, mask);
    }
    return;
  }
  for (const AtomicOperand operand : {AtomicOperand::value, AtomicOperand::swap}) {
    const Ref& ref = instr[operand];
    const std::uint32_t lanes = operand == AtomicOperand::value ? mask & ~access.guessed : mask;
    const Ref row = elements.byte < 8 ? ref : row_after(ref, 1);  // of 16 bytes
    take_undefined_of(run, row, elements.byte % 8, 0, std::min(bytes, 8u), lanes);
    if (bytes == 16) take_undefined_of(run, row_after(ref, 1), 0, 8, 8, lanes);
  }
}

std::uint32_t CurrentAccess::guessed_lanes(const RunningFragment& run, const Instr& instr,
                                           std::uint32_t mask) const {
  if (instr.modifiers.atom_op != ptx::AtomOp::cas || ptx::bytes_of(instr.modifiers.type) > 8) {
    return 0;
  }
  const UndefinedLanes expected = run.warp.undefined.get(run.frame, instr[AtomicOperand::value]);
  return run.warp.undefined.guessed_at(expected.origin, expected.mask & mask, access.allocation,
                                       access.offset);
}

// Handles `bytes` bytes of the register, from `register_byte` on, which go to `access_byte` of the
// access.
UndefinedLanes CurrentAccess::take_undefined_of(const RunningFragment& run, const Ref& ref,
                                                std::uint32_t register_byte,
                                                std::uint32_t access_byte, std::uint32_t bytes,
                                                std::uint32_t mask) {
  UndefinedLanes value = run.warp.undefined.get(run.frame, ref);
  value.mask &= mask;
  if (value.mask == 0) return {};
  if (!access.is_partial) access.undefined_bits = {};
  access.is_partial = true;
  const LaneBits bits = run.warp.undefined.bits_of(run.frame, ref);
  for (std::uint32_t rest = value.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t stored = bits[lane] >> (8 * register_byte) & ones_of(bytes);
    access.undefined_bits[access_byte / 8][lane] |= stored << (8 * (access_byte % 8));
    if (stored == 0) value.mask &= ~(1u << lane);
  }
  access.undefined |= value.mask;
  if (value.mask != 0) access.origin = value.origin;
  access.of_values = value.values;
  return value;
}

void CurrentAccess::give_undefined(RunningFragment& run, const Instr& instr, const Ref& ref,
                                   std::uint32_t element, std::uint32_t mask) {
  const UndefinedLanes value = access.undefined_in(element);
  if ((value.mask & mask) == 0)
    return run.warp.undefined.set(run.frame, ref, {}, mask, launch_.program());
  const std::uint32_t bytes = std::min(ptx::bytes_of(instr.modifiers.type), 8u);
  const unsigned unused = 64 - 8 * bytes;
  LaneBits bits{};
  ValueLanes values = value.values;
  for (std::uint32_t rest = value.mask & mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    bits[lane] =
        access.is_partial ? access.undefined_bits_at(element * bytes, bytes, lane) : ones_of(bytes);
    values.whole |= std::uint32_t{bits[lane] == ones_of(bytes)} << lane;
    if (ptx::is_signed(instr.modifiers.type)) {
      bits[lane] =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(bits[lane] << unused) >> unused);
    }
  }
  run.warp.undefined.set_bits(run.frame, ref, bits, value.origin, mask, launch_.program(), values);
  // Weak reads of local memory are mostly a compiler's, which keeps variables there (-G).
  if (access.space != ptx::Space::local || access.order != ptx::Order::weak) {
    run.warp.undefined.note_read(value.origin, value.mask & mask, access.allocation, access.offset);
  }
}

void CurrentAccess::describe(RunningFragment& run, const Instr& instr, const Allocation& allocation,
                             ptx::Space space, Pattern pattern, std::uint32_t bytes,
                             std::uint32_t mask, const Elements& elements,
                             const std::byte* written) {
  access.allocation = &allocation;
  access.program = &launch_.program();
  access.place = launch_.place_of(run.slot, run.warp);
  access.pc = run.pc;
  access.registers = &run.banks;
  access.mask = mask;
  access.space = space;
  access.kind = access_kind_of(instr);
  access.pattern = pattern;
  access.bytes = static_cast<std::uint8_t>(bytes);
  access.order = instr.modifiers.order;
  access.scope = instr.modifiers.scope;
  access.values = {};
  access.value_bytes = 0;
  access.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(instr.modifiers.type));
  access.undefined = 0;
  access.is_partial = false;
  access.origin = ptx::kNone;
  access.of_values = {};
  access.unwritten = 0;
  const bool asks_swaps =
      launch_.program().synchronizes_threads || launch_.observers().weak_memory != nullptr;
  const bool is_whole = bytes >= ptx::bytes_of(instr.modifiers.type);
  if (asks_swaps && is_whole && instr.modifiers.atom_op == ptx::AtomOp::cas) {
    access.unwritten = lanes_that_compare_unequal(run, instr, access, mask);
  }
  std::size_t values = instr.modifiers.vector;
  if (access.element_bytes == 16) {
    // A weak access of this kind counts as a vector of two; values of strong accesses are not
    // needed.
    const bool weak = access.order == ptx::Order::weak;
    if (weak) access.element_bytes = 8;
    values = weak ? 2 : 0;
  }
  if (instr.opcode == ptx::Opcode::discard_) {
    access.undefined = mask;
    access.of_element.fill({mask, ptx::kNone});
    values = 0;
  }
  if (instr.kind == InstrKind::store) {
    access.value_bytes =
        instr[MemoryOperand::value].bank == Bank::wide || access.element_bytes == 8 ? 8 : 4;
    for (std::size_t i = 0; i < values; ++i) {
      access.values[i] =
          written != nullptr ? written : row_of(run.banks, instr[MemoryOperand::value + i]);
    }
  }
  access.guessed = access.unequal = 0;
  if (run.warp.undefined.any()) [[unlikely]] {
    access.guessed = guessed_lanes(run, instr, mask);
    if (access.guessed != 0) access.unequal = lanes_that_compare_unequal(run, instr, access, mask);
  }
  const bool brings_values = instr.kind != InstrKind::load && instr.opcode != ptx::Opcode::discard_;
  if (brings_values && run.warp.undefined.any()) {
    take_undefined(run, instr, elements, mask);
  }
  if (access.kind != AccessKind::read && access.undefined != 0) close_queues();
}

// Machine code must not queue accesses that may find what this one leaves.
void CurrentAccess::close_queues() const {
  for (Observer* const observer : launch_.observers().of_accesses) {
    const std::optional<RowQueue*> queue = observer->queue_of(*access.allocation);
    if (queue && *queue != nullptr) (*queue)->limit = nullptr;
  }
}

// Reports the described access to the observers from number `first` on.  They see what a load
// finds, and memory as it is before a store.
//   row: `first` has not taken it, and the others may; null: it is none
void CurrentAccess::report_from(std::size_t first, const RowAccess* row) {
  UndefinedMemory* const memory = launch_.observers().undefined_memory;
  const bool stores = access.kind == AccessKind::write;
  const std::vector<Observer*>& observers = launch_.observers().of_accesses;
  // If all observers have taken the row, it is memory that has not.
  const bool may_pass = row != nullptr && first < observers.size();
  const auto follow = [&] {
    if (memory == nullptr || (may_pass && memory->passes(*row))) return;
    stores ? memory->write(access) : memory->read(access);
  };
  if (!stores) follow();
  for (std::size_t i = first; i < observers.size(); ++i) {
    const bool is_taken = row != nullptr && i != first && observers[i]->takes_row(*row);
    if (!is_taken) observers[i]->on_access(access);
  }
  for (Observer* const observer : launch_.observers().of_rows) {
    row != nullptr ? observer->on_rows(launch_.program(), {row, 1}) : observer->on_access(access);
  }
  if (stores) follow();
}

bool CurrentAccess::report(const ProductRead& read) {
  const Observers& observers = launch_.observers();
  if (observers.weak_memory != nullptr) return false;
  if (!is_watched()) return true;
  const bool are_rows_content = std::ranges::all_of(
      observers.of_rows, [&](Observer* observer) { return observer->takes_product(read); });
  if (!are_rows_content || observers.of_accesses.size() > 1) return false;
  std::array<std::uint32_t, kWarpLanes> offsets;
  RowAccess row{.allocation = read.allocation,
                .place = read.place,
                .pc = read.pc,
                .mask = ~0u,
                .space = ptx::Space::shared,
                .pattern = Pattern::scattered,
                .bytes = ProductRead::kChunkBytes,
                .element_bytes = ProductRead::kChunkBytes,
                .offsets = offsets.data()};
  for (std::size_t first = 0; first < read.chunks.size(); first += kWarpLanes) {
    for (std::size_t i = 0; i < kWarpLanes; ++i) {
      offsets[i] = read.chunks[std::min(first + i, read.chunks.size() - 1)];
    }
    const bool passes =
        observers.undefined_memory == nullptr || observers.undefined_memory->passes(row);
    if (!passes) return false;
  }
  return observers.of_accesses.empty() || observers.of_accesses.front()->takes_product(read);
}

bool CurrentAccess::report_whole(RunningFragment& run, const Instr& instr, const RowAccess& row,
                                 const Elements& elements, std::size_t first) {
  run.pc = row.pc;
  if (row.pattern == Pattern::scattered) {
    std::copy_n(row.offsets, kWarpLanes, access.offset.begin());
  } else {
    const bool strided = row.pattern == Pattern::strided;
    launch_.rows().count_up(access.offset.data(), row.first, strided ? row.bytes : 0);
  }
  describe(run, instr, *row.allocation, row.space, row.pattern, row.bytes, row.mask, elements);
  report_from(first, &row);
  return row.kind == AccessKind::write || access.undefined == 0;
}

}  // namespace warpcheck::vgpu
