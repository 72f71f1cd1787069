// The loops of lane_shapes.hpp.  The file is compiled once per instruction set, so everything here
// is local to the file or always inlined.
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vgpu/check/counters/lane_shapes.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

constexpr unsigned kShapeLanes = 32;
// Wider ones than the instruction set has would be split into single lanes.
#if defined(__AVX2__)
constexpr unsigned kShapeBytes = 32;
#else
constexpr unsigned kShapeBytes = 16;
#endif
constexpr unsigned kShapeWidth = kShapeBytes / 4;

using ShapeWords = std::uint32_t __attribute__((vector_size(kShapeBytes)));
using ShapeBytes = std::uint8_t __attribute__((vector_size(kShapeBytes)));

template <typename V, typename T>
[[gnu::always_inline]] inline V shape_load(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

#if defined(__AVX512F__)
bool is_moved(const std::uint32_t* offsets, const std::uint32_t* earlier) {
  const __m512i shift = _mm512_set1_epi32(static_cast<int>(offsets[0] - earlier[0]));
  const auto differing = [&](unsigned lane) {
    return _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(offsets + lane),
                                    _mm512_add_epi32(_mm512_loadu_si512(earlier + lane), shift));
  };
  return (differing(0) | differing(kShapeLanes / 2)) == 0;
}
#elif defined(__AVX2__)
bool is_moved(const std::uint32_t* offsets, const std::uint32_t* earlier) {
  const __m256i shift = _mm256_set1_epi32(static_cast<int>(offsets[0] - earlier[0]));
  __m256i differences = _mm256_setzero_si256();
#pragma GCC unroll 4
  for (unsigned lane = 0; lane < kShapeLanes; lane += kShapeWidth) {
    const auto moved = _mm256_add_epi32(shape_load<__m256i>(earlier + lane), shift);
    differences =
        _mm256_or_si256(differences, _mm256_xor_si256(shape_load<__m256i>(offsets + lane), moved));
  }
  return _mm256_testz_si256(differences, differences) != 0;
}
#else
bool is_moved(const std::uint32_t* offsets, const std::uint32_t* earlier) {
  const ShapeWords shift = ShapeWords{} + (offsets[0] - earlier[0]);
  ShapeWords differences{};
  for (unsigned lane = 0; lane < kShapeLanes; lane += kShapeWidth) {
    differences |=
        shape_load<ShapeWords>(offsets + lane) ^ (shape_load<ShapeWords>(earlier + lane) + shift);
  }
  std::uint64_t parts[kShapeBytes / 8], any = 0;
  std::memcpy(parts, &differences, sizeof parts);
  for (const std::uint64_t part : parts) any |= part;
  return any == 0;
}
#endif

#if defined(__AVX2__)
// The banks of 8 lanes.
[[gnu::always_inline]] inline __m256i banks_from(const std::uint32_t* offsets) {
  const __m256i words = _mm256_srli_epi32(shape_load<__m256i>(offsets), 2);
  return _mm256_and_si256(words, _mm256_set1_epi32(31));
}

// Compares the banks of all lanes with those of the lanes 1, 2, ... places after them, in a circle.
// The lanes are in another order, and in registers: to store and load them again takes longer.
template <int... kPlaces>
std::uint32_t busiest_of(__m256i own, std::integer_sequence<int, kPlaces...>) {
  const __m256i half = _mm256_permute2x128_si256(own, own, 1);
  __m256i count = _mm256_set1_epi8(1);
  const auto add = [&](__m256i other) {
    count = _mm256_sub_epi8(count, _mm256_cmpeq_epi8(own, other));
  };
  add(half);
  (..., (add(_mm256_alignr_epi8(half, own, kPlaces + 1)),
         add(_mm256_alignr_epi8(own, half, kPlaces + 1))));
  __m128i most = _mm_max_epu8(_mm256_castsi256_si128(count), _mm256_extracti128_si256(count, 1));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 8));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 4));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 2));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 1));
  return static_cast<std::uint32_t>(_mm_extract_epi8(most, 0));
}

