// The loops of race_rows.hpp.  The file is compiled once per instruction set, so everything here is
// local to the file or always inlined.
#include <cstdint>
#include <cstring>

#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/simd_vector.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {

bool own(const OwnedRow& row);                     // word_owners_simd.cpp
OrderedLanes mark_ordered(const OrderedRow& row);  // ordered_words_simd.cpp

namespace {

constexpr unsigned kWidth = kVectorBytes / 8;  // of a vector, in words of 64 bits
constexpr unsigned kLanes = 32;
constexpr unsigned kCellsMax = 16;  // of one lane

using Epochs = std::uint64_t __attribute__((vector_size(8 * kWidth)));
using Mask = std::int64_t __attribute__((vector_size(8 * kWidth)));
using Pcs = std::uint32_t __attribute__((vector_size(4 * kWidth)));

template <typename V, typename T>
[[gnu::always_inline]] inline V load(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename V, typename T>
[[gnu::always_inline]] inline void store(T* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

[[gnu::always_inline]] inline bool any(const Mask& mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)mask, (__m256i)mask) == 0;
#else
  return (mask[0] | mask[1]) != 0;
#endif
}

// Returns {0, 0, .., 1, 1, ..}: the lanes of the first kWidth cells, with 2^kCellsLog2 cells per
// lane.
template <unsigned kCellsLog2>
[[gnu::always_inline]] inline Epochs lanes_of_first_cells() {
  Epochs lanes;
  for (unsigned i = 0; i < kWidth; ++i) lanes[i] = i >> kCellsLog2;
  return lanes;
}

[[gnu::always_inline]] inline Pcs narrow(const Mask& mask) {
  return __builtin_convertvector(mask, Pcs);
}

// Returns the epochs of the lanes that own the kWidth cells from `cell` of the row on.
template <unsigned kCellsLog2>
[[gnu::always_inline]] inline Epochs epochs_at(Epoch epoch, unsigned cell) {
  return lanes_of_first_cells<kCellsLog2>() + (epoch + (cell >> kCellsLog2));
}

// Returns all ones for cells whose lane is active.
template <unsigned kCellsLog2>
[[gnu::always_inline]] inline Mask active_at(std::uint32_t mask, unsigned cell) {
  const Epochs lanes = lanes_of_first_cells<kCellsLog2>() + std::uint64_t{cell >> kCellsLog2};
  const Epochs bits = Epochs{} + std::uint64_t{mask};
  return (bits >> lanes & 1) != 0;
}

// Returns whether one of those lanes is active.
template <unsigned kCellsLog2>
[[gnu::always_inline]] inline bool is_any_active_at(std::uint32_t mask, unsigned cell) {
  constexpr unsigned kLanesInVector = kWidth >> kCellsLog2 == 0 ? 1 : kWidth >> kCellsLog2;
  return (mask >> (cell >> kCellsLog2) & ((1u << kLanesInVector) - 1)) != 0;
}

[[gnu::always_inline]] inline Epochs smaller(const Epochs& a, const Epochs& b) {
  return a < b ? a : b;
}

// Returns whether a cell of the row is unordered with its lane. unordered() tests whether the
// differing bits lie in one of two intervals.  Here the smallest distances from the beginnings of
// the intervals answer that for all cells together.
template <unsigned kCellsLog2, bool kPartial>
[[gnu::always_inline]] inline bool any_unordered(const RaceRow& row, const CellCheck& check) {
  constexpr unsigned kCells = kLanes << kCellsLog2;
  Epochs past_ordered = Epochs{} - 1, past_block = Epochs{} - 1;
  for (unsigned cell = 0; cell < kCells; cell += kWidth) {
    if (kPartial && !is_any_active_at<kCellsLog2>(row.mask, cell)) continue;
    Epochs x = load<Epochs>(check.epoch + row.cell + cell) ^ epochs_at<kCellsLog2>(row.epoch, cell);
    // A cell without a difference must give the largest distance.
    if constexpr (kPartial) x &= (Epochs)active_at<kCellsLog2>(row.mask, cell);
    past_ordered = smaller(past_ordered, x - check.ordered_threads);
    past_block = smaller(past_block, x - kBlockUnit);
  }
  return any((past_ordered < kPhaseUnit - check.ordered_threads) |
             (past_block < kLaunchUnit - kBlockUnit));
}

template <unsigned kCellsLog2, bool kPartial, bool kExclusive>
RaceRowResult strided_row(const RaceRow& row) {
  constexpr unsigned kCells = kLanes << kCellsLog2;
  for (unsigned i = 0; i < row.checks; ++i) {
    if (any_unordered<kCellsLog2, kPartial>(row, row.check[i])) return RaceRowResult::conflict;
  }

  Epoch* const last = row.history.last.epoch + row.cell;
  std::uint32_t* const last_pc = row.history.last.pc + row.cell;
  const Pcs pc = Pcs{} + row.pc;
  Mask displaced{};
  for (unsigned cell = 0; cell < kCells; cell += kWidth) {
    if (kPartial && !is_any_active_at<kCellsLog2>(row.mask, cell)) continue;
    Epochs me = epochs_at<kCellsLog2>(row.epoch, cell);
    Pcs my_pc = pc;
    if constexpr (kPartial || !kExclusive) {
      const Epochs before = load<Epochs>(last + cell);
      const Pcs before_pc = load<Pcs>(last_pc + cell);
      Mask active = Mask{} - 1;
      if constexpr (kPartial) active = active_at<kCellsLog2>(row.mask, cell);
      if constexpr (!kExclusive) {
        Mask moves = unordered(before, me, row.ordered_threads) & active;
        if (any(moves)) {
          Epoch* const other = row.history.other.epoch + row.cell + cell;
          std::uint32_t* const other_pc = row.history.other.pc + row.cell + cell;
          const Epochs kept = load<Epochs>(other);
          moves &= ~across_blocks(kept, me);
          const Mask same_warp = of_same_warp(before, me) & moves;
          if (any(same_warp)) moves &= ~(same_warp & of_other_warp_in_phase(kept, me));
          store(other, moves ? before : kept);
          store(other_pc, narrow(moves) ? before_pc : load<Pcs>(other_pc));
          displaced |= moves;
        }
      }
      if constexpr (kPartial) {
        me = active ? me : before;
        my_pc = narrow(active) ? my_pc : before_pc;
      }
    }
    store(last + cell, me);
    store(last_pc + cell, my_pc);
  }
  return any(displaced) ? RaceRowResult::displaced : RaceRowResult::recorded;
}

template <unsigned kCellsLog2>
RaceRowResult strided_row(const RaceRow& row) {
  if (row.mask == ~0u) {
    return row.exclusive ? strided_row<kCellsLog2, false, true>(row)
                         : strided_row<kCellsLog2, false, false>(row);
  }
  return row.exclusive ? strided_row<kCellsLog2, true, true>(row)
                       : strided_row<kCellsLog2, true, false>(row);
}

RaceRowResult strided(const RaceRow& row) {
  switch (row.cells_log2) {
    case 0: return strided_row<0>(row);
    case 1: return strided_row<1>(row);
    case 2: return strided_row<2>(row);
    case 3: return strided_row<3>(row);
    default: return strided_row<4>(row);
  }
}

// An earlier epoch is unordered with some lane exactly if it is unordered with the first or the
// last lane, and these two lanes represent the row afterwards.
RaceRowResult uniform(const RaceRow& row) {
  const Epoch first = row.epoch + static_cast<unsigned>(__builtin_ctz(row.mask));
  const Epoch last = row.epoch + (kLanes - 1 - static_cast<unsigned>(__builtin_clz(row.mask)));
  if (row.exclusive && unordered(first, last, row.ordered_threads)) return RaceRowResult::conflict;

  const std::int64_t end = row.cell + (std::int64_t{1} << row.cells_log2);
  bool conflict = false;
  for (unsigned i = 0; i < row.checks; ++i) {
    const CellCheck& check = row.check[i];
    for (std::int64_t cell = row.cell; cell < end; ++cell) {
      const Epoch earlier = check.epoch[cell];
      conflict |= unordered(earlier, first, check.ordered_threads) |
                  unordered(earlier, last, check.ordered_threads);
    }
  }
  if (conflict) return RaceRowResult::conflict;

  bool displaced = false;
  for (std::int64_t cell = row.cell; cell < end; ++cell) {
    if (row.exclusive) {
      row.history.last.epoch[cell] = last;
      row.history.last.pc[cell] = row.pc;
    } else {
      displaced |= record(row.history, cell, first, row.pc, row.ordered_threads);
      if (first != last) displaced |= record(row.history, cell, last, row.pc, row.ordered_threads);
    }
  }
  return displaced ? RaceRowResult::displaced : RaceRowResult::recorded;
}

// The cells of scattered lanes.  The struct is passed by value, so that no store to a cell can
// alias it.
struct Lanes {
  const std::uint32_t* offset;
  Epoch epoch;
  std::uint32_t mask;
  unsigned offset_shift;
  std::int64_t cells;

