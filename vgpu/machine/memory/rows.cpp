// The functions of rows.hpp.  The file is compiled once per instruction set: plain loops over 32
// lanes that the compiler turns into vector instructions.
#include "vgpu/machine/memory/rows.hpp"

#include "vgpu/machine/simd_vector.hpp"

namespace warpcheck::vgpu {
namespace WARPCHECK_SIMD {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::uint32_t kFull = 0xffffffffu;
// Up to so many scattered lanes are loaded one by one, in place of all lanes.
constexpr int kFewLanes = 10;

template <class T>
T read(const std::byte* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class Cell>
struct VectorOf {
  using type [[gnu::vector_size(kVectorBytes)]] = Cell;
};
template <class Cell>
using Vector = typename VectorOf<Cell>::type;
template <class Cell>
constexpr unsigned kCells = kVectorBytes / sizeof(Cell);  // per vector

template <class Cell>
struct LaneTable {
  alignas(64) Cell index[kLanes];
  alignas(64) Cell bit[kLanes];
  constexpr LaneTable() : index{}, bit{} {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      index[lane] = lane;
      bit[lane] = Cell{1} << lane;
    }
  }
};
template <class Cell>
constexpr LaneTable<Cell> kLaneTable{};

template <class Cell>
[[gnu::always_inline]] inline Vector<Cell> load_vector(const Cell* from) {
  Vector<Cell> vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Cell>
[[gnu::always_inline]] inline void store_vector(Cell* to, const Vector<Cell>& vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

// Returns all ones in the cells of active lanes, starting at lane `lane`.
template <class Cell>
[[gnu::always_inline]] inline Vector<Cell> active_cells(std::uint32_t mask, unsigned lane) {
  const Vector<Cell> bits = load_vector(kLaneTable<Cell>.bit + lane);
  return (Vector<Cell>)((bits & (Vector<Cell>{} + Cell{mask})) == bits);
}

template <class Cell>
[[gnu::always_inline]] inline bool is_zero(const Vector<Cell>& vector) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)vector, (__m512i)vector) == 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)vector, (__m256i)vector) != 0;
#else
  const auto halves = (Vector<std::uint64_t>)vector;
  return (halves[0] | halves[1]) == 0;
#endif
}

// Returns whether the active lanes' addresses are those from `expected` on, each vector `step` more
// than the one before it.
template <class Address, bool kAll>
[[gnu::always_inline]] inline bool are_as_expected(const Address* row, std::uint32_t mask,
                                                   Vector<Address> expected, Address step) {
  Vector<Address> different{};
  for (unsigned lane = 0; lane < kLanes; lane += kCells<Address>) {
    Vector<Address> difference = load_vector(row + lane) ^ expected;
    if constexpr (!kAll) difference &= active_cells<Address>(mask, lane);
    different |= difference;
    expected += step;
  }
  return is_zero<Address>(different);
}

// Two lanes say what the pattern may be, and one pass over the row whether it is that.
template <class Address, bool kAll>
[[gnu::always_inline]] inline Pattern pattern_of_lanes(const Address* row, std::uint32_t bytes,
                                                       std::uint32_t mask) {
  const std::uint32_t others = mask & (mask - 1);
  if (!kAll && others == 0) return Pattern::uniform;
  const unsigned lead = kAll ? 0 : static_cast<unsigned>(__builtin_ctz(mask));
  const unsigned second = kAll ? 1 : static_cast<unsigned>(__builtin_ctz(others));
  const auto log2 = static_cast<unsigned>(__builtin_ctz(bytes));
  const Address first = row[lead], distance = row[second] - first;
  if (distance == Address{second - lead} << log2) {
    const Vector<Address> expected =
        (load_vector(kLaneTable<Address>.index) << log2) + (first - (Address{lead} << log2));
    const Address step = Address{kCells<Address>} << log2;
    return are_as_expected<Address, kAll>(row, mask, expected, step) ? Pattern::strided
                                                                     : Pattern::scattered;
  }
  if (distance != 0) return Pattern::scattered;
  return are_as_expected<Address, kAll>(row, mask, Vector<Address>{} + first, 0)
             ? Pattern::uniform
             : Pattern::scattered;
}