std::uint32_t lanes_of_busiest_bank(const std::uint32_t* offsets) {
  const __m256i low = _mm256_packus_epi32(banks_from(offsets), banks_from(offsets + 8));
  const __m256i high = _mm256_packus_epi32(banks_from(offsets + 16), banks_from(offsets + 24));
  return busiest_of(_mm256_packus_epi16(low, high), std::make_integer_sequence<int, 15>());
}
#else
// Compares the banks of all lanes with those of the lanes 1, 2, ... places after them, in a circle.
std::uint32_t lanes_of_busiest_bank(const std::uint32_t* offsets) {
  std::uint8_t banks[2 * kShapeLanes], counts[kShapeLanes];
  for (unsigned lane = 0; lane < kShapeLanes; ++lane) banks[lane] = offsets[lane] / 4 % 32;
  std::memcpy(banks + kShapeLanes, banks, kShapeLanes);
  for (unsigned first = 0; first < kShapeLanes; first += kShapeBytes) {
    const auto own = shape_load<ShapeBytes>(banks + first);
    ShapeBytes count = ShapeBytes{} + 1;
#pragma GCC unroll 32
    for (unsigned places = 1; places < kShapeLanes; ++places) {
      count -= static_cast<ShapeBytes>(own == shape_load<ShapeBytes>(banks + first + places));
    }
    std::memcpy(counts + first, &count, sizeof count);
  }
  std::uint8_t most = 0;
  for (const std::uint8_t of_lane : counts) most = of_lane > most ? of_lane : most;
  return most;
}
#endif

// Compares the lanes of each vector with all before them.
std::uint32_t different_words(const std::uint32_t* keys) {
  std::uint32_t padded[2 * kShapeLanes];  // before the lanes, what none of them has
  std::memset(padded, 0xff, 4 * kShapeLanes);
  std::memcpy(padded + kShapeLanes, keys, 4 * kShapeLanes);
  ShapeWords repeats{};
#pragma GCC unroll 8
  for (unsigned first = 0; first < kShapeLanes; first += kShapeWidth) {
    const std::uint32_t* const lanes = padded + kShapeLanes + first;
    const auto own = shape_load<ShapeWords>(lanes);
    ShapeWords equal{};
#pragma GCC unroll 32
    for (unsigned places = 1; places < first + kShapeWidth; ++places) {
      equal |= static_cast<ShapeWords>(own == shape_load<ShapeWords>(lanes - places));
    }
    repeats += equal;  // -1 for a lane that has an equal
  }
  std::uint32_t count = kShapeLanes;
  for (unsigned i = 0; i < kShapeWidth; ++i) count += repeats[i];
  return count;
}

#if defined(__AVX2__)
// Compares each lane of 16 bits with those 1 to 31 places before it, of which `none` is equal to
// none.  All in registers, as the banks above.
template <int... kPlaces>
std::uint32_t different_of(__m256i first, __m256i second, __m256i none,
                           std::integer_sequence<int, kPlaces...>) {
  // 8 places before
  const __m256i first_8 = _mm256_permute2x128_si256(none, first, 0x21);
  const __m256i second_8 = _mm256_permute2x128_si256(first, second, 0x21);
  __m256i of_first = _mm256_cmpeq_epi16(first, first_8);
  __m256i of_second = _mm256_cmpeq_epi16(second, second_8);
  __m256i far =
      _mm256_or_si256(_mm256_cmpeq_epi16(second, first), _mm256_cmpeq_epi16(second, first_8));
  // Lanes before those of `first` are as many places before, and 16 more, those of `second`.
  const auto compare = [&](__m256i before_first, __m256i before_second) {
    of_first = _mm256_or_si256(of_first, _mm256_cmpeq_epi16(first, before_first));
    of_second = _mm256_or_si256(of_second, _mm256_cmpeq_epi16(second, before_second));
    far = _mm256_or_si256(far, _mm256_cmpeq_epi16(second, before_first));
  };
  (..., (compare(_mm256_alignr_epi8(first, first_8, 2 * kPlaces + 2),
                 _mm256_alignr_epi8(second, second_8, 2 * kPlaces + 2)),
         compare(_mm256_alignr_epi8(first_8, none, 2 * kPlaces + 2),
                 _mm256_alignr_epi8(second_8, first, 2 * kPlaces + 2))));
  const __m256i repeats = _mm256_packs_epi16(of_first, _mm256_or_si256(of_second, far));
  const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(repeats));
  return kShapeLanes - static_cast<std::uint32_t>(__builtin_popcount(bits));
}