  // Calls visit(cell, epoch) for every cell of every active lane, in ascending order of lanes.
  template <bool kFull, bool kSingle, typename Visit>
  [[gnu::always_inline]] void for_each_cell(Visit visit) const {
    const auto visit_lane = [&](unsigned lane) __attribute__((always_inline)) {
      const std::int64_t begin = offset[lane] >> offset_shift;
      visit(begin, epoch + lane);
      if constexpr (!kSingle) {
        for (std::int64_t i = 1; i < cells; ++i) visit(begin + i, epoch + lane);
      }
    };
    if constexpr (kFull) {
      for (unsigned lane = 0; lane < kLanes; ++lane) visit_lane(lane);
    } else {
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        visit_lane(static_cast<unsigned>(__builtin_ctz(rest)));
      }
    }
  }
};

// Writes the epochs of exclusive lanes and checks what each one replaces, in one pass: if two lanes
// access one cell, the later lane replaces the earlier one's epoch.  False: there is a conflict,
// and nothing has changed.
template <bool kFull, bool kSingle>
bool replace_exclusively(const Lanes& lanes, const RaceRow& row) {
  struct Replaced {
    Epoch epoch[kLanes * kCellsMax];
    std::uint32_t pc[kLanes * kCellsMax];
  };
  const CellEpochs last = row.history.last;
  const std::uint64_t ordered_threads = row.ordered_threads;
  const std::uint32_t pc = row.pc;
  Replaced replaced;
  unsigned count = 0;
  bool conflict = false;
  lanes.for_each_cell<kFull, kSingle>([&](std::int64_t cell, Epoch me) {
    const Epoch before = last.epoch[cell];
    conflict |= unordered(before, me, ordered_threads);
    replaced.epoch[count] = before;
    replaced.pc[count++] = last.pc[cell];
    last.epoch[cell] = me;
    last.pc[cell] = pc;
  });
  if (!conflict) return true;
  // Only the first lane to access a cell has found what was there before the row.
  std::int64_t cells[kLanes * kCellsMax];
  unsigned at = 0;
  lanes.for_each_cell<kFull, kSingle>([&](std::int64_t cell, Epoch) { cells[at++] = cell; });
  while (count-- > 0) {
    last.epoch[cells[count]] = replaced.epoch[count];
    last.pc[cells[count]] = replaced.pc[count];
  }
  return false;
}