template <class Address>
Pattern pattern_of(const std::byte* row, std::uint32_t bytes, std::uint32_t mask) {
  const auto* addresses = reinterpret_cast<const Address*>(row);
  return mask == kFull ? pattern_of_lanes<Address, true>(addresses, bytes, mask)
                       : pattern_of_lanes<Address, false>(addresses, bytes, mask);
}

void count_up(std::uint32_t* offsets, std::uint32_t first, std::uint32_t step) {
  Vector<std::uint32_t> next = load_vector(kLaneTable<std::uint32_t>.index) * step + first;
  for (unsigned lane = 0; lane < kLanes; lane += kCells<std::uint32_t>) {
    store_vector(offsets + lane, next);
    next += kCells<std::uint32_t> * step;
  }
}

void interleave(const std::uint32_t* offsets, std::uint32_t further, std::uint32_t mask,
                std::uint32_t* places) {
  using Words = Vector<std::uint32_t>;
  const auto lead = static_cast<unsigned>(__builtin_ctz(mask));
  const std::uint32_t of_lead = interleaved(offsets[lead] + further) + 4 * lead;
  for (unsigned lane = 0; lane < kLanes; lane += kCells<std::uint32_t>) {
    const Words offset = load_vector(offsets + lane) + further;
    const Words place = ((offset & ~3u) << 5 | (offset & 3u)) +
                        (load_vector(kLaneTable<std::uint32_t>.index + lane) << 2);
    const Words active = active_cells<std::uint32_t>(mask, lane);
    store_vector(places + lane, (place & active) | (of_lead & ~active));
  }
}

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

  const Pattern pattern = pattern_of_lanes<Address, kAll>(row, bytes, mask);
  const bool is_single = lead == last;
  if (pattern == Pattern::strided || is_single) {
    count_up(offsets, low - lead * bytes, bytes);
    inside = inside && offset_of(last) - begin <= highest;
    return {inside, true, is_single};
  }
  if (pattern == Pattern::uniform) {
    count_up(offsets, low, 0);
    return {inside, false, true};
  }
  using Offsets = Vector<std::uint64_t>;
  using Words [[gnu::vector_size(kVectorBytes / 2)]] = std::uint32_t;
  Offsets outside{}, unaligned{};
  for (unsigned lane = 0; lane < kLanes; lane += kCells<std::uint64_t>) {
    Offsets offset;
    if constexpr (sizeof(Address) == sizeof(std::uint64_t)) {
      offset = load_vector(row + lane) + displacement;
    } else {
      Words words;
      __builtin_memcpy(&words, row + lane, sizeof words);
      offset = __builtin_convertvector(words + displacement, Offsets);
    }
    offset -= addresses.base;
    Offsets active = ~Offsets{};
    if constexpr (!kAll) active = active_cells<std::uint64_t>(mask, lane);
    outside |= (Offsets)(offset - begin > highest) & active;
    unaligned |= offset & active;
    if constexpr (!kAll) offset = (offset & active) | (low & ~active);
    const Words parts = __builtin_convertvector(offset, Words);
    __builtin_memcpy(offsets + lane, &parts, sizeof parts);
  }
  const bool is_aligned = is_zero<std::uint64_t>(unaligned & (bytes - 1));
  return {is_zero<std::uint64_t>(outside) && size >= bytes && is_aligned, false, false};
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
[[gnu::always_inline]] inline void blend(Row* row, const Row* values, std::uint32_t mask) {
  if (mask == kFull) {
    __builtin_memcpy(row, values, sizeof(Row) * kLanes);
    return;
  }
  for (unsigned lane = 0; lane < kLanes; lane += kCells<Row>) {
    const Vector<Row> active = active_cells<Row>(mask, lane);
    store_vector(row + lane,
                 (load_vector(values + lane) & active) | (load_vector(row + lane) & ~active));
  }
}