// Keys that lie near each other differ in 15 bits.  Their order does not matter.
std::uint32_t different(const std::uint32_t* offsets, std::uint32_t add, unsigned shift) {
  const __m256i added = _mm256_set1_epi32(static_cast<int>(add));
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(shift));
  __m256i keys[4];
  for (unsigned i = 0; i < 4; ++i) {
    keys[i] = _mm256_add_epi32(shape_load<__m256i>(offsets + kShapeWidth * i), added);
    keys[i] = _mm256_srl_epi32(keys[i], by);
  }
  const __m256i one = _mm256_broadcastd_epi32(_mm256_castsi256_si128(keys[0]));
  __m256i differ = _mm256_xor_si256(keys[0], one);
  for (unsigned i = 1; i < 4; ++i) {
    differ = _mm256_or_si256(differ, _mm256_xor_si256(keys[i], one));
  }
  const __m256i low = _mm256_set1_epi32(0x7fff);
  if (_mm256_testc_si256(low, differ) == 0) {
    std::uint32_t words[kShapeLanes];
    std::memcpy(words, keys, sizeof words);
    return different_words(words);
  }
  for (__m256i& key : keys) key = _mm256_and_si256(key, low);
  return different_of(_mm256_packus_epi32(keys[0], keys[1]), _mm256_packus_epi32(keys[2], keys[3]),
                      _mm256_set1_epi16(-1), std::make_integer_sequence<int, 7>());
}

// The numbers of a bitonic network: a lane's partner is at `lane ^ kFlip`, and the greater of the
// two goes to the lane whose bit `kUpper` is set.
template <int kFlip>
[[gnu::always_inline]] inline __m256i partners_of(__m256i keys) {
  if constexpr (kFlip == 8) return _mm256_shuffle_epi32(keys, 0x4e);
  if constexpr (kFlip == 4) return _mm256_shuffle_epi32(keys, 0xb1);
  if constexpr (kFlip == 31) keys = _mm256_permute4x64_epi64(keys, 0x4e);
  constexpr int k = kFlip & 15;
  return _mm256_shuffle_epi8(
      keys, _mm256_broadcastsi128_si256(_mm_setr_epi8(0 ^ k, 1 ^ k, 2 ^ k, 3 ^ k, 4 ^ k, 5 ^ k,
                                                      6 ^ k, 7 ^ k, 8 ^ k, 9 ^ k, 10 ^ k, 11 ^ k,
                                                      12 ^ k, 13 ^ k, 14 ^ k, 15 ^ k)));
}

template <int kFlip, int kUpper = kFlip>
[[gnu::always_inline]] inline __m256i exchanged(__m256i keys) {
  const __m256i partners = partners_of<kFlip>(keys);
  const __m256i less = _mm256_min_epu8(keys, partners), more = _mm256_max_epu8(keys, partners);
  if constexpr (kUpper == 16) return _mm256_blend_epi32(less, more, 0xf0);
  if constexpr (kUpper == 8) return _mm256_blend_epi32(less, more, 0xcc);
  if constexpr (kUpper == 4) return _mm256_blend_epi32(less, more, 0xaa);
  if constexpr (kUpper == 2) return _mm256_blend_epi16(less, more, 0xaa);
  return _mm256_blendv_epi8(less, more, _mm256_set1_epi16(static_cast<short>(0xff00)));
}

