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

using Words = std::uint64_t __attribute__((vector_size(kVectorBytes)));
using Places = std::uint32_t __attribute__((vector_size(kVectorBytes / 2)));

[[gnu::always_inline]] inline Places places_of(const OrderedRow& row, unsigned part) {
  Places offsets;
  std::memcpy(&offsets, row.offset + part * kWidth, sizeof offsets);
  return offsets >> 2;
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

std::uint32_t find_lanes(const OrderedRow& row) {
  constexpr std::uint64_t kSegment = 0xffffffff;
  std::uint32_t lanes = 0;
  for (unsigned part = 0; part < kParts; ++part) {
    const Words words = gather(row, part);
    const auto differs =
        lanes_that_differ(words & kSegment, known_for(row.known, words) & kSegment);
    lanes |= (differs & lanes_that_differ(words, Words{})) << (part * kWidth);
  }
  return lanes;
}

// Stores the words of the lanes; of lanes that meet, the last one wins.
[[gnu::always_inline]] inline void scatter(const OrderedRow& row, const std::uint64_t* left) {
#if defined(__AVX512F__)
  for (unsigned part = 0; part < kParts; ++part) {
    _mm512_mask_i32scatter_epi64(row.words, static_cast<__mmask8>(lanes_of(row, part)),
                                 (__m256i)places_of(row, part),
                                 _mm512_loadu_si512(left + part * kWidth), 8);
  }
#else
  if (row.mask == ~0u) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      row.words[row.offset[lane] / 4] = left[lane];
    }
    return;
  }
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    row.words[row.offset[lane] / 4] = left[lane];
  }
#endif
}

std::uint32_t mark(const OrderedRow& row) {
  std::uint64_t left[kWarpLanes];
  Words lane;
  for (unsigned i = 0; i < kWidth; ++i) lane[i] = i;
  for (unsigned part = 0; part < kParts; ++part, lane += kWidth) {
    const Words words =
        (gather(row, part) & kOfKinds) | row.mark | (lane & row.actors) << OrderedRow::kLaneShift;
    std::memcpy(left + part * kWidth, &words, sizeof words);
  }
  scatter(row, left);
  std::uint32_t met = 0;
  for (unsigned part = 0; part < kParts; ++part) {
    Words words;
    std::memcpy(&words, left + part * kWidth, sizeof words);
    met |= lanes_that_differ(gather(row, part), words) << (part * kWidth);
  }
  return met & row.mask;
}

#else

// Calls visit(word, lane) for each lane that runs.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_word(const OrderedRow& row, Visit visit) {
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    visit(row.words[row.offset[lane] / 4], lane);
  }
}

std::uint32_t find_lanes(const OrderedRow& row) {
  std::uint32_t lanes = 0;
  for_each_word(row, [&](std::uint64_t word, unsigned lane) {
    const auto segment = static_cast<std::uint32_t>(word);
    const bool is_ordered = word == 0 || row.known[segment % OrderedRow::kKnown] == segment;
    lanes |= std::uint32_t{!is_ordered} << lane;
  });
  return lanes;
}

std::uint32_t mark(const OrderedRow& row) {
  for_each_word(row, [&](std::uint64_t& word, unsigned lane) {
    word = (word & kOfKinds) | row.mark | (lane & row.actors) << OrderedRow::kLaneShift;
  });
  std::uint32_t met = 0;
  for_each_word(row, [&](std::uint64_t word, unsigned lane) {
    const bool is_mine = (word >> OrderedRow::kLaneShift & 0xff) == (lane & row.actors);
    met |= std::uint32_t{!is_mine} << lane;
  });
  return met;
}

#endif

}  // namespace ordered
}  // namespace

std::uint32_t find_unordered(const OrderedRow& row);
std::uint32_t find_unordered(const OrderedRow& row) { return ordered::find_lanes(row); }
std::uint32_t mark_ordered(const OrderedRow& row);
std::uint32_t mark_ordered(const OrderedRow& row) { return ordered::mark(row); }

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