// Element: the type in memory, whose sign selects the extension.  Row: the type in the register.
template <class Element, class Row>
void load_strided(std::byte* row, std::byte* memory, std::uint32_t mask) {
  Row values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    values[lane] = static_cast<Row>(read<Element>(memory + lane * sizeof(Element)));
  }
  blend(reinterpret_cast<Row*>(row), values, mask);
}

// Writes the bytes of the active lanes and no others.
template <class Element, class Row>
void store_lanes(const Row* row, std::byte* memory, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const auto value = static_cast<Element>(row[lane]);
    __builtin_memcpy(memory + lane * sizeof value, &value, sizeof value);
  }
}

// The slack around every allocation makes the whole row accessible.
template <bool kConcurrent, class Element, class Row>
void store_strided(std::byte* from, std::byte* memory, std::uint32_t mask) {
  const auto* row = reinterpret_cast<const Row*>(from);
  Element values[kLanes];
  if (mask != kFull) {
    if constexpr (kConcurrent) return store_lanes<Element>(row, memory, mask);
    __builtin_memcpy(values, memory, sizeof values);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      values[lane] = ((mask >> lane) & 1u) != 0 ? static_cast<Element>(row[lane]) : values[lane];
    }
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<Element>(row[lane]);
  }
  __builtin_memcpy(memory, values, sizeof values);
}

template <class Element, class Row>
void load_uniform(std::byte* row, std::byte* memory, std::uint32_t mask) {
  Row values[kLanes];
  const auto value = static_cast<Row>(read<Element>(memory));
  for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = value;
  blend(reinterpret_cast<Row*>(row), values, mask);
}

// The value of the last active lane remains.
template <class Element, class Row>
void store_uniform(std::byte* from, std::byte* memory, std::uint32_t mask) {
  const auto* row = reinterpret_cast<const Row*>(from);
  const auto value = static_cast<Element>(row[31u - static_cast<unsigned>(__builtin_clz(mask))]);
  __builtin_memcpy(memory, &value, sizeof value);
}