template <bool kFull, bool kSingle>
RaceRowResult scattered_row(const RaceRow& row) {
  const Lanes lanes{row.offset, row.epoch, row.mask, row.offset_shift,
                    std::int64_t{1} << row.cells_log2};
  bool conflict = false;
  for (unsigned i = 0; i < row.checks; ++i) {
    const CellCheck check = row.check[i];
    // checked by replace_exclusively
    if (row.exclusive && check.epoch == row.history.last.epoch) continue;
    lanes.for_each_cell<kFull, kSingle>([&](std::int64_t cell, Epoch me) {
      conflict |= unordered(check.epoch[cell], me, check.ordered_threads);
    });
  }
  if (conflict) return RaceRowResult::conflict;
  if (row.exclusive) {
    return replace_exclusively<kFull, kSingle>(lanes, row) ? RaceRowResult::recorded
                                                           : RaceRowResult::conflict;
  }

  const History history = row.history;
  const std::uint64_t ordered_threads = row.ordered_threads;
  const std::uint32_t pc = row.pc;
  bool displaced = false;
  lanes.for_each_cell<kFull, kSingle>([&](std::int64_t cell, Epoch me) {
    displaced |= record(history, cell, me, pc, ordered_threads);
  });
  return displaced ? RaceRowResult::displaced : RaceRowResult::recorded;
}

