// Marks the words of a row (word_owners.hpp).  The file is compiled once per instruction set, as
// race_rows_simd.cpp.
#include <cstdint>
#include <cstring>

#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/simd_vector.hpp"
#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

constexpr unsigned kWords = kVectorBytes / 4;  // of a vector

using Words = std::uint32_t __attribute__((vector_size(kVectorBytes)));

[[gnu::always_inline]] inline Words load(const std::uint32_t* from) {
  Words value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[gnu::always_inline]] inline bool any(const Words& words) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)words, (__m512i)words) != 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)words, (__m256i)words) == 0;
#else
  return (words[0] | words[1] | words[2] | words[3]) != 0;
#endif
}

// Returns {0, 0, .., 1, 1, ..} for lanes with 2^kWordsLog2 words, in marks of threads.
template <unsigned kWordsLog2>
[[gnu::always_inline]] inline Words threads_of_first_words() {
  Words threads;
  for (unsigned i = 0; i < kWords; ++i) threads[i] = (i >> kWordsLog2) * OwnerMark::kThread;
  return threads;
}

// Returns the marks that threads with the marks `me` leave in place of `marks`.  Sets lanes of
// `refused` that these do not allow.
[[gnu::always_inline]] inline Words next_marks(const Words& marks, const Words& me, bool is_write,
                                               Words& refused) {
  const Words distance = marks ^ me;
  const auto is_own = distance < OwnerMark::kOwn, is_free = distance >= OwnerMark::kPeriod;
  const auto is_others = ~(is_own | is_free);
  if (is_write) {
    refused |= (Words)is_others;
    return me | OwnerMark::kWritten;
  }
  refused |= (Words)(is_others & ((marks & OwnerMark::kWritten) != 0));
  const Words many = (me & (0 - OwnerMark::kPeriod)) | OwnerMark::kMany;
  return is_own ? marks : is_free ? me : many;
}

template <unsigned kWordsLog2>
bool own_strided(const OwnedRow& row) {
  std::uint32_t* at = row.marks + row.word;
  Words me = threads_of_first_words<kWordsLog2>() + row.mark, refused{};
  for (unsigned word = 0; word < kWarpLanes << kWordsLog2; word += kWords, at += kWords) {
    const Words next = next_marks(load(at), me, row.is_write, refused);
    std::memcpy(at, &next, sizeof next);
    me += (kWords >> kWordsLog2) * OwnerMark::kThread;
  }
  return !any(refused);
}

// Marks one word of one thread.
[[gnu::always_inline]] inline bool own_word(std::uint32_t& mark, std::uint32_t me, bool is_write) {
  const std::uint32_t distance = mark ^ me;
  if (distance < OwnerMark::kOwn) {
    mark |= std::uint32_t{is_write};
  } else if (distance >= OwnerMark::kPeriod) {
    mark = me | std::uint32_t{is_write};
  } else {
    if (is_write || (mark & OwnerMark::kWritten) != 0) return false;
    mark = (me & (0 - OwnerMark::kPeriod)) | OwnerMark::kMany;
  }
  return true;
}

bool own_lanes(const OwnedRow& row) {
  const std::int64_t step = row.is_uniform ? 0 : row.words;
  std::uint32_t rest = row.mask;
  // Two lanes stand for all.
  if (row.is_uniform) rest = (rest & (0 - rest)) | 0x8000'0000u >> __builtin_clz(rest);
  for (; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::int64_t first =
        row.offset != nullptr ? row.offset[lane] / 4 : row.word + lane * step;
    for (std::uint32_t i = 0; i < row.words; ++i) {
      if (!own_word(row.marks[first + i], row.mark + lane * OwnerMark::kThread, row.is_write)) {
        return false;
      }
    }
  }
  return true;
}

#if defined(__AVX2__)
[[gnu::always_inline]] inline Words gather_marks(const std::uint32_t* marks, const Words& places) {
#if defined(__AVX512F__)
  return (Words)_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, (__m512i)places, marks,
                                            4);
#else
  return (Words)_mm256_i32gather_epi32(reinterpret_cast<const int*>(marks), (__m256i)places, 4);
#endif
}

// Stores the marks that differ from `before`.
[[gnu::always_inline]] inline void scatter_marks(std::uint32_t* marks, const Words& places,
                                                 const Words& before, const Words& after) {
#if defined(__AVX512F__)
  const __mmask16 changes = _mm512_cmpneq_epi32_mask((__m512i)before, (__m512i)after);
  _mm512_mask_i32scatter_epi32(marks, changes, (__m512i)places, (__m512i)after, 4);
#else
  if (!any((Words)(before != after))) return;
  for (unsigned i = 0; i < kWords; ++i) {
    if (before[i] != after[i]) marks[places[i]] = after[i];
  }
#endif
}

constexpr unsigned kParts = kWarpLanes / kWords;

// Returns whether lanes lie at one distance, as members of structs or a column do, so that no two
// of them meet.
[[gnu::always_inline]] inline bool are_apart(const Words (&places)[kParts]) {
  const std::uint32_t step = places[0][1] - places[0][0];
  if (step * kWarpLanes == 0) return false;
  Words expected, others{};
  for (unsigned i = 0; i < kWords; ++i) expected[i] = i;
  expected = expected * step + places[0][0];
  for (unsigned part = 0; part < kParts; ++part, expected += kWords * step) {
    others |= places[part] ^ expected;
  }
  return !any(others);
}

// Scattered lanes with one word each.  Lanes that meet leave the mark of one of them, so marks are
// looked at once more: lanes that write must not meet, and what several lanes read many have read.
bool own_singles(const OwnedRow& row) {
  Words places[kParts], left[kParts];
  Words me = threads_of_first_words<0>() + row.mark, refused{}, changed{};
  for (unsigned part = 0; part < kParts; ++part, me += kWords * OwnerMark::kThread) {
    places[part] = load(row.offset + part * kWords) >> 2;
    const Words marks = gather_marks(row.marks, places[part]);
    left[part] = next_marks(marks, me, row.is_write, refused);
    scatter_marks(row.marks, places[part], marks, left[part]);
    changed |= marks ^ left[part];
  }
  if (any(refused)) return false;
  if (!any(changed) || are_apart(places)) return true;
  const Words many = Words{} + ((row.mark & (0 - OwnerMark::kPeriod)) | OwnerMark::kMany);
  for (unsigned part = 0; part < kParts; ++part) {
    const Words marks = gather_marks(row.marks, places[part]);
    const auto met = marks != left[part];
    if (!any((Words)met)) continue;
    if (row.is_write) return false;
    scatter_marks(row.marks, places[part], left[part], met ? many : left[part]);
  }
  return true;
}
#endif

}  // namespace

bool own(const OwnedRow& row);
bool own(const OwnedRow& row) {
  if (row.mask != ~0u || row.is_uniform) return own_lanes(row);
#if defined(__AVX2__)
  if (row.offset != nullptr && row.words == 1) return own_singles(row);
#endif
  if (row.offset != nullptr) return own_lanes(row);
  switch (row.words) {
    case 1: return own_strided<0>(row);
    case 2: return own_strided<1>(row);
    case 4: return own_strided<2>(row);
    default: return own_lanes(row);
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
