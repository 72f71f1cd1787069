// See rows.hpp.  Compiled once per instruction set: plain loops over 32 lanes that the compiler
// turns into that set's vectors.
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {
namespace WARPCHECK_SIMD {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::uint32_t kFull = 0xffffffffu;

// A strided row starts at a nominal offset: below 0 when its first lanes are inactive.  No
// allocation reaches into the last page of offsets.
std::ptrdiff_t start_of(std::uint32_t offset) {
  return offset >= 0xffff'f000u ? static_cast<std::int32_t>(offset)
                                : static_cast<std::ptrdiff_t>(offset);
}

template <class T>
T read(const std::byte* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

// Consecutive or equal addresses are nearly all there are: two passes find them, and then two
// lanes stand for all.
template <class Address, bool kAll>
RowScan scan_row(const AddressRow& addresses, std::uint32_t limit, std::uint32_t bytes,
                 std::uint32_t mask, std::uint32_t* offsets) {
  const auto* row = reinterpret_cast<const Address*>(addresses.row);
  const auto displacement = static_cast<Address>(addresses.displacement);  // wraps as addresses do
  const unsigned lead = static_cast<unsigned>(__builtin_ctz(mask));
  const unsigned last = 31u - static_cast<unsigned>(__builtin_clz(mask));
  const auto offset_of = [&](unsigned lane) {
    return std::uint64_t{static_cast<Address>(row[lane] + displacement)} - addresses.base;
  };
  const std::uint64_t first = offset_of(lead);
  const auto low = static_cast<std::uint32_t>(first);
  const std::uint32_t begin = addresses.begin;
  const std::uint32_t size = limit > begin ? limit - begin : 0;
  const std::uint64_t highest = size >= bytes ? size - bytes : 0;
  bool inside = first - begin <= highest && size >= bytes && (low & (bytes - 1)) == 0;

  const auto nominal = static_cast<Address>(row[lead] - lead * bytes);
  Address unstrided = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto active = static_cast<Address>(Address{0} - (kAll ? 1u : (mask >> lane) & 1u));
    unstrided |= (row[lane] - (nominal + static_cast<Address>(lane) * bytes)) & active;
  }
  if (unstrided == 0) {
    const std::uint32_t origin = low - lead * bytes;
    for (unsigned lane = 0; lane < kLanes; ++lane) offsets[lane] = origin + lane * bytes;
    inside = inside && offset_of(last) - begin <= highest;
    return {inside, true, lead == last};
  }
  Address different = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto active = static_cast<Address>(Address{0} - (kAll ? 1u : (mask >> lane) & 1u));
    different |= (row[lane] - row[lead]) & active;
  }
  if (different == 0) {
    for (unsigned lane = 0; lane < kLanes; ++lane) offsets[lane] = low;
    return {inside, false, true};
  }
  std::uint32_t outside = 0, unaligned = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t active = 0u - ((mask >> lane) & 1u);
    const std::uint64_t offset =
        std::uint64_t{static_cast<Address>(row[lane] + displacement)} - addresses.base;
    const auto part = static_cast<std::uint32_t>(offset);
    outside |= (offset - begin > highest ? 1u : 0u) & active;
    unaligned |= part & active;
    offsets[lane] = (part & active) | (low & ~active);
  }
  return {outside == 0 && size >= bytes && (unaligned & (bytes - 1)) == 0, false, false};
}

RowScan scan(const AddressRow& addresses, std::uint32_t limit, std::uint32_t bytes,
             std::uint32_t mask, std::uint32_t* offsets) {
  if (mask == kFull) {
    return addresses.wide ? scan_row<std::uint64_t, true>(addresses, limit, bytes, mask, offsets)
                          : scan_row<std::uint32_t, true>(addresses, limit, bytes, mask, offsets);
  }
  return addresses.wide ? scan_row<std::uint64_t, false>(addresses, limit, bytes, mask, offsets)
                        : scan_row<std::uint32_t, false>(addresses, limit, bytes, mask, offsets);
}