template <class Element, class Row>
void load_as(const RowMove& move) {
  std::byte* data = move.data + move.displacement;
  if (move.strided)
    return load_strided<Element, Row>(move.row, data + start_of(move.offsets[0]), move.mask);
  if (move.uniform) return load_uniform<Element, Row>(move.row, data + move.offsets[0], move.mask);
  auto* const row = reinterpret_cast<Row*>(move.row);
  const auto value_of = [&](unsigned lane) {
    return static_cast<Row>(read<Element>(data + move.offsets[lane]));
  };
  if (__builtin_popcount(move.mask) <= kFewLanes) {
    for (std::uint32_t rest = move.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      row[lane] = value_of(lane);
    }
    return;
  }
  Row values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = value_of(lane);
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

template <bool kConcurrent, class Element, class Row>
void store_as(const RowMove& move) {
  std::byte* data = move.data + move.displacement;
  if (move.strided)
    return store_strided<kConcurrent, Element, Row>(move.row, data + start_of(move.offsets[0]),
                                                    move.mask);
  const auto* row = reinterpret_cast<const Row*>(move.row);
  for (std::uint32_t rest = move.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const auto value = static_cast<Element>(row[lane]);
    __builtin_memcpy(data + move.offsets[lane], &value, sizeof value);
  }
}

template <bool kConcurrent, class Row>
void store_row(const RowMove& move) {
  switch (move.width) {
    case 1: return store_as<kConcurrent, std::uint8_t, Row>(move);
    case 2: return store_as<kConcurrent, std::uint16_t, Row>(move);
    case 4: return store_as<kConcurrent, std::uint32_t, Row>(move);
    default: return store_as<kConcurrent, std::uint64_t, Row>(move);
  }
}

template <bool kConcurrent>
void store(const RowMove& move) {
  if (move.wide_row) {
    store_row<kConcurrent, std::uint64_t>(move);
  } else {
    store_row<kConcurrent, std::uint32_t>(move);
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

template <bool kConcurrent>
constexpr MemoryRowFunctions kFunctions{
    .pattern_of_words = pattern_of<std::uint32_t>,
    .pattern_of_wides = pattern_of<std::uint64_t>,
    .count_up = count_up,
    .scan = scan,
    .interleave = interleave,
    .strided_load =
        {load_strided<std::uint8_t, std::uint32_t>, load_strided<std::uint16_t, std::uint32_t>,
         load_strided<std::uint32_t, std::uint32_t>, load_strided<std::uint64_t, std::uint32_t>,
         load_strided<std::uint8_t, std::uint64_t>, load_strided<std::uint16_t, std::uint64_t>,
         load_strided<std::uint32_t, std::uint64_t>, load_strided<std::uint64_t, std::uint64_t>,
         load_strided<std::int8_t, std::uint32_t>, load_strided<std::int16_t, std::uint32_t>,
         load_strided<std::int32_t, std::uint32_t>, load_strided<std::int64_t, std::uint32_t>,
         load_strided<std::int8_t, std::uint64_t>, load_strided<std::int16_t, std::uint64_t>,
         load_strided<std::int32_t, std::uint64_t>, load_strided<std::int64_t, std::uint64_t>},
    .strided_store = {store_strided<kConcurrent, std::uint8_t, std::uint32_t>,
                      store_strided<kConcurrent, std::uint16_t, std::uint32_t>,
                      store_strided<kConcurrent, std::uint32_t, std::uint32_t>,
                      store_strided<kConcurrent, std::uint64_t, std::uint32_t>,
                      store_strided<kConcurrent, std::uint8_t, std::uint64_t>,
                      store_strided<kConcurrent, std::uint16_t, std::uint64_t>,
                      store_strided<kConcurrent, std::uint32_t, std::uint64_t>,
                      store_strided<kConcurrent, std::uint64_t, std::uint64_t>},
    .uniform_load =
        {load_uniform<std::uint8_t, std::uint32_t>, load_uniform<std::uint16_t, std::uint32_t>,
         load_uniform<std::uint32_t, std::uint32_t>, load_uniform<std::uint64_t, std::uint32_t>,
         load_uniform<std::uint8_t, std::uint64_t>, load_uniform<std::uint16_t, std::uint64_t>,
         load_uniform<std::uint32_t, std::uint64_t>, load_uniform<std::uint64_t, std::uint64_t>,
         load_uniform<std::int8_t, std::uint32_t>, load_uniform<std::int16_t, std::uint32_t>,
         load_uniform<std::int32_t, std::uint32_t>, load_uniform<std::int64_t, std::uint32_t>,
         load_uniform<std::int8_t, std::uint64_t>, load_uniform<std::int16_t, std::uint64_t>,
         load_uniform<std::int32_t, std::uint64_t>, load_uniform<std::int64_t, std::uint64_t>},
    .uniform_store =
        {store_uniform<std::uint8_t, std::uint32_t>, store_uniform<std::uint16_t, std::uint32_t>,
         store_uniform<std::uint32_t, std::uint32_t>, store_uniform<std::uint64_t, std::uint32_t>,
         store_uniform<std::uint8_t, std::uint64_t>, store_uniform<std::uint16_t, std::uint64_t>,
         store_uniform<std::uint32_t, std::uint64_t>, store_uniform<std::uint64_t, std::uint64_t>},
    .load = load,
    .store = store<kConcurrent>,
    .broadcast = broadcast};

}  // namespace

extern const std::array<MemoryRowFunctions, 2> kMemoryRowFunctions;
const std::array<MemoryRowFunctions, 2> kMemoryRowFunctions{kFunctions<false>, kFunctions<true>};

}  // namespace WARPCHECK_SIMD
}  // namespace warpcheck::vgpu
