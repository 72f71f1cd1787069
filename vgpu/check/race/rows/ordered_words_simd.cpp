// Looks at and marks the words of a row (ordered_words.hpp).  The file is compiled once per
// instruction set, as race_rows_simd.cpp.
#include <cstdint>
#include <cstring>

#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/simd_vector.hpp"
#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {
namespace ordered {

constexpr std::uint64_t kOfKinds = ~std::uint64_t{0} << OrderedRow::kKindsShift;

#if defined(__AVX2__)

constexpr unsigned kWidth = kVectorBytes / 8;  // of a vector, in words
constexpr unsigned kParts = kWarpLanes / kWidth;
constexpr unsigned kHalves = 2 * kWidth;  // of a vector, in halves of words
constexpr unsigned kSegmentBits = OrderedRow::kLaneShift;

using Words = std::uint64_t __attribute__((vector_size(kVectorBytes)));
using Places = std::uint32_t __attribute__((vector_size(kVectorBytes / 2)));
using Halves = std::uint32_t __attribute__((vector_size(kVectorBytes)));

template <typename Vector>
[[gnu::always_inline]] inline Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// Returns 0, 1, 2 ...
template <typename Vector, unsigned kCount>
[[gnu::always_inline]] inline Vector numbers() {
  Vector vector;
  for (unsigned i = 0; i < kCount; ++i) vector[i] = i;
  return vector;
}

[[gnu::always_inline]] inline Places places_of(const OrderedRow& row, unsigned part) {
  return load<Places>(row.offset + part * kWidth) >> 2;
}

#if defined(__AVX512F__)
// Returns the lanes of a part that run.
[[gnu::always_inline]] inline std::uint32_t lanes_of(const OrderedRow& row, unsigned part) {
  return row.mask >> (part * kWidth) & ((1u << kWidth) - 1);
}
#endif

// Returns the words of the lanes of a part; 0 for lanes that do not run.
[[gnu::always_inline]] inline Words gather(const OrderedRow& row, unsigned part) {
  const Places places = places_of(row, part);
#if defined(__AVX512F__)
  return (Words)_mm512_mask_i32gather_epi64(_mm512_setzero_si512(),
                                            static_cast<__mmask8>(lanes_of(row, part)),
                                            (__m256i)places, row.words, 8);
#else
  constexpr Words kBits{1, 2, 4, 8};
  const Words bits = kBits << (part * kWidth);
  const auto running = (__m256i)(((Words{} + row.mask) & bits) == bits);
  return (Words)_mm256_mask_i32gather_epi64(_mm256_setzero_si256(),
                                            reinterpret_cast<const long long*>(row.words),
                                            (__m128i)places, running, 8);
#endif
}

[[gnu::always_inline]] inline std::uint32_t lanes_that_differ(const Words& one,
                                                              const Words& other) {
#if defined(__AVX512F__)
  return _mm512_cmpneq_epi64_mask((__m512i)one, (__m512i)other);
#else
  const auto same = static_cast<std::uint32_t>(_mm256_movemask_pd((__m256d)(one == other)));
  return ~same & ((1u << kWidth) - 1);
#endif
}

// Returns, for each word, the segment that is known in the place of the word's segment.
[[gnu::always_inline]] inline Words known_for(const std::uint32_t* known, const Words& words) {
  const Words at = words & (OrderedRow::kKnown - 1);
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(known));
#if defined(__AVX512F__)
  // With masks, because GCC warns of the undefined sources of the plain forms.
  return (Words)_mm512_maskz_permutexvar_epi32(0xffff, (__m512i)at,
                                               _mm512_maskz_broadcast_i64x4(0xff, all));
#else
  return (Words)_mm256_permutevar8x32_epi32(all, (__m256i)at);
#endif
}

// Returns the lanes whose words are of a segment that is not known.
std::uint32_t unordered_of(const OrderedRow& row, const Words* words) {
  std::uint32_t lanes = 0;
  for (unsigned part = 0; part < kParts; ++part) {
    const auto differs = lanes_that_differ(words[part] << kSegmentBits,
                                           known_for(row.known, words[part]) << kSegmentBits);
    lanes |= (differs & lanes_that_differ(words[part], Words{})) << (part * kWidth);
  }
  return lanes;
}

// Returns whether the words of all lanes are of segments that are known.
[[gnu::always_inline]] inline bool are_ordered(const OrderedRow& row, const Words* words) {
#if defined(__AVX512F__)
  __mmask8 differ = 0;
  for (unsigned part = 0; part < kParts; ++part) {
    const auto touched = _mm512_test_epi64_mask((__m512i)words[part], (__m512i)words[part]);
    const Words other = (words[part] ^ known_for(row.known, words[part])) << kSegmentBits;
    differ |= _mm512_mask_test_epi64_mask(touched, (__m512i)other, (__m512i)other);
  }
  return differ == 0;
#else
  Words same = ~Words{};
  for (unsigned part = 0; part < kParts; ++part) {
    const auto known = (Halves)words[part] == (Halves)known_for(row.known, words[part]);
    same &= (Words)known | (Words)(words[part] == 0);
  }
  return (~_mm256_movemask_pd((__m256d)(same << kSegmentBits)) & 0xf) == 0;
#endif
}