[[gnu::always_inline]] inline __m256i sorted(__m256i keys) {
  keys = exchanged<1>(keys);
  keys = exchanged<1>(exchanged<3, 2>(keys));
  keys = exchanged<1>(exchanged<2>(exchanged<7, 4>(keys)));
  keys = exchanged<1>(exchanged<2>(exchanged<4>(exchanged<15, 8>(keys))));
  return exchanged<1>(exchanged<2>(exchanged<4>(exchanged<8>(exchanged<31, 16>(keys)))));
}

// Returns the greatest number of lanes that are equal, of sorted ones.
//   repeats: a bit for each lane that is equal to the one before it
[[gnu::always_inline]] inline std::uint32_t longest_run(std::uint32_t repeats) {
  std::uint32_t length = 1;
  for (; repeats != 0; repeats &= repeats >> 1) ++length;
  return length;
}

// Words that lie within 256 are bytes, which take half as long to sort as to compare with each
// other.  They are sorted by bank, so that one order says both.
SharedWords shared_words(const std::uint32_t* offsets) {
  __m256i words[4];
  for (unsigned i = 0; i < 4; ++i) words[i] = shape_load<__m256i>(offsets + kShapeWidth * i);
  const __m256i low =
      _mm256_min_epu32(_mm256_min_epu32(words[0], words[1]), _mm256_min_epu32(words[2], words[3]));
  __m128i least = _mm_min_epu32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0x4e));
  least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0xb1));
  const __m256i begin = _mm256_broadcastd_epi32(least);
  __m256i any = _mm256_setzero_si256();
  for (__m256i& word : words) {
    word = _mm256_sub_epi32(word, begin);
    any = _mm256_or_si256(any, word);
  }
  // All banks move alike, which says nothing of the busiest, if the words are whole ones.
  if (_mm256_testz_si256(any, _mm256_set1_epi32(~0x3fc)) == 0) {
    const std::uint32_t busiest = lanes_of_busiest_bank(offsets);
    return {busiest, busiest == 1 ? kShapeLanes : different(offsets, 0, 2)};
  }
  for (__m256i& word : words) word = _mm256_srli_epi32(word, 2);
  const __m256i bytes = _mm256_packus_epi16(_mm256_packus_epi32(words[0], words[1]),
                                            _mm256_packus_epi32(words[2], words[3]));
  const __m256i bank_bits = _mm256_set1_epi8(static_cast<char>(0xf8));
  const __m256i keys =
      sorted(_mm256_or_si256(_mm256_and_si256(_mm256_slli_epi16(bytes, 3), bank_bits),
                             _mm256_andnot_si256(bank_bits, _mm256_srli_epi16(bytes, 5))));
  const __m256i before = _mm256_alignr_epi8(keys, _mm256_permute2x128_si256(keys, keys, 0x08), 15);
  const auto bits_of = [](__m256i are_equal) {  // no lane is before the first
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(are_equal)) & ~1u;
  };
  const __m256i differ = _mm256_and_si256(_mm256_xor_si256(keys, before), bank_bits);
  const std::uint32_t same_word = bits_of(_mm256_cmpeq_epi8(keys, before));
  return {longest_run(bits_of(_mm256_cmpeq_epi8(differ, _mm256_setzero_si256()))),
          kShapeLanes - static_cast<std::uint32_t>(__builtin_popcount(same_word))};
}
#else
std::uint32_t different(const std::uint32_t* offsets, std::uint32_t add, unsigned shift) {
  std::uint32_t keys[kShapeLanes];
  for (unsigned lane = 0; lane < kShapeLanes; ++lane) keys[lane] = (offsets[lane] + add) >> shift;
  return different_words(keys);
}

SharedWords shared_words(const std::uint32_t* offsets) {
  const std::uint32_t busiest = lanes_of_busiest_bank(offsets);
  return {busiest, busiest == 1 ? kShapeLanes : different(offsets, 0, 2)};
}
#endif

}  // namespace

extern const LaneShapeFunctions kLaneShapeFunctions;  // NOLINT(readability-redundant-declaration):
                                                      // constants are of one file else
const LaneShapeFunctions kLaneShapeFunctions{is_moved, lanes_of_busiest_bank, different,
                                             shared_words};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