// The cells of one lane as a vector: two, or four if the instruction set has such vectors.
struct TwoCells {
  using Epochs = std::uint64_t __attribute__((vector_size(16)));
  using Mask = std::int64_t __attribute__((vector_size(16)));
  using Pcs = std::uint32_t __attribute__((vector_size(8)));
  [[gnu::always_inline]] static bool any(const Mask& mask) { return (mask[0] | mask[1]) != 0; }
};
#if defined(__AVX2__)
struct FourCells {
  using Epochs = std::uint64_t __attribute__((vector_size(32)));
  using Mask = std::int64_t __attribute__((vector_size(32)));
  using Pcs = std::uint32_t __attribute__((vector_size(16)));
  [[gnu::always_inline]] static bool any(const Mask& mask) {
    return _mm256_testz_si256((__m256i)mask, (__m256i)mask) == 0;
  }
};
#endif

// scattered_row() for lanes that need not be exclusive, with a few words each.
template <typename Of>
RaceRowResult scattered_words(const RaceRow& row) {
  using E = typename Of::Epochs;
  typename Of::Mask conflict{};
  for (unsigned i = 0; i < row.checks; ++i) {
    const CellCheck check = row.check[i];
    for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      const E earlier = load<E>(check.epoch + (row.offset[lane] >> row.offset_shift));
      conflict |= unordered(earlier, E{} + (row.epoch + lane), check.ordered_threads);
    }
  }
  if (Of::any(conflict)) return RaceRowResult::conflict;
  const auto [last, other] = row.history;
  const auto pc = typename Of::Pcs{} + row.pc;
  bool displaced = false;
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::int64_t cell = row.offset[lane] >> row.offset_shift;
    const E before = load<E>(last.epoch + cell), me = E{} + (row.epoch + lane);
    typename Of::Mask moves = unordered(before, me, row.ordered_threads);
    if (Of::any(moves)) {
      const E kept = load<E>(other.epoch + cell);
      moves &= ~across_blocks(kept, me);
      moves &= ~(of_same_warp(before, me) & of_other_warp_in_phase(kept, me));
      if (Of::any(moves)) {
        const auto kept_pc = load<typename Of::Pcs>(other.pc + cell);
        const auto before_pc = load<typename Of::Pcs>(last.pc + cell);
        store(other.epoch + cell, moves ? before : kept);
        store(other.pc + cell,
              __builtin_convertvector(moves, typename Of::Pcs) ? before_pc : kept_pc);
        displaced = true;
      }
    }
    store(last.epoch + cell, me);
    store(last.pc + cell, pc);
  }
  return displaced ? RaceRowResult::displaced : RaceRowResult::recorded;
}

#if defined(__AVX2__)
// The cells of kWidth scattered lanes.
using Cells = std::int32_t __attribute__((vector_size(4 * kWidth)));

[[gnu::always_inline]] inline Epochs gather(const Epoch* epochs, const Cells& cells) {
#if defined(__AVX512F__)
  // With a source, because GCC warns of the undefined one of the plain gather.
  return (Epochs)_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), 0xff, (__m256i)cells, epochs,
                                             8);
#else
  return (Epochs)_mm256_i32gather_epi64(reinterpret_cast<const long long*>(epochs), (__m128i)cells,
                                        8);
#endif
}

