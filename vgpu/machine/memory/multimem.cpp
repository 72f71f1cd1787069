#include "vgpu/machine/memory/multimem.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/narrow_floats.hpp"
#include "vgpu/machine/memory/bulk_copies.hpp"
#include "vgpu/machine/memory/multicast_places.hpp"

namespace warpcheck::vgpu {

using exact::Number;
using ptx::AtomOp;
using ptx::Rounding;
using ptx::Type;

namespace {

constexpr std::uint32_t kElementsOfPart = 4;  // of one load or store

std::uint64_t ones(unsigned bits) {
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::uint64_t combined_integers(const Multimem& multimem, std::uint64_t a, std::uint64_t b) {
  const unsigned unused = 64 - 8 * multimem.register_bytes;
  const auto less = [&](std::uint64_t x, std::uint64_t y) {
    if (!ptx::is_signed(multimem.element)) return x < y;
    return static_cast<std::int64_t>(x << unused) < static_cast<std::int64_t>(y << unused);
  };
  switch (multimem.combines) {
    case AtomOp::add: return (a + b) & ones(64 - unused);
    case AtomOp::min: return less(b, a) ? b : a;
    case AtomOp::max: return less(a, b) ? b : a;
    case AtomOp::and_: return a & b;
    case AtomOp::or_: return a | b;
    default: return a ^ b;
  }
}

Number unpacked(Type type, std::uint64_t bits) {
  if (narrow::is_narrow_float(type)) return narrow::unpack(type, static_cast<std::uint32_t>(bits));
  return exact::unpack(exact::format_of(type), bits);
}

std::uint64_t packed(Type type, const Number& x) {
  if (narrow::is_narrow_float(type)) return narrow::pack(type, x);
  return exact::pack(exact::format_of(type), x, Rounding::rn);
}

// The order of min and max: -0 is before +0, and a number is preferred to a NaN.
bool is_before(const Number& a, const Number& b) {
  const auto value = [](const Number& x) {
    return std::bit_cast<double>(exact::pack(exact::kF64, x, Rounding::rn));
  };
  if (value(a) == value(b)) return std::signbit(value(a)) && !std::signbit(value(b));
  return value(a) < value(b);
}

Number combined_floats(const Multimem& multimem, const Number& a, const Number& b) {
  if (multimem.combines == AtomOp::add) {
    const Type sum = multimem.sum == Type::none ? multimem.element : multimem.sum;
    return unpacked(sum, packed(sum, exact::add(a, b, Rounding::rn)));
  }
  if (a.kind == Number::Kind::nan) return b;
  if (b.kind == Number::Kind::nan) return a;
  const bool takes_b = multimem.combines == AtomOp::min ? is_before(b, a) : is_before(a, b);
  return takes_b ? b : a;
}

InstrKind kind_of_part(const Multimem& multimem) {
  if (multimem.op == MultimemOp::reduce) return InstrKind::atomic;
  return multimem.op == MultimemOp::load ? InstrKind::load : InstrKind::store;
}

unsigned bits_of_element(Type type) {
  return narrow::is_narrow_float(type) ? narrow::stride_bits(type) : 8 * ptx::bytes_of(type);
}

}  // namespace

std::uint64_t combined(const Multimem& multimem, const std::vector<std::uint64_t>& all) {
  const Type element = multimem.element;
  if (!ptx::is_float(element) && !narrow::is_narrow_float(element)) {
    std::uint64_t result = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) {
      result = combined_integers(multimem, result, all[i]);
    }
    return result;
  }
  const unsigned bits = bits_of_element(element);
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 8 * multimem.register_bytes; shift += bits) {
    const auto one = [&](std::uint64_t value) {
      return unpacked(element, value >> shift & ones(bits));
    };
    Number sum = one(all.front());
    for (std::size_t i = 1; i < all.size(); ++i) sum = combined_floats(multimem, sum, one(all[i]));
    result |= (packed(element, sum) & ones(bits)) << shift;
  }
  return result;
}

std::vector<std::uint64_t> MultimemAccesses::places_of(std::uint64_t address) const {
  std::vector<std::uint64_t> places;
  if (address < kVirtualBase || address >= kVirtualEnd) return places;
  for (unsigned number = 0; number < kMulticastDevicesMax; ++number) {
    const std::uint64_t place = multicast_place(address, number);
    if (launch_.memory().find(place) != nullptr) places.push_back(place);
  }
  return places;
}

