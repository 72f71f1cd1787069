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

#if defined(__AVX512F__)
// Compares each lane with those 1, 2, ... places before it.
template <int... kPlaces>
std::uint32_t different_of(__m512i first, __m512i second, std::integer_sequence<int, kPlaces...>) {
  constexpr __mmask16 kAll = 0xffff;
  // Before the lanes, what none of them has.
  const __m512i none = _mm512_set1_epi32(_mm512_cvtsi512_si32(first) ^ 1);
  unsigned repeats = 0, repeats_of_second = _mm512_cmpeq_epi32_mask(second, first);
  const auto compare = [&](__m512i before_first, __m512i before_second) {
    repeats |= _mm512_cmpeq_epi32_mask(first, before_first);
    repeats_of_second |= _mm512_cmpeq_epi32_mask(second, before_first);
    repeats_of_second |= _mm512_cmpeq_epi32_mask(second, before_second);
  };
  // Not without a mask: GCC 12 takes the plain function's result for uninitialized.
  (..., compare(_mm512_maskz_alignr_epi32(kAll, first, none, kPlaces + 1),
                _mm512_maskz_alignr_epi32(kAll, second, first, kPlaces + 1)));
  return kShapeLanes - static_cast<std::uint32_t>(__builtin_popcount(repeats) +
                                                  __builtin_popcount(repeats_of_second));
}

std::uint32_t different(const std::uint32_t* offsets) {
  return different_of(shape_load<__m512i>(offsets), shape_load<__m512i>(offsets + 16),
                      std::make_integer_sequence<int, 15>());
}
#else
// Compares the lanes of each vector with all before them.
std::uint32_t different(const std::uint32_t* offsets) {
  std::uint32_t padded[2 * kShapeLanes];  // before the lanes, what none of them has
  for (unsigned lane = 0; lane < kShapeLanes; ++lane) padded[lane] = offsets[0] ^ 1;
  std::memcpy(padded + kShapeLanes, offsets, 4 * kShapeLanes);
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
#endif

}  // namespace

extern const LaneShapeFunctions kLaneShapeFunctions;  // NOLINT(readability-redundant-declaration):
                                                      // constants are of one file else
const LaneShapeFunctions kLaneShapeFunctions{is_moved, lanes_of_busiest_bank, different};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