// scattered_row() for full rows of lanes with one cell each, if no lane meets another one, and if
// nothing must be displaced; otherwise, changes nothing.
enum class Scattered : std::uint8_t { recorded, conflict, other };
Scattered scattered_singles(const RaceRow& row) {
  constexpr unsigned kParts = kLanes / kWidth;
  const CellEpochs last = row.history.last;
  Cells cells[kParts];
  Epochs before[kParts];
  for (unsigned part = 0; part < kParts; ++part) {
    cells[part] = (Cells)(load<Pcs>(row.offset + part * kWidth) >> row.offset_shift);
  }
  const auto me = [&](unsigned part) __attribute__((always_inline)) {
    return epochs_at<0>(row.epoch, part * kWidth);
  };
  Mask conflict{}, moves{};
  for (unsigned i = 0; i < row.checks; ++i) {
    const CellCheck check = row.check[i];
    if (check.epoch == last.epoch && check.ordered_threads == row.ordered_threads) continue;
    for (unsigned part = 0; part < kParts; ++part) {
      conflict |= unordered(gather(check.epoch, cells[part]), me(part), check.ordered_threads);
    }
  }
  if (any(conflict)) return Scattered::conflict;
  for (unsigned part = 0; part < kParts; ++part) {
    before[part] = gather(last.epoch, cells[part]);
    moves |= unordered(before[part], me(part), row.ordered_threads);
  }
  if (any(moves)) return row.exclusive ? Scattered::conflict : Scattered::other;
  const auto put = [&](const auto& epochs_of) __attribute__((always_inline)) {
    for (unsigned part = 0; part < kParts; ++part) {
      const Epochs epochs = epochs_of(part);
#if defined(__AVX512F__)
      _mm512_i32scatter_epi64(last.epoch, (__m256i)cells[part], (__m512i)epochs, 8);
#else
      for (unsigned i = 0; i < kWidth; ++i) last.epoch[cells[part][i]] = epochs[i];
#endif
    }
  };
  put(me);
  if (row.ordered_threads == kOrderedInThread) {  // a later lane replaces what an earlier one wrote
    Mask met{};
    for (unsigned part = 0; part < kParts; ++part) {
      met |= gather(last.epoch, cells[part]) != me(part);
    }
    if (any(met)) {
      put([&](unsigned part) { return before[part]; });
      return row.exclusive ? Scattered::conflict : Scattered::other;
    }
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    last.pc[row.offset[lane] >> row.offset_shift] = row.pc;
  }
  return Scattered::recorded;
}
#endif

RaceRowResult scattered(const RaceRow& row) {
  if (!row.exclusive && row.cells_log2 == 1) return scattered_words<TwoCells>(row);
#if defined(__AVX2__)
  if (!row.exclusive && row.cells_log2 == 2) return scattered_words<FourCells>(row);
#endif
  const bool full = row.mask == ~0u, single = row.cells_log2 == 0;
#if defined(__AVX2__)
  if (full && single) {
    const Scattered result = scattered_singles(row);
    if (result == Scattered::recorded) return RaceRowResult::recorded;
    if (result == Scattered::conflict) return RaceRowResult::conflict;
  }
#endif
  if (single) return full ? scattered_row<true, true>(row) : scattered_row<false, true>(row);
  return full ? scattered_row<true, false>(row) : scattered_row<false, false>(row);
}

// Returns the lanes, lane 0 aside, whose offset is not `step` more than that of the lane before, in
// units of 1 << kShift bytes.
template <unsigned kShift>
[[gnu::always_inline]] inline std::uint32_t differing(const std::uint32_t* offset,
                                                      std::uint32_t step) {
  constexpr unsigned kWords = 2 * kWidth;
  using Words = std::uint32_t __attribute__((vector_size(4 * kWords)));
  std::uint32_t lanes = 0;
  for (unsigned at = 0; at < kLanes; at += kWords) {
    // Compares lanes from number 1 on; the last vector compares one lane twice.
    const unsigned lane = at + kWords == kLanes ? at : at + 1;
    const Words expected = (load<Words>(offset + lane - 1) + step) >> kShift;
    const Words given = load<Words>(offset + lane) >> kShift;
    std::uint32_t differ = 0;
#if defined(__AVX512F__)
    differ = _mm512_cmpneq_epi32_mask((__m512i)given, (__m512i)expected);
#elif defined(__AVX2__)
    differ = ~static_cast<std::uint32_t>(_mm256_movemask_ps((__m256)(given == expected))) & 0xffu;
#else
    for (unsigned i = 0; i < kWords; ++i) differ |= std::uint32_t{given[i] != expected[i]} << i;
#endif
    lanes |= differ << lane;
  }
  return lanes;
}