Step MultimemAccesses::execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const Multimem multimem = multimem_of(instr);
  const std::uint32_t bytes = multimem.register_bytes * instr.modifiers.vector;
  launch_.use_of_undefined(run, UndefinedUse::Kind::address, instr[BulkOperand::target], lanes);
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t address = lane_value(run, instr[BulkOperand::target], lane);
    const std::vector<std::uint64_t> places = places_of(address);
    if (places.empty()) {
      return launch_.halt(
          run, 1u << lane, Trap::Cause::no_object,
          fmt::format("(1) uses the address {:#x}, where no multicast object with memory is mapped",
                      address));
    }
    if (address % bytes != 0) {
      const Instr part =
          part_of_bulk(instr, kind_of_part(multimem), ptx::Space::global, Type::b32, 1);
      targets_.fault(run, part, targets_.of(run, part, places.front()), places.front(), lane,
                     bytes);
    } else if (multimem.op == MultimemOp::load) {
      load(run, instr, places, lane);
    } else {
      for (const std::uint64_t place : places) access(run, instr, place, lane);
    }
  }
  return Step::again;
}

void MultimemAccesses::access(RunningFragment& run, const Instr& instr, std::uint64_t place,
                              unsigned lane) {
  const Multimem multimem = multimem_of(instr);
  const Ref address{Bank::wide, instr.address_rows};
  std::memcpy(row_of(run.banks, address) + lane * sizeof place, &place, sizeof place);
  const Ref& rows = instr[BulkOperand::rows];
  if (multimem.op == MultimemOp::reduce) {
    Instr part = part_of_bulk(instr, InstrKind::atomic, ptx::Space::global, instr.modifiers.type,
                              instr.modifiers.vector);
    part.modifiers.order = instr.modifiers.order;
    part.modifiers.scope = instr.modifiers.scope;
    part.modifiers.atom_op = multimem.combines;
    part.displacement = 0;
    part.provenance = 0;
    part[AtomicOperand::address] = address;
    part[AtomicOperand::value] = rows;
    return accesses_.execute(run, part, 1u << lane);
  }
  const InstrKind kind = kind_of_part(multimem);
  for (std::uint32_t first = 0; first < instr.modifiers.vector; first += kElementsOfPart) {
    const std::uint32_t count = std::min(instr.modifiers.vector - first, kElementsOfPart);
    Instr part = part_of_bulk(instr, kind, ptx::Space::global, instr.modifiers.type,
                              static_cast<std::uint8_t>(count));
    part.modifiers.order = instr.modifiers.order;
    part.modifiers.scope = instr.modifiers.scope;
    part.displacement = first * multimem.register_bytes;
    part.provenance = 0;
    part[MemoryOperand::address] = address;
    for (std::uint32_t i = 0; i < count; ++i) {
      part[MemoryOperand::value + i] = row_after(rows, first + i);
    }
    accesses_.execute(run, part, 1u << lane);
  }
}

void MultimemAccesses::load(RunningFragment& run, const Instr& instr,
                            const std::vector<std::uint64_t>& places, unsigned lane) {
  const Multimem multimem = multimem_of(instr);
  const std::uint32_t lanes = 1u << lane;
  const auto row_at = [&](std::uint32_t i) { return row_after(instr[BulkOperand::rows], i); };
  UndefinedRegisters& undefined = run.warp.undefined;
  std::vector<std::vector<std::uint64_t>> values(instr.modifiers.vector);
  std::vector<UndefinedLanes> marks(instr.modifiers.vector);
  for (const std::uint64_t place : places) {
    access(run, instr, place, lane);
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      values[i].push_back(lane_value(run, row_at(i), lane) & ones(8 * multimem.register_bytes));
      if (!undefined.any()) continue;
      const UndefinedLanes found = undefined.get(run.frame, row_at(i));
      if ((found.mask & lanes) != 0) marks[i] = {lanes, found.origin};
    }
  }
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const std::uint64_t value = combined(multimem, values[i]);
    const std::size_t width = row_at(i).bank == Bank::wide ? 8 : 4;
    std::memcpy(row_of(run.banks, row_at(i)) + lane * width, &value, width);
    if (undefined.any()) undefined.set(run.frame, row_at(i), marks[i], lanes, launch_.program());
  }
}

}  // namespace warpcheck::vgpu