template <class Row>
void blend(Row* row, const Row* values, std::uint32_t mask) {
  if (mask == kFull) {
    __builtin_memcpy(row, values, sizeof(Row) * kLanes);
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    row[lane] = ((mask >> lane) & 1u) != 0 ? values[lane] : row[lane];
  }
}

// Element: how it lies in memory, with the sign that its extension takes.  Row: the register's.
template <class Element, class Row>
void load_as(const RowMove& move) {
  auto* row = reinterpret_cast<Row*>(move.row);
  Row values[kLanes];
  const std::byte* data = move.data + move.displacement;
  if (move.strided) {
    const std::byte* start = data + start_of(move.offsets[0]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      values[lane] = static_cast<Row>(read<Element>(start + lane * sizeof(Element)));
    }
  } else if (move.uniform) {
    const auto value = static_cast<Row>(read<Element>(data + move.offsets[0]));
    for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = value;
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      values[lane] = static_cast<Row>(read<Element>(data + move.offsets[lane]));
    }
  }
  blend(row, values, move.mask);
}

template <class Row>
void load_row(const RowMove& move) {
  switch (move.width) {
    case 1:
      return move.is_signed ? load_as<std::int8_t, Row>(move) : load_as<std::uint8_t, Row>(move);
    case 2:
      return move.is_signed ? load_as<std::int16_t, Row>(move) : load_as<std::uint16_t, Row>(move);
    case 4:
      return move.is_signed ? load_as<std::int32_t, Row>(move) : load_as<std::uint32_t, Row>(move);
    default: return load_as<std::uint64_t, Row>(move);
  }
}

void load(const RowMove& move) {
  if (move.wide_row) {
    load_row<std::uint64_t>(move);
  } else {
    load_row<std::uint32_t>(move);
  }
}

template <class Element, class Row>
void store_as(const RowMove& move) {
  const auto* row = reinterpret_cast<const Row*>(move.row);
  std::byte* data = move.data + move.displacement;
  if (move.strided) {
    std::byte* start = data + start_of(move.offsets[0]);
    Element values[kLanes];
    if (move.mask != kFull) {  // the slack around every allocation makes the whole row readable
      __builtin_memcpy(values, start, sizeof values);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        values[lane] =
            ((move.mask >> lane) & 1u) != 0 ? static_cast<Element>(row[lane]) : values[lane];
      }
    } else {
      for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<Element>(row[lane]);
    }
    __builtin_memcpy(start, values, sizeof values);
    return;
  }
  for (std::uint32_t rest = move.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const auto value = static_cast<Element>(row[lane]);
    __builtin_memcpy(data + move.offsets[lane], &value, sizeof value);
  }
}

template <class Row>
void store_row(const RowMove& move) {
  switch (move.width) {
    case 1: return store_as<std::uint8_t, Row>(move);
    case 2: return store_as<std::uint16_t, Row>(move);
    case 4: return store_as<std::uint32_t, Row>(move);
    default: return store_as<std::uint64_t, Row>(move);
  }
}

void store(const RowMove& move) {
  if (move.wide_row) {
    store_row<std::uint64_t>(move);
  } else {
    store_row<std::uint32_t>(move);
  }
}

template <class Row>
void broadcast_as(std::byte* to, std::uint64_t value, std::uint32_t mask) {
  Row values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<Row>(value);
  blend(reinterpret_cast<Row*>(to), values, mask);
}

void broadcast(std::byte* row, bool wide, std::uint64_t value, std::uint32_t mask) {
  if (wide) {
    broadcast_as<std::uint64_t>(row, value, mask);
  } else {
    broadcast_as<std::uint32_t>(row, value, mask);
  }
}

}  // namespace

extern const MemoryRowFunctions kMemoryRowFunctions;
const MemoryRowFunctions kMemoryRowFunctions{scan, load, store, broadcast};

}  // namespace WARPCHECK_SIMD
}  // namespace warpcheck::vgpu