// Stores the words of the lanes; of lanes that meet, the last one wins.
[[gnu::always_inline]] inline void scatter(const OrderedRow& row, const Words* left) {
#if defined(__AVX512F__)
  for (unsigned part = 0; part < kParts; ++part) {
    _mm512_mask_i32scatter_epi64(row.words, static_cast<__mmask8>(lanes_of(row, part)),
                                 (__m256i)places_of(row, part), (__m512i)left[part], 8);
  }
#else
  std::uint64_t words[kWarpLanes];
  std::memcpy(words, left, sizeof words);
  if (row.mask == ~0u) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      row.words[row.offset[lane] / 4] = words[lane];
    }
    return;
  }
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    row.words[row.offset[lane] / 4] = words[lane];
  }
#endif
}

// Returns the lanes in whose words another lane has been marked.
std::uint32_t find_met(const OrderedRow& row) {
  constexpr std::uint32_t kLane = 0xff;
  const void* const upper = reinterpret_cast<const std::uint32_t*>(row.words) + 1;
  std::uint32_t met = 0;
  Halves lane = numbers<Halves, kHalves>();
  for (unsigned first = 0; first < kWarpLanes; first += kHalves, lane += kHalves) {
    const Halves places = load<Halves>(row.offset + first) >> 2;
#if defined(__AVX512F__)
    const auto running = static_cast<__mmask16>(row.mask >> first);
    const auto marked = (Halves)_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), running,
                                                            (__m512i)places, upper, 8);
    met |= std::uint32_t{_mm512_cmpneq_epi32_mask((__m512i)(marked & kLane), (__m512i)lane)}
           << first;
#else
    constexpr Halves kBits{1, 2, 4, 8, 16, 32, 64, 128};
    const Halves bits = kBits << first;
    const auto running = (__m256i)((row.mask & bits) == bits);
    const auto marked = (Halves)_mm256_mask_i32gather_epi32(
        _mm256_setzero_si256(), static_cast<const int*>(upper), (__m256i)places, running, 8);
    const auto same =
        static_cast<std::uint32_t>(_mm256_movemask_ps((__m256)((marked & kLane) == lane)));
    met |= (~same & ((1u << kHalves) - 1)) << first;
#endif
  }
  return met & row.mask;
}

// Returns whether all lanes run, each in the word behind that of the lane before it.
[[gnu::always_inline]] inline bool are_neighbours(const OrderedRow& row) {
  const std::uint32_t first = row.offset[0] / 4;
  if (row.mask != ~0u || row.offset[kWarpLanes - 1] / 4 != first + kWarpLanes - 1) return false;
  Halves place = numbers<Halves, kHalves>() + first, differ{};
  for (unsigned lane = 0; lane < kWarpLanes; lane += kHalves, place += kHalves) {
    differ |= (load<Halves>(row.offset + lane) >> 2) ^ place;
  }
  return lanes_that_differ((Words)differ, Words{}) == 0;
}

template <bool kNeighbours>
[[gnu::always_inline]] inline OrderedLanes mark(const OrderedRow& row) {
  std::uint64_t* const neighbours = row.words + row.offset[0] / 4;
  Words left[kParts];
  for (unsigned part = 0; part < kParts; ++part) {
    left[part] = kNeighbours ? load<Words>(neighbours + part * kWidth) : gather(row, part);
  }
  if (row.unsure != 0 && !are_ordered(row, left)) {
    const std::uint32_t unordered = unordered_of(row, left) & row.unsure;
    if (unordered != 0) return {.unordered = unordered};
  }
  Words mark = row.mark | (numbers<Words, kWidth>() & row.actors) << OrderedRow::kLaneShift;
  for (Words& words : left) {
    words = (words & kOfKinds) | mark;
    mark += (kWidth & row.actors) << OrderedRow::kLaneShift;
  }
  if constexpr (kNeighbours) {
    std::memcpy(neighbours, left, sizeof left);
    return {};
  }
  scatter(row, left);
  return {.met = row.actors == 0 ? 0 : find_met(row)};
}

OrderedLanes mark_words(const OrderedRow& row) {
  return are_neighbours(row) ? mark<true>(row) : mark<false>(row);
}

#else

// Calls visit(word, lane) for each lane of a mask.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_word(const OrderedRow& row, std::uint32_t mask,
                                                 Visit visit) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    visit(row.words[row.offset[lane] / 4], lane);
  }
}

OrderedLanes mark_words(const OrderedRow& row) {
  OrderedLanes lanes;
  for_each_word(row, row.unsure, [&](std::uint64_t word, unsigned lane) {
    const auto segment = static_cast<std::uint32_t>(word);
    const bool is_ordered = word == 0 || row.known[segment % OrderedRow::kKnown] == segment;
    lanes.unordered |= std::uint32_t{!is_ordered} << lane;
  });
  if (lanes.unordered != 0) return lanes;
  for_each_word(row, row.mask, [&](std::uint64_t& word, unsigned lane) {
    word = (word & kOfKinds) | row.mark | (lane & row.actors) << OrderedRow::kLaneShift;
  });
  for_each_word(row, row.mask, [&](std::uint64_t word, unsigned lane) {
    const bool is_mine = (word >> OrderedRow::kLaneShift & 0xff) == (lane & row.actors);
    lanes.met |= std::uint32_t{!is_mine} << lane;
  });
  return lanes;
}

#endif

}  // namespace ordered
}  // namespace

OrderedLanes mark_ordered(const OrderedRow& row);
OrderedLanes mark_ordered(const OrderedRow& row) { return ordered::mark_words(row); }

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