LaneRuns runs(const std::uint32_t* offset, std::uint32_t mask, std::uint32_t step) {
  const std::uint32_t begins = ((differing<0>(offset, step) | 1) | ~(mask << 1)) & mask;
  return {begins, static_cast<std::uint32_t>(__builtin_popcount(begins))};
}

std::uint32_t new_words(const std::uint32_t* offset) { return differing<2>(offset, 0) | 1; }

// The words of cells of the general checker.
using CellWords = Epochs;

constexpr std::uint64_t kSegment = (1u << kRecordSegmentBits) - 1, kLowHalf = 0xffffffff;

[[gnu::always_inline]] inline bool all(const Mask& mask) {
#if defined(__AVX512F__)
  return _mm512_movepi64_mask((__m512i)mask) == 0xff;
#elif defined(__AVX2__)
  return _mm256_movemask_pd((__m256d)mask) == 0xf;
#else
  return (mask[0] & mask[1]) != 0;
#endif
}

[[gnu::always_inline]] inline bool is_known(std::uint64_t word, std::uint64_t lane,
                                            const KnownBefore& known) {
  const std::uint64_t segment = word & kSegment;
  const bool is_before = segment < known.first || segment == known.segments[0] ||
                         segment == known.segments[1] || segment == known.segments[2] ||
                         segment == known.segments[3] ||
                         (word & kLowHalf) == known.own + (lane << kRecordSegmentBits);
  return word == 0 || (word >> 63 == 0 && is_before);
}

std::uint32_t find_other(const CellRow& row, const KnownBefore& known) {
  const std::uint32_t count = 2 * row.cells;
  const std::uint64_t first = known.first;
  const auto [one, two, three, four] = known.segments;
  CellWords cell;
  for (unsigned i = 0; i < kWidth; ++i) cell[i] = i / 2;
  std::uint32_t at = 0;
  for (; at + kWidth <= count; at += kWidth, cell += kWidth / 2) {
    CellWords word;
    std::memcpy(&word, row.words + at, sizeof word);
    const CellWords segment = word & kSegment;
    const CellWords own = known.own + ((cell >> row.cells_log2) << kRecordSegmentBits);
    const Mask before = (segment < first) | (segment == one) | (segment == two) |
                        (segment == three) | (segment == four) | ((word & kLowHalf) == own);
    if (!all((before & ((Mask)word >= 0)) | (word == 0))) break;
  }
  for (; at < count; ++at) {
    if (!is_known(row.words[at], (at / 2) >> row.cells_log2, known)) return at;
  }
  return count;
}

void record_writes(const CellRow& row, std::uint64_t record) {
  for (std::uint32_t cell = 0; cell < row.cells; ++cell) {
    row.words[2 * cell] = record + (std::uint64_t{cell >> row.cells_log2} << kRecordSegmentBits);
    row.words[2 * cell + 1] = 0;
  }
}

void record_reads(const CellRow& row, std::uint64_t record) {
  for (std::uint32_t cell = 0; cell < row.cells; ++cell) {
    row.words[2 * cell + 1] =
        record + (std::uint64_t{cell >> row.cells_log2} << kRecordSegmentBits);
  }
}

}  // namespace

extern const RaceRowFunctions
    kRaceRowFunctions;  // NOLINT(readability-redundant-declaration): constants are of one file else
const RaceRowFunctions kRaceRowFunctions{strided,   uniform,     scattered,     runs,
                                         new_words, find_other,  record_writes, record_reads,
                                         own,       mark_ordered};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
